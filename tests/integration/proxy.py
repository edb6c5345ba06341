"""A relay in front of a server, whose connections a test may cut, or let fall silent."""

import socket
import struct
import threading
from contextlib import suppress

CHUNK = 1 << 16
RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: a connection is reset when it is closed, and what was under way is gone."""


class Proxy:
    """Listens on a port of its own, and passes on what it hears, both ways.

    Args:
        target: where to: HOST:PORT, or the path of a unix socket.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._silent: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def cut(self) -> int:
        """Reset every connection there is; return how many."""
        with self._lock:
            pairs, self._pairs, self._silent = self._pairs, set(), set()
        for pair in pairs:
            for end in pair:
                with suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    end.shutdown(socket.SHUT_RD)  # wakes whoever reads from it
                end.close()
        return len(pairs)

    def silence(self) -> None:
        """Pass on nothing more of the connections there are, nor that they end."""
        with self._lock:
            self._silent |= self._pairs

    def close(self) -> None:
        """Listen no more, and cut what is left."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = self._connect()
            except OSError:
                near.close()
                continue
            with self._lock:
                self._pairs.add((near, far))
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=ends, daemon=True).start()

    def _connect(self) -> socket.socket:
        if self._target.startswith("/"):
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._target)
            return far
        host, _, port = self._target.rpartition(":")
        return socket.create_connection((host, int(port)))

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if self._is_silent(source, sink):
                    return
                sink.sendall(data)
        if self._is_silent(source, sink):
            return
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _is_silent(self, source: socket.socket, sink: socket.socket) -> bool:
        return bool({(source, sink), (sink, source)} & self._silent)
