"""`tilewarp keys` on a store, and the key's way from a command to a gateway."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli.__main__ import main
from tests.worker.server import Server
from worker.settings import Settings


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A store."""
    server = Server()
    server.start()
    yield server
    server.remove()


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_keys_are_created_listed_and_revoked(server: Server) -> None:
    store = ("--redis", server.url)
    created = _run("keys", "create", "ann", "--jobs", "5", "--nodes", "1000", *store)
    assert created.exit_code == 0, created.output
    _, key_id, secret = created.output.strip().split("-")
    listed = _run("keys", "list", "--json", *store)
    (shown,) = map(json.loads, listed.output.splitlines())
    assert shown.pop("created").endswith("Z")
    assert shown == {
        "id": key_id,
        "owner": "ann",
        "scopes": ["read", "submit"],
        "jobs": {"used": 0, "quota": 5},
        "positions": {"used": 0, "quota": None},
        "nodes": {"used": 0, "quota": 1000},
        "streams": {"used": 0, "quota": None},
    }
    text = _run("keys", "list", *store).output
    assert key_id in text and "jobs 0/5" in text and secret not in text + listed.output
    assert _run("keys", "revoke", key_id, *store).exit_code == 0
    assert _run("keys", "list", *store).output == ""
    again = _run("keys", "revoke", key_id, *store)
    assert (again.exit_code, again.output) == (2, f"Error: there is no key {key_id}\n")


def test_wrong_input_is_named(server: Server) -> None:
    for owner in ("", "x" * 129, "a\nb", "é"):
        ended = _run("keys", "create", owner, "--redis", server.url)
        assert ended.exit_code == 2 and "OWNER" in ended.output
    away = _run("keys", "list", "--redis", "unix:///nowhere?db=0")
    assert away.exit_code == 3 and "store cannot be asked" in away.output


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--key", "a", "--key-file", "b"], "one too many"),
        (["--key-file", "/nowhere"], "/nowhere"),
        (["--key", "é"], "printable ASCII"),
        (["--cert", "/nowhere"], "belong together"),
        (["--tls-ca", "/nowhere"], "certificate cannot be used"),
    ],
)
def test_wrong_credentials_are_named(options: list[str], fault: str) -> None:
    ended = _run("jobs", "list", "--gateway", "127.0.0.1:1", *options)
    assert ended.exit_code == 2
    assert fault in ended.output


def test_the_settings_pass_to_children() -> None:
    given = replace(Settings(), access="keys", tls_cert="a", tls_key="b", tls_client_ca="c")
    assert Settings.read(given.environment()) == given


def test_a_key_in_a_file_may_end_with_a_newline(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("tw-key\n")
    ended = _run("jobs", "list", "--gateway", "127.0.0.1:1", "--key-file", str(file))
    assert ended.exit_code == 3  # it was fit to be sent
