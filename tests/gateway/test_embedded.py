"""The embedded server: which program, its data, and its end."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from gateway.embedded import EmbeddedServer, EmbeddedServerError, find_server_program


def _program(directory: Path, name: str, version: str) -> Path:
    file = directory / name
    file.write_text(f"#!/bin/sh\necho 'Redis server v={version} sha=0'\n")
    file.chmod(0o755)
    return file


def test_the_programs_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TILEWARP_REDIS_SERVER", raising=False)
    packaged = find_server_program()
    assert tmp_path not in packaged.parents
    _program(tmp_path, "valkey-server", "6.2.0")
    assert find_server_program() == packaged
    newer = _program(tmp_path, "redis-server", "7.0.15")
    assert find_server_program() == newer
    named = _program(tmp_path, "mine", "1")
    monkeypatch.setenv("TILEWARP_REDIS_SERVER", str(named))
    assert find_server_program() == named
    monkeypatch.setenv("TILEWARP_REDIS_SERVER", str(tmp_path / "nothing"))
    with pytest.raises(EmbeddedServerError, match="nothing is not a program"):
        find_server_program()


def test_what_it_keeps_survives_its_death_and_an_end(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "data")
    process = server.start()
    with redis.Redis.from_url(server.url) as connection:
        connection.set("key", "value")
        connection.wait(0, 0)
        time.sleep(1.1)  # appendfsync everysec
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    server.start()
    with redis.Redis.from_url(server.url) as connection:
        assert connection.get("key") == b"value"
    server.close()
    second = EmbeddedServer(tmp_path / "data")
    second.start()
    with redis.Redis.from_url(second.url) as connection:
        assert connection.get("key") == b"value"
    with pytest.raises(EmbeddedServerError, match="in use"):
        EmbeddedServer(tmp_path / "data")
    second.close()


def test_without_a_directory_nothing_is_left() -> None:
    server = EmbeddedServer()
    server.start()
    private = server.directory
    assert private.is_dir()
    server.close()
    assert not private.exists()


def test_a_server_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWARP_REDIS_SERVER", "/bin/false")
    server = EmbeddedServer()
    with pytest.raises(EmbeddedServerError, match="/bin/false does not start"):
        server.start()
    server.close()


def test_it_ends_when_its_parent_is_killed() -> None:
    script = (
        "import time\n"
        "from gateway.embedded import EmbeddedServer\n"
        "server = EmbeddedServer()\n"
        "print(server.start().pid, server.directory, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid, directory = parent.stdout.readline().decode().split()
        parent.kill()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    shutil.rmtree(directory)
