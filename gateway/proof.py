"""Proofs of a perft: files of every prefix, how often it comes and what it counts; their checks.

A proof is JSON lines, compressed by gzip. The first line tells what was counted, each other one a
prefix, in the order of the split; docs/perft.md describes the fields. Anybody can add it up, split
the position again, and count any prefix.
"""

import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from core.counting import Counter, CountTable
from core.notation import NotationError
from core.position import Position
from core.prefixes import MAX_PERFT_DEPTH, Split, TooManyPrefixes
from core.record import Record

FORMAT = "tilewarp-perft-proof-1"
MAX_LINE = 8192
MAX_PREFIXES = 1_000_000
"""Of a split, at any of its plies; a proof of more is not checked."""
MAX_DIGITS = 200

Checked = TypeVar("Checked")


class UnreadableProof(Exception):
    """The file is no proof; the text says where and why."""


class FalseProof(Exception):
    """The file is a proof of something that is not so; the text says where and what."""


@dataclass(frozen=True)
class ProofHeader:
    """What a proof is of."""

    variant: str
    fen: str
    depth: int
    plies: int
    """Depth of the prefixes."""
    keeps_images: bool
    prefixes: int
    nodes: int
    rules_version: str


@dataclass(frozen=True)
class ProofLine:
    """A prefix and what it counts."""

    fen: str
    multiplicity: int
    count: int
    workers: list[str]
    """Those that counted it so."""


def write_proof(path: Path, header: ProofHeader, lines: Iterable[ProofLine]) -> None:
    """Write a proof; the file appears when it is whole. Equal proofs are equal files."""
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
        for fields in ({"format": FORMAT, **vars(header)}, *map(vars, lines)):
            text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
            file.write(text.encode() + b"\n")
    temporary.replace(path)


def check_proof(
    file: BinaryIO, sample: int, on_progress: Callable[[int, int], None]
) -> ProofHeader:
    """Read a proof to its end and return what it proves.

    It is added up; its position is split anew, and every prefix compared with that; and the lines
    from `sample` prefixes, chosen at random, are counted here.

    Args:
        file: the compressed file.
        sample: prefixes to count.
        on_progress: called with the prefixes counted and their number.

    Raises:
        UnreadableProof: the file has not the form of a proof, or is too large to be checked.
        FalseProof: it has, but something in it is wrong.
    """
    rows = _read_lines(file)
    number, fields = next(rows, (1, {}))
    header = _read_header(number, fields)
    position = _read_position(header)
    if position.fen() != header.fen:
        raise UnreadableProof("line 1: fen: not in its canonical form")
    split = _split(position, header)
    chosen = set(random.SystemRandom().sample(range(header.prefixes), min(sample, header.prefixes)))
    to_count: list[tuple[int, ProofLine]] = []
    total = lines = 0
    for index, (number, fields) in enumerate(rows):
        line = _read_prefix(number, fields)
        if index >= len(split.prefixes):
            raise FalseProof(f"line {number}: there are only {len(split.prefixes)} prefixes")
        prefix = split.prefixes[index]
        fen = split.format_fen(prefix)
        if (line.fen, line.multiplicity) != (fen, prefix.multiplicity):
            raise FalseProof(f"line {number}: the prefix is {fen}, {prefix.multiplicity} times")
        if index in chosen:
            to_count.append((number, line))
        total += line.multiplicity * line.count
        lines += 1
    if lines < header.prefixes:
        raise FalseProof(f"only {lines} of {header.prefixes} prefixes are there")
    if total != header.nodes:
        raise FalseProof(f"the sum is {total}, not {header.nodes}")
    _count_again(position, header, to_count, on_progress)
    return header


def _split(position: Position, header: ProofHeader) -> Split:
    split = Split(position, header.keeps_images)
    for _ in range(header.plies):
        try:
            split.advance(MAX_PREFIXES)
        except TooManyPrefixes:
            fault = f"line 1: plies: a split of more than {MAX_PREFIXES} prefixes"
            raise UnreadableProof(fault) from None
    if len(split.prefixes) != header.prefixes:
        raise FalseProof(f"line 1: prefixes: there are {len(split.prefixes)}")
    return split


def _count_again(
    position: Position,
    header: ProofHeader,
    lines: list[tuple[int, ProofLine]],
    on_progress: Callable[[int, int], None],
) -> None:
    counter = Counter(position.game, Record(position.game), CountTable(64))
    for done, (number, line) in enumerate(lines):
        on_progress(done, len(lines))
        count = counter.count(Position(header.variant, line.fen), header.depth - header.plies)
        if count != line.count:
            raise FalseProof(f"line {number}: {count} lines are counted here, not {line.count}")


def _read_lines(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number, from 1, and the object of each line."""
    number = 0
    try:
        with gzip.GzipFile(fileobj=file) as stream:
            while line := stream.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise UnreadableProof(f"line {number}: longer than {MAX_LINE} bytes")
                fields = json.loads(line, parse_int=_read_int)
                if not isinstance(fields, dict):
                    raise UnreadableProof(f"line {number}: not an object")
                yield number, fields
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableProof(f"after line {number}: not a whole gzip file: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableProof(f"line {number}: not JSON: {error}") from error


def _read_int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of more than {MAX_DIGITS} digits")
    return int(text)


def _read_header(number: int, fields: dict[str, Any]) -> ProofHeader:
    if fields.get("format") != FORMAT:
        raise UnreadableProof(f"line {number}: format: not {FORMAT}")
    header = _read(ProofHeader, number, {k: v for k, v in fields.items() if k != "format"})
    if not 0 <= header.plies <= header.depth <= MAX_PERFT_DEPTH:
        raise UnreadableProof(f"line {number}: not 0 <= plies <= depth <= {MAX_PERFT_DEPTH}")
    if not 0 <= header.prefixes <= MAX_PREFIXES:
        raise UnreadableProof(f"line {number}: prefixes: not from 0 to {MAX_PREFIXES}")
    return header


def _read_position(header: ProofHeader) -> Position:
    try:
        return Position(header.variant, header.fen)
    except NotationError as error:
        raise UnreadableProof(f"line 1: {error}") from error


def _read_prefix(number: int, fields: dict[str, Any]) -> ProofLine:
    line = _read(ProofLine, number, fields)
    if line.multiplicity < 1 or line.count < 0:
        raise UnreadableProof(f"line {number}: a number is too small")
    return line


def _read(kind: type[Checked], number: int, fields: dict[str, Any]) -> Checked:
    """Return the dataclass of a line's fields, each there and of its type."""
    wanted = kind.__annotations__
    if fields.keys() != wanted.keys():
        differing = ", ".join(sorted(map(repr, fields.keys() ^ wanted.keys())))[:MAX_DIGITS]
        raise UnreadableProof(f"line {number}: fields missing or unknown: {differing}")
    for name, value_type in wanted.items():
        plain = list if value_type == list[str] else value_type
        if type(fields[name]) is not plain:
            raise UnreadableProof(f"line {number}: {name}: of the wrong type")
    return kind(**fields)
