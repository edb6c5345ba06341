"""Books as text: JSON lines that can be read again, and lines in the manner of EPD."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from core.games import VARIANTS
from core.notation import NotationError, escape_text
from core.position import Position
from core.score import Score
from core.version import RULES_VERSION
from gateway.book.book import Addition, Book, BookError, Entry, Evidence, Header
from gateway.book.file import is_plausible
from gateway.book.positions import find_book_position, list_children
from gateway.book.values import back_up, pack_score, unpack_value

FORMAT = 1
MAX_LINE_LENGTH = 1 << 16


def format_json_lines(book: Book) -> Iterator[str]:
    """Yield a line of the header, and one for each position, in the order of the book.

    `score` is the position's own, `value` what its book makes of it, both for the side to move;
    the worth of `moves` is for it, too.
    """
    header = book.header
    about = {"format": FORMAT, "game": header.game, "variant": header.variant}
    yield _dump({**about, "rules_version": header.rules_version, "root": header.root.fen})
    for entry, node in zip(book.entries, book.graph.nodes, strict=True):
        e, nodes = entry.evidence, book.graph.nodes
        fields = {
            "fen": entry.position.fen,
            "score": score_object(e.score),
            "value": score_object(node.value),
            "depth": e.depth,
            "nodes": e.nodes,
            "engine": e.engine,
            "time": e.time,
            "result": e.outcome,
            "moves": {
                move: score_object(back_up(nodes[child].value))
                for move, child in node.moves.items()
            },
        }
        yield _dump(fields)


def format_epd(book: Book) -> Iterator[str]:
    """Yield a line for each expanded position: its text, best move, value, depth and nodes."""
    for entry, node in zip(book.entries, book.graph.nodes, strict=True):
        if not node.moves:
            continue
        nodes = book.graph.nodes
        best = max(sorted(node.moves), key=lambda move: back_up(nodes[node.moves[move]].value))
        score = unpack_value(node.value)
        worth = f"ce {score.cp}" if score.mate is None else f"dm {score.mate}"
        work = f"acd {entry.evidence.depth}; acn {entry.evidence.nodes}"
        yield f"{entry.position.fen} bm {best}; {worth}; {work};"


def parse_json_lines(lines: Iterable[str], most: int) -> tuple[Header, Addition]:
    """Return the header and the positions of lines that `format_json_lines` made.

    Nothing is believed but the evidence: keys, moves and results follow from the positions.

    Args:
        lines: the lines; blank ones are passed over.
        most: positions at most.

    Raises:
        BookError: a line is refused; the text names it.
    """
    header: Header | None = None
    entries: dict[bytes, Entry] = {}
    expanded: dict[bytes, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = _parse(line)
            if header is None:
                header = _read_header(fields)
                continue
            entry = _read_entry(fields, header.variant)
        except (NotationError, ValueError) as error:
            raise BookError(f"line {number}: {error}") from None
        if len(entries) >= most:
            raise BookError(f"line {number}: more positions than are taken ({most})")
        entries.setdefault(entry.position.key, entry)
        if fields.get("moves"):
            expanded[entry.position.key] = number
    if header is None:
        raise BookError("there is no line")
    if entries and header.root.key not in entries:
        raise BookError("the root is missing")
    root_first = sorted(entries, key=lambda key: key != header.root.key)
    moves = {}
    for key, number in expanded.items():
        if entries[key].evidence.outcome is not None:
            raise BookError(f"line {number}: moves go on after the end of the game")
        children = list_children(header.variant, entries[key].position.fen)
        for move, child in children.items():
            if child.key not in entries:
                raise BookError(f"line {number}: the position after {move} is missing")
        moves[key] = {move: child.key for move, child in children.items()}
    return header, Addition([entries[key] for key in root_first], moves)


def score_object(value: int) -> dict[str, int]:
    """Return a value as the object `{"cp": n}` or `{"mate": n}`."""
    score = unpack_value(value)
    return {"cp": score.cp or 0} if score.mate is None else {"mate": score.mate}


def _dump(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _parse(line: str) -> dict[str, Any]:
    if len(line) > MAX_LINE_LENGTH:
        raise ValueError(f"it has more than {MAX_LINE_LENGTH} characters")
    try:
        fields = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(fields, dict):
        raise ValueError("it is not an object")
    return fields


def _read_header(fields: dict[str, Any]) -> Header:
    if fields.get("format") != FORMAT:
        raise ValueError(f"the first line must have the format {FORMAT}")
    variant = _read(fields, "variant", str)
    if variant not in VARIANTS:
        raise ValueError(f"the variant {escape_text(variant)!r} is unknown")
    rules = _read(fields, "rules_version", str)
    if rules != RULES_VERSION:
        raise ValueError(f"it holds for rules {escape_text(rules)}, and here are {RULES_VERSION}")
    root = find_book_position(Position(variant, _read(fields, "root", str)))
    return Header(variant, rules, root)


def _read_entry(fields: dict[str, Any], variant: str) -> Entry:
    position = find_book_position(Position(variant, _read(fields, "fen", str)))
    evidence = Evidence(
        score=_read_score(_read(fields, "score", dict)),
        depth=_read(fields, "depth", int),
        nodes=_read(fields, "nodes", int),
        engine=_read(fields, "engine", str),
        time=_read(fields, "time", int),
        outcome=Position(variant, position.fen).outcome(),
    )
    if fields.get("result") != evidence.outcome:
        raise ValueError(f"the result is {evidence.outcome or 'none'}")
    if not is_plausible(evidence):
        raise ValueError("there cannot be such evidence")
    return Entry(position, evidence)


def _read(fields: dict[str, Any], name: str, kind: type) -> Any:
    value = fields.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name} is missing or no {kind.__name__}")
    return value


def _read_score(fields: dict[str, Any]) -> int:
    if fields.keys() == {"mate"}:
        return pack_score(Score(mate=_read(fields, "mate", int)))
    return pack_score(Score(cp=_read(fields, "cp", int)))
