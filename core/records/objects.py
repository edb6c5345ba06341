"""Games as JSON objects, one a line. What an object has beside a game's fields is skipped."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from core.notation import escape_text
from core.records.game import (
    MAX_MOVES,
    MAX_TAG_LENGTH,
    MAX_TAGS,
    RESULTS,
    UNFINISHED,
    BrokenRecord,
    GameRecord,
    Record,
    RecordedMove,
)
from core.records.lines import TOO_LONG, NumberedLine
from core.records.moves import parse_move
from core.score import Score

MATCH = "match"
"""The field that the settings of a match have, which stand before its games."""

_TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_OWN_TAGS = ("Variant", "FEN", "Result")
_MAX_SCORE = 10_000_000


def read_objects(lines: Iterable[NumberedLine], variant: str) -> Iterator[Record]:
    """Yield the game of each line that is not blank; `variant` is that of games without one."""
    index = 0
    for number, text in lines:
        if not text.strip() and text != TOO_LONG:
            continue
        try:
            fields = _load(text)
            if MATCH in fields:
                continue
            yield parse_object(fields, variant, index, number)
        except ValueError as error:
            yield BrokenRecord(index, number, number, str(error))
        index += 1


def _load(text: str) -> dict[str, Any]:
    if text == TOO_LONG:
        raise ValueError("the line is too long")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {escape_text(str(error))}") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    return fields


def format_object(record: GameRecord) -> dict[str, Any]:
    """Return a game's object; its place in a file is left out."""
    white, black = record.players
    fields: dict[str, Any] = {"variant": record.variant, "white": white, "black": black}
    if record.fen:
        fields["fen"] = record.fen
    fields["moves"] = [move.text for move in record.moves]
    if any(move.score for move in record.moves):
        fields["scores"] = [_format_score(move) for move in record.moves]
    fields["result"] = record.result
    others = {name: v for name, v in record.tags.items() if name not in ("White", "Black")}
    return {**fields, "tags": others} if others else fields


def _format_score(move: RecordedMove) -> dict[str, int] | None:
    if move.score is None:
        return None
    fields = {"depth": move.depth} if move.depth is not None else {}
    if move.score.mate is not None:
        return {"mate": move.score.mate, **fields}
    return {"cp": move.score.cp or 0, **fields}


def parse_object(
    fields: dict[str, Any], variant: str = "", index: int = 0, line: int = 1
) -> GameRecord:
    """Return the game of an object; ValueError, which tells what is wrong, if it has none."""
    variant = _take_text(fields, "variant", variant)
    if not variant:
        raise ValueError("there is no variant")
    result = _take_text(fields, "result", UNFINISHED)
    if result not in RESULTS:
        raise ValueError(f"the result {escape_text(result)!r} is none of {' '.join(RESULTS)}")
    tags = {
        name.capitalize(): _take_text(fields, name, "")
        for name in ("white", "black")
        if fields.get(name, "?") != "?"
    }
    tags |= _take_tags(fields)
    fen = _take_text(fields, "fen", "")
    return GameRecord(variant, fen, _take_moves(fields), result, tags, index, line)


def _take_text(fields: dict[str, Any], name: str, default: str) -> str:
    text = fields.get(name, default)
    if not isinstance(text, str):
        raise ValueError(f"{name} is not a text")
    if len(text) > MAX_TAG_LENGTH:
        raise ValueError(f"{name} is longer than {MAX_TAG_LENGTH} characters")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"{name} has half a character: {escape_text(text)!r}")
    return text


def _take_tags(fields: dict[str, Any]) -> dict[str, str]:
    tags = fields.get("tags", {})
    if not isinstance(tags, dict) or len(tags) > MAX_TAGS:
        raise ValueError(f"tags are not an object of at most {MAX_TAGS} texts")
    for name in tags:
        if len(name) > MAX_TAG_LENGTH or not _TAG_NAME.fullmatch(name) or name in _OWN_TAGS:
            raise ValueError(f"{escape_text(name)!r} is not the name of a tag")
    return {name: _take_text(tags, name, "") for name in tags}


def _take_moves(fields: dict[str, Any]) -> tuple[RecordedMove, ...]:
    texts = fields.get("moves")
    if not isinstance(texts, list) or len(texts) > MAX_MOVES:
        raise ValueError(f"moves are not a list of at most {MAX_MOVES}")
    scores = fields.get("scores", [None] * len(texts))
    if not isinstance(scores, list) or len(scores) != len(texts):
        raise ValueError("scores are not a list as long as the moves")
    return tuple(_take_move(text, score) for text, score in zip(texts, scores, strict=True))


def _take_move(text: Any, score: Any) -> RecordedMove:
    move = parse_move(text) if isinstance(text, str) else None
    if move is None:
        raise ValueError(f"{escape_text(str(text))!r} is not a move")
    if score is None:
        return RecordedMove(move)
    if isinstance(score, dict) and score.keys() <= {"cp", "mate", "depth"}:
        depth = score.get("depth")
        values = [value for name in ("cp", "mate") if (value := score.get(name)) is not None]
        if len(values) == 1 and _is_number(values[0]) and (depth is None or _is_number(depth)):
            return RecordedMove(move, Score(score.get("cp"), score.get("mate")), depth)
    raise ValueError(f"{escape_text(str(score))!r} is not a score such as {{'cp': 35}}")


def _is_number(value: Any) -> bool:
    return type(value) is int and abs(value) <= _MAX_SCORE
