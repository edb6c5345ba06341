"""`tilewarp serve`: what it does when its parts die, and that it leaves nothing behind."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.stack import (
    COMMAND,
    Service,
    find_children,
    find_descendants,
    is_alive,
    objects,
    wait_until,
)

Start = Callable[..., Service]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start services that are ended after the test, whatever it did to them."""
    services: list[Service] = []

    def start(*arguments: str) -> Service:
        log = tmp_path / f"log{len(services)}"
        services.append(Service(log, "--workers", "1", *arguments))
        return services[-1]

    yield start
    for service in services:
        service.stop()


def _directory(service: Service) -> Path:
    """Return the private directory of a service's store, from the store's title."""
    for pid in find_children(service.process.pid):
        found = re.search(r"/tmp/tilewarp-\w+", Path(f"/proc/{pid}/cmdline").read_text())
        if found is not None:
            return Path(found[0])
    raise AssertionError("there is no store")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_an_end_leaves_nothing_behind(start: Start, number: signal.Signals, code: int) -> None:
    service = start()
    pids = find_descendants(service.process.pid)
    directory = _directory(service)
    assert len(pids) >= 4
    service.process.send_signal(number)
    assert service.process.wait(90) == code
    assert not [pid for pid in pids if is_alive(pid)]
    assert not directory.exists()


def test_a_killed_supervisor_leaves_no_process(start: Start) -> None:
    service = start()
    pids = find_descendants(service.process.pid)
    directory = _directory(service)
    service.process.kill()
    service.process.wait()
    wait_until(lambda: not [pid for pid in pids if is_alive(pid)], 10)
    shutil.rmtree(directory)


def test_every_part_that_is_killed_comes_back_and_the_job_ends(start: Start) -> None:
    service = start()
    text = "startpos\n" * 400
    with subprocess.Popen(
        service.command("analyse", "chakra", "-", "--json", "--nodes", "20000"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write(text.encode())
        client.stdin.close()
        rows = client.stdout.readline()
        time.sleep(1.1)  # what the store wrote is on the disk after a second
        for name in ("gateway", "worker"):
            victim = service.find_child(name)
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda victim=victim: not is_alive(victim), 5)  # type: ignore[misc]
            wait_until(lambda name=name: _has_child(service, name), 10)  # type: ignore[misc]
        (store,) = [
            pid
            for pid in find_children(service.process.pid)
            if "redis.sock" in Path(f"/proc/{pid}/cmdline").read_text()
        ]
        os.kill(store, signal.SIGKILL)
        rows += client.stdout.read()
        assert client.stderr is not None
        errors = client.stderr.read()
    assert client.returncode == 0, errors
    assert [row["index"] for row in objects(rows)] == list(range(400))


def _has_child(service: Service, name: str) -> bool:
    try:
        return service.find_child(name) > 0
    except ValueError:
        return False


def test_jobs_are_kept_where_they_are_told_to_be(start: Start, tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    first = start("--data", data)
    ended = first.tilewarp("analyse", "chakra", "-", "--depth", "1", text="startpos")
    name = ended.stderr.decode().strip()
    second = subprocess.run(
        [*COMMAND, "serve", "--listen", "127.0.0.1:0", "--data", data],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert b"in use" in second.stderr
    assert first.stop() == 0
    again = start("--data", data)
    assert len(objects(again.tilewarp("jobs", "results", name, "--json").stdout)) == 1
    elsewhere = start()
    ended = elsewhere.tilewarp("jobs", "results", name, "--json")
    assert ended.returncode == 1
    assert b"LOST" in ended.stderr


def test_a_port_in_use_is_refused(start: Start) -> None:
    service = start()
    second = subprocess.run(
        [*COMMAND, "serve", "--listen", service.address],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert b"the gateway does not start" in second.stderr
    assert not second.stdout


def test_make_run_shows_both_games_and_leaves_nothing() -> None:
    root = Path(__file__).parents[2]
    before = set(find_children(os.getpid()))
    ended = subprocess.run(
        [COMMAND[0], "-W", "error", "examples/run.py"],
        cwd=root,
        capture_output=True,
        timeout=110,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    text = ended.stdout.decode()
    assert "checkmate" in text
    assert "error" not in text
    assert len([line for line in text.splitlines() if line[:6].strip().isdecimal()]) >= 30
    assert set(find_children(os.getpid())) == before
