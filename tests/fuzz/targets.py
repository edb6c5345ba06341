"""What is fuzzed: readers of what comes from outside, each as a function of bytes.

A target returns whatever it was given, unless there is a fault: an exception that the reader does
not promise, or an answer that contradicts itself.
"""

import gzip
import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.message import DecodeError

from core.adjudication import adjudicate
from core.adjudication.terms import Terms
from core.games import VARIANTS
from core.notation import MAX_ECHO_LENGTH, MoveError, NotationError
from core.position import STARTPOS, Position
from core.records import BrokenRecord, format_pgn, read_records
from gateway.book.book import BookError, make_header
from gateway.book.exchange import parse_json_lines
from gateway.book.file import BookFile, read_book
from gateway.client import parse_line
from gateway.jobs import find_kind
from gateway.kinds import KINDS
from gateway.limits import find_limit_faults
from gateway.positions import PositionFaults, check_position
from gateway.proof import FalseProof, UnreadableProof, check_proof
from tilewarp.v1 import analysis_pb2, jobs_pb2
from worker.settings import Settings
from worker.tickets import read_message

ROOT = Path(__file__).parents[2]
NAMES = sorted(VARIANTS)
SETTINGS = Settings()
MOST_ENTRIES = 100
MAX_PROOF_HEADER = 4
"""Plies of a proof's split at most: more are correct, but take their time."""


def notation(data: bytes) -> None:
    """Read a position, and moves from it; what is read comes out as it is written."""
    variant = NAMES[data[0] % len(NAMES)] if data else ""
    message = parse_line(variant, data[1:].decode("utf-8", "backslashreplace"))
    try:
        position = Position(variant, message.fen or STARTPOS)
    except NotationError as error:
        fault = str(error)
        position = None
    if position is None:
        assert 0 < len(fault) < 100 * MAX_ECHO_LENGTH
        return
    fen = position.fen()
    assert Position(variant, fen).fen() == fen
    for move in message.moves:
        legal = position.legal_moves
        try:
            position.push(move)
        except MoveError:
            assert move not in legal
            return
        assert move in legal
        position.outcome()


def records(data: bytes) -> None:
    """Read games, adjudicate them by the rules, and read again what is written of them."""
    for record in read_records(io.BytesIO(data), "chakra"):
        if isinstance(record, BrokenRecord):
            assert record.reason and record.line > 0
            continue
        with suppress(NotationError):
            adjudicate(record, Terms(), None)
        (again,) = read_records(io.BytesIO(format_pgn(record).encode()), record.variant)
        if not isinstance(again, BrokenRecord):
            assert [move.text for move in again.moves] == [move.text for move in record.moves]


def book_lines(data: bytes) -> None:
    """Read a book's lines."""
    with suppress(BookError):
        text = data.decode("utf-8", "replace")
        _, addition = parse_json_lines(text.splitlines(), MOST_ENTRIES)
        assert len(addition.entries) <= MOST_ENTRIES


def book_file(data: bytes) -> None:
    """Open a book's file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.book"
        path.write_bytes(data)
        with suppress(BookError):
            read_book(path)


def proof(data: bytes) -> None:
    """Check a proof; what is no gzip file is first made one, so that its lines are reached."""
    with suppress(ValueError, AttributeError, TypeError, RecursionError):
        if json.loads(data.split(b"\n", 1)[0]).get("plies", 0) > MAX_PROOF_HEADER:
            return
    for content in (data, gzip.compress(data, 1)):
        with suppress(UnreadableProof, FalseProof):
            check_proof(io.BytesIO(content), 0, lambda _done, _count: None)


def requests(data: bytes) -> None:
    """Check what a submission or a call asks for."""
    with suppress(DecodeError):
        specification = jobs_pb2.JobSpecification.FromString(data)
        kind = find_kind(specification)
        if kind is not None:
            for fault in KINDS[kind].find_faults(specification, SETTINGS):
                assert fault.field and fault.fault
    with suppress(DecodeError, PositionFaults):
        request = analysis_pb2.AnalyseRequest.FromString(data)
        if not find_limit_faults(request.limits, "limits", SETTINGS):
            check_position(request.position, SETTINGS, request.limits.searchmoves)


def tickets(data: bytes) -> None:
    """Read a message of the broker."""
    with suppress(ValueError, RecursionError):
        made = read_message(json.loads(data))
        assert made is None or made["headers"]["task"].startswith("tilewarp.")


def _example_book() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.book"
        with BookFile(path, make_header("chakra")):
            pass
        return path.read_bytes()


def _lines(path: str) -> list[bytes]:
    return (ROOT / path).read_bytes().splitlines()


PROOF = {
    "format": "tilewarp-perft-proof-1",
    "variant": "chakra",
    "fen": Position("chakra").fen(),
    "depth": 1,
    "plies": 0,
    "keeps_images": False,
    "prefixes": 1,
    "nodes": 1,
    "rules_version": "1",
}
PREFIX = {"fen": Position("chakra").fen(), "multiplicity": 1, "count": 1, "workers": ["w"]}
BOOK_HEADER = {
    "format": 1,
    "game": "chakra",
    "variant": "chakra",
    "rules_version": "1",
    "root": Position("chakra").fen(),
}
BOOK_ENTRY = {
    "fen": Position("chakra").fen(),
    "score": {"cp": 1},
    "depth": 1,
    "nodes": 1,
    "engine": "1",
    "time": 1,
    "result": None,
}
_ANALYSE = analysis_pb2.AnalyseRequest(limits=analysis_pb2.Limits(nodes=9, searchmoves=["b2b4"]))
_ANALYSE.position.variant = "chakra"
_ANALYSE.position.moves.append("b2b4")
_SPECIFICATION = jobs_pb2.JobSpecification(labels={"a": "b"})
_SPECIFICATION.adjudication.terms.resign_score = 100


def _join(*objects: object) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


TARGETS: Mapping[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "notation": (
        notation,
        lambda: [
            bytes([NAMES.index(game)]) + line
            for game in ("caissa", "chakra")
            for line in (*_lines(f"examples/{game}.txt"), b"startpos moves b2b4 g7g5")
        ],
    ),
    "records": (
        records,
        lambda: [
            (ROOT / "examples/games.pgn").read_bytes()[:2000],
            b'{"variant": "chakra", "moves": ["b2b4", "g7g5"], "result": "1-0", "scores": [1]}',
            b"b2-b4 g7-g5\n",
        ],
    ),
    "book_lines": (book_lines, lambda: [_join(BOOK_HEADER, BOOK_ENTRY)]),
    "book_file": (book_file, lambda: [_example_book()]),
    "proof": (proof, lambda: [_join(PROOF, PREFIX)]),
    "requests": (
        requests,
        lambda: [_ANALYSE.SerializeToString(), _SPECIFICATION.SerializeToString()],
    ),
    "tickets": (
        tickets,
        lambda: [b'{"headers": {"task": "tilewarp.take_ticket"}, "body": "W1tdLHt9LHt9XQ=="}'],
    ),
}
"""By name: the function, and what gives it examples to begin with."""
