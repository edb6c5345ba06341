"""A relay that ends TLS in front of a server without it, in a thread of its own."""

import asyncio
import ssl
import threading
from pathlib import Path


class TlsRelay:
    """Serves TLS on a loopback port and hands all on to a unix socket.

    Args:
        socket: of the server behind.
        context: with the certificate to serve.
    """

    def __init__(self, socket: Path, context: ssl.SSLContext) -> None:
        self._socket = socket
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        serving = asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self._server = asyncio.run_coroutine_threadsafe(serving, self._loop).result(10)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Cut every connection."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        current = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not current]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.05)  # in which the transports are closed

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(str(self._socket))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(reader, inner_writer))
                group.create_task(_pump(inner_reader, writer))
        except* OSError:
            pass  # one side went away, and so does the other
        finally:
            for end in (writer, inner_writer):
                end.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    raise ConnectionResetError
