"""The README's commands do what they are said to do."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.stack import COMMAND, Service

ROOT = Path(__file__).parents[2]
STAYS = ("tilewarp serve", "tilewarp gateway", "tilewarp worker")
EXAMPLES = [
    line.partition("  #")[0].rstrip()
    for block in re.findall(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    for line in block.splitlines()
    if line.startswith("tilewarp ") and not line.startswith(STAYS)
]
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs/analysis.md").read_text(), re.M | re.S
)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(service: Service, example: str) -> None:
    ended = subprocess.run(
        ["sh", "-c", example.replace("tilewarp", shlex.join(COMMAND), 1)],
        cwd=ROOT,
        env={**os.environ, "TILEWARP_GATEWAY": service.address},
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_documents_runs(service: Service, program: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", program.replace("127.0.0.1:50051", service.address)],
        cwd=ROOT,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8
    assert len(PROGRAMS) >= 2
