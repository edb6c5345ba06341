"""Ways to run the command, and positions of games that are over."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gateway.cli.__main__ import main

MATED = "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1"
STALEMATED = "k7/8/1Q6/8/8/8/8/7K b - - 0 1"
TILEWARP = Path(sys.executable).with_name("tilewarp")


def run(*arguments: str, given: str | bytes = "") -> Result:
    """Run a command in this process; what it raises, exits aside, is the test's error."""
    return CliRunner().invoke(main, arguments, input=given, catch_exceptions=False)


def run_json(*arguments: str, given: str | bytes = "") -> list[dict[str, Any]]:
    """The objects that a command printed; it ends well and says nothing else."""
    result = run(*arguments, "--json", given=given)
    assert (result.exit_code, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def assert_refused(*arguments: str, reason: str) -> None:
    """Nothing on standard output, the reason in one line on standard error, exit code 2."""
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert reason in result.stderr


def run_command(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([TILEWARP, *arguments], input=given, capture_output=True, check=False)
