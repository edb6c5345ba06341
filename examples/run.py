"""The whole service for a minute: compiles the engine, serves, analyses the examples, stops.

`make run` calls it. Every part runs on this machine, started by `tilewarp serve`.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from gateway.processes import end, spawn
from gateway.supervisor import COMMAND

EXAMPLES = Path(__file__).parent
NODES = 20_000
STOP_SECONDS = 60.0


class RunError(Exception):
    """A part of the run failed; the text says which."""


def main() -> None:
    """Run it; any failure ends with exit code 1 and nothing left behind."""
    say("Starting the service: the engine is compiled (a minute or two, the first time), then")
    say("a Redis, a worker process for each processor and a gateway are started.")
    service = spawn(
        [*COMMAND, "serve", "--listen", "127.0.0.1:0"],
        death_signal=signal.SIGTERM,
        environment={"TILEWARP_LOG_LEVEL": "WARNING", **os.environ},
        stdout=subprocess.PIPE,
        stderr=sys.stderr.fileno(),
    )
    try:
        address = read_address(service)
        for variant in ("chakra", "caissa"):
            say(f"\n{variant}, {NODES} nodes a position, through the gateway at {address}:")
            file = str(EXAMPLES / f"{variant}.txt")
            run("analyse", variant, file, "--nodes", str(NODES), "--gateway", address)
    finally:
        end(service, STOP_SECONDS)
    if service.returncode != 0:
        raise RunError(f"the service ended with {service.returncode}")
    say("\nEverything has stopped. `tilewarp serve` keeps the same service up.")


def read_address(service: subprocess.Popen[bytes]) -> str:
    """Wait for the line `ready HOST:PORT` and return the address."""
    assert service.stdout is not None
    word, _, address = service.stdout.readline().decode().strip().partition(" ")
    if word != "ready":
        raise RunError("the service does not start")
    return address


def run(*arguments: str) -> None:
    """Run a command of tilewarp to its end."""
    ended = subprocess.run([*COMMAND, *arguments], check=False)
    if ended.returncode != 0:
        raise RunError(f"tilewarp {arguments[0]} ended with {ended.returncode}")


def say(text: str) -> None:
    """Print a line at once, before what the children print."""
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main()
    except RunError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
