"""What the documents tell to run does run, and prints what they show."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.client import DEFAULT_GATEWAY
from tests.cli.command import TILEWARP, run
from tests.integration.documents import PAGES, ROOT, Example, find_examples, is_as_shown
from tests.integration.stack import Service

# The test's own service stands for what these start.
STAYS = ("tilewarp serve", "tilewarp gateway", "tilewarp worker")
SHELL = set("|&;<>$*\\#")
EXAMPLES = {str(page.relative_to(ROOT)): find_examples(page) for page in PAGES}


@pytest.mark.parametrize("page", [page for page, examples in EXAMPLES.items() if examples])
def test_examples_run(
    service: Service, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TILEWARP_GATEWAY", service.address)
    monkeypatch.setenv("PATH", f"{TILEWARP.parent}{os.pathsep}{os.environ['PATH']}")
    for example in EXAMPLES[page]:
        if not example.text.startswith(STAYS):
            code, printed = _run(example, service.address)
            assert code == 0, f"{example.text}\n{printed}"
            if example.shown:
                assert is_as_shown(printed, example.shown), f"{example.text}\n{printed}"


def test_there_are_examples() -> None:
    assert len(EXAMPLES["README.md"]) >= 8
    assert sum(example.is_program for example in EXAMPLES["docs/analysis.md"]) >= 2


def _run(example: Example, address: str) -> tuple[int, str]:
    """Return the exit code, and what is printed, errors included."""
    text = example.text.replace(DEFAULT_GATEWAY, address)
    if not example.is_program and text.startswith("tilewarp ") and not SHELL & set(text):
        result = run(*shlex.split(text)[1:])
        return result.exit_code, result.output
    ended = subprocess.run(
        [sys.executable, "-c", text] if example.is_program else ["sh", "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=False,
    )
    return ended.returncode, ended.stdout
