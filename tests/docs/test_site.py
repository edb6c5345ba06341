"""The documentation builds to a site that is whole, and that asks nothing of other hosts."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gateway.cli.__main__ import main
from tilewarp.v1 import (
    adjudication_pb2,
    analysis_pb2,
    books_pb2,
    jobs_pb2,
    match_pb2,
    position_pb2,
    rules_pb2,
)
from worker.settings import table, variable

ROOT = Path(__file__).parents[2]
CONTRACT = (
    *(adjudication_pb2, analysis_pb2, books_pb2, jobs_pb2),
    *(match_pb2, position_pb2, rules_pb2),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    out = tmp_path_factory.mktemp("site")
    arguments = ["--quiet", "--fail-on-warning", "--keep-going", "-d", str(out / "cache")]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments, str(ROOT / "docs"), str(out / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return out / "html"


def test_pages_ask_nothing_of_other_hosts(site: Path) -> None:
    asked = [
        found
        for file in (*site.rglob("*.html"), *site.rglob("*.css"))
        for found in re.findall(
            r"""<(?:link|script|img|iframe)[^>]+(?:src|href)=["'](?:https?:)?//[^"']*|"""
            r"""(?:url\(|@import )["']?(?:https?:)?//[^)]*""",
            file.read_text(),
        )
    ]
    assert not asked


def test_every_command_is_described(site: Path) -> None:
    page = (site / "reference/commands.html").read_text()
    assert not [name for name in _commands(main, "tilewarp") if f'<section id="{name}"' not in page]


def test_everything_of_the_contract_is_described(site: Path) -> None:
    page = (site / "reference/proto.html").read_text()
    names = [
        name
        for module in CONTRACT
        for kind in ("services", "message_types", "enum_types")
        for name in getattr(module.DESCRIPTOR, f"{kind}_by_name")
    ]
    assert len(names) > 50
    assert not [name for name in names if f'id="proto-{name.lower()}"' not in page]


def test_every_setting_is_described(site: Path) -> None:
    page = (site / "reference/settings.html").read_text()
    assert not [entry.name for entry in table() if variable(entry.name) not in page]


def _commands(command: click.Command, path: str) -> list[str]:
    if not isinstance(command, click.Group):
        return [path]
    context = click.Context(command)
    found = []
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        found += _commands(child, f"{path}-{name}")
    return found
