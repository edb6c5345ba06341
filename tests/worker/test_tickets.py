"""What is read of the broker's messages: tickets and canaries, and nothing that is not one."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worker.forged import dress, forge, message
from worker.app import make_app
from worker.settings import Settings
from worker.tickets import CANARY, TAKE_TICKET, read_message

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
PARTS = ("body", "headers", "properties", "content-type", "content-encoding")


def _said(made: dict[str, Any] | None) -> tuple[str, Any]:
    assert made is not None
    return made["headers"]["task"], json.loads(base64.b64decode(made["body"]))


def test_tickets_and_canaries_are_read() -> None:
    canary = message(CANARY, b'[["0af0"], {}, {}]')
    assert _said(read_message(message(TAKE_TICKET))) == (TAKE_TICKET, [[], {}, {}])
    assert _said(read_message(canary)) == (CANARY, [["0af0"], {}, {}])


@pytest.mark.parametrize("text", dress(TAKE_TICKET))
def test_nothing_else_of_a_ticket_reaches_celery(text: bytes) -> None:
    made = read_message(json.loads(text))
    assert made is not None
    plain = read_message(message(TAKE_TICKET))
    assert plain is not None
    for part in ("headers", "properties"):
        assert made[part].keys() == plain[part].keys()
    assert made["body"] == plain["body"] and made["headers"]["timelimit"] == [None, None]


def test_what_is_no_ticket_is_not_read(tmp_path: Path) -> None:
    read = 0
    for text in forge(tmp_path / "trap"):
        try:
            shape = json.loads(text)
        except (ValueError, RecursionError):
            continue  # dropped before it is looked into
        assert read_message(shape) is None, text[:100]
        read += 1
    assert read > 20


@given(st.dictionaries(st.sampled_from(PARTS), JSON) | JSON)
def test_nothing_of_any_form_raises(shape: Any) -> None:
    assert read_message(shape) is None


@given(st.lists(JSON), JSON, st.dictionaries(st.text(), JSON))
def test_only_known_arguments_are_read(arguments: list[Any], task: Any, more: Any) -> None:
    body = json.dumps([arguments, {}, more]).encode()
    for name in (TAKE_TICKET, CANARY, task):
        made = read_message(message(name, body))
        assert made is None or _said(made) in (
            (TAKE_TICKET, [[], {}, {}]),
            (CANARY, [arguments, {}, {}]),
        )


def test_json_alone_crosses_the_broker(settings: Settings) -> None:
    app = make_app(settings)
    assert list(app.conf.accept_content) == ["json"]
    assert list(app.conf.result_accept_content) == ["json"]
    assert {app.conf.task_serializer, app.conf.event_serializer} == {"json"}
    assert app.conf.result_backend is None
    root = Path(__file__).parents[2]
    folders = [root / name for name in ("core", "worker", "gateway")]
    sources = [source for folder in folders for source in folder.rglob("*.py")]
    assert len(sources) > 100
    unsafe = ("pickle", "marshal", "shelve", "yaml", "eval(", "exec(")
    for source in sources:
        lines = source.read_text().splitlines()
        assert not [line for line in lines if any(word in line for word in unsafe)], source
    app.close()
