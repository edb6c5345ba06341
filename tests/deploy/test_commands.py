"""Every command in the deployment files, run outside a container on addresses of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from gateway.embedded import find_server_program
from gateway.processes import end, spawn
from gateway.supervisor import COMMAND
from tests.deploy.files import PLATFORMS, Part, image_list, read_yaml
from tests.integration.stack import wait_until
from worker.settings import Settings, table, variable

START_SECONDS = 100.0
OURS = re.compile(r"^(redis://)?(0\.0\.0\.0|127\.0\.0\.1|redis|store):(\d+)")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that was started as compose.yaml starts it."""
    (file,) = read_yaml("compose.yaml")
    program, *options = file["services"]["redis"]["command"]
    assert program == "valkey-server"
    address = free_address()
    host, _, port = address.rpartition(":")
    folder = tmp_path_factory.mktemp("store")
    places = ["--bind", host, "--port", port, "--dir", str(folder)]
    with running([str(find_server_program()), *options, *places], {}, folder / "log") as process:
        connection = redis.Redis(host, int(port))

        def is_answering() -> bool:
            try:
                return bool(connection.ping())
            except redis.RedisError:
                return process.poll() is not None

        wait_until(is_answering, 30)
        config = connection.config_get("maxmemory-policy", "appendonly", "appendfsync")
        assert list(config.values()).count("noeviction") == 1
        assert (config["appendonly"], config["appendfsync"]) == ("yes", "everysec")
        connection.close()
        yield f"redis://{address}/0"


@pytest.mark.parametrize(
    "platform",
    [
        "compose",
        pytest.param("kubernetes", marks=pytest.mark.soak),
        pytest.param("systemd", marks=pytest.mark.soak),
    ],
)
def test_what_a_platform_starts_is_a_service(store: str, platform: str, tmp_path: Path) -> None:
    gateway, worker = (place(PLATFORMS[platform](name), store) for name in ("gateway", "worker"))
    logs = tmp_path / "gateway", tmp_path / "worker"
    with (
        running([*COMMAND, *gateway.arguments], gateway.environment, logs[0]) as serving,
        running([*COMMAND, *worker.arguments], worker.environment, logs[1]) as working,
    ):
        assert serving.stdout is not None
        word, _, address = serving.stdout.readline().decode().strip().partition(" ")
        assert word == "listening", logs[0].read_text()
        called = {"TILEWARP_GATEWAY": address, "TILEWARP_KEY": make_key(store)}
        entry, *check = image_list("HEALTHCHECK")[0:2]
        assert [entry] == image_list("ENTRYPOINT") == ["tilewarp"]
        assert call(check, called) == "serving\n"
        work = ["analyse", "chakra", "-", "--nodes", "1000", "--no-cache", "--json"]
        line = call(work, called, "startpos\n")
        assert json.loads(line)["nodes"] > 0
        for part, metric in (
            (gateway, "tilewarp_workers 1.0"),
            (worker, "tilewarp_worker_positions_total 1.0"),
        ):
            assert metric in scrape(part)
        for process, part, log in ((working, worker, logs[1]), (serving, gateway, logs[0])):
            process.send_signal(signal.SIGTERM)
            assert process.wait(part.grace) == 0, log.read_text()


def test_the_image_alone_is_a_gateway() -> None:
    assert image_list("CMD") == PLATFORMS["compose"]("gateway").arguments


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", ["gateway", "worker"])
def test_the_settings_are_settings(platform: str, name: str) -> None:
    part = PLATFORMS[platform](name)
    known = {variable(entry.name) for entry in table()} | {"TILEWARP_CACHE_DIR"}
    assert set(part.environment) <= known
    settings = Settings.read(part.environment)
    if "0.0.0.0" in " ".join(part.arguments):
        assert settings.access in ("keys", "open")  # the others are refused there


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_nodes_cache_is_given_to_the_service(tmp_path: Path) -> None:
    (worker,) = [d for d in read_yaml("kubernetes/worker.yaml") if d["kind"] == "Deployment"]
    pod = worker["spec"]["template"]["spec"]
    *command, folder = pod["initContainers"][0]["command"]
    (mount,) = pod["initContainers"][0]["volumeMounts"]
    assert mount in pod["containers"][0]["volumeMounts"]
    assert mount["mountPath"] == folder
    subprocess.run([*command, str(tmp_path)], check=True)
    assert tmp_path.stat().st_uid == pod["securityContext"]["runAsUser"]


def place(part: Part, store: str) -> Part:
    """Return a part moved to the loopback address and free ports; all else is as in the file."""

    def move(text: str) -> str:
        found = OURS.match(text)
        if found is None:
            return text
        return store if found[1] else free_address()

    moved = {name: move(text) for name, text in part.environment.items()}
    settings = Settings().environment()
    # The gateway of a unit takes the default address, the image a cache directory of its own.
    moved.setdefault("TILEWARP_LISTEN", move(settings["TILEWARP_LISTEN"]))
    moved["TILEWARP_CACHE_DIR"] = os.environ.get("TILEWARP_CACHE_DIR", "")
    moved["TILEWARP_WORKERS"] = "1"
    return Part([move(word) for word in part.arguments], moved, part.grace)


@contextmanager
def running(
    command: list[str], environment: dict[str, str], log: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as file:
        process = spawn(
            [str(word) for word in command],
            environment={**os.environ, **environment},
            stdout=subprocess.PIPE if environment else subprocess.DEVNULL,
            stderr=file,
        )
    try:
        yield process
    finally:
        end(process, 5)


def call(arguments: list[str], environment: dict[str, str], text: str = "") -> str:
    return subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **environment},
        input=text,
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=True,
    ).stdout


def make_key(store: str) -> str:
    return call(["keys", "create", "ann", "--redis", store], {}).strip()


def scrape(part: Part) -> str:
    (name,) = [n for n in part.environment if n.endswith(f"{part.arguments[0].upper()}_METRICS")]
    url = f"http://{part.environment[name]}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def free_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"
