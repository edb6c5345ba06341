"""Moves with a dash."""

import pytest

from core.records.moves import format_codecup, parse_codecup


@pytest.mark.parametrize(
    ("move", "text"),
    [("b2c4", "b2-c4"), ("a2b4f", "a2-b4f"), ("b7b8q", "b7-b8q")],
)
def test_both_ways(move: str, text: str) -> None:
    assert format_codecup(move) == text
    assert parse_codecup(text) == move


def test_capitals_are_read() -> None:
    assert parse_codecup("C3-C5") == "c3c5"


@pytest.mark.parametrize("text", ["", "b2c4", "b2-c4-", "b2 -c4", "i2-c4", "b2-c9", "resign\x07"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a move such as b2-c4") as caught:
        parse_codecup(text)
    assert str(caught.value).isprintable()
