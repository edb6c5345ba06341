"""Probing, exchanging, merging, reporting and playing from books."""

import json
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from core.position import Position
from core.records.game import GameRecord
from core.records.reader import read_records
from core.symmetry import find_symmetries, transform_move, transform_position
from gateway.book.book import Addition, Book, BookError, Entry, Evidence, make_header
from gateway.book.choice import MAX_DROP, BookChooser
from gateway.book.exchange import format_epd, format_json_lines, parse_json_lines
from gateway.book.file import BookFile, read_book
from gateway.book.positions import find_own_moves, list_children
from gateway.book.tools import find_faults, find_line, find_subtree, merge, report
from gateway.book.tree import format_tree
from gateway.match.player import CodecupPlayer
from gateway.match.uci import UciLoop
from tests.book.books import make_book

MOST = 10_000


@pytest.fixture(scope="module", params=["caissa", "chakra"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of each game."""
    path = tmp_path_factory.mktemp("book") / f"{request.param}.book"
    make_book(path, request.param, positions=400)
    return path


@pytest.fixture
def book(path: Path) -> Book:
    return read_book(path)


def one_ply(scores: dict[str, int], variant: str = "caissa") -> Book:
    """A book of the start and its moves, worth -100 to their side unless told."""
    header = make_header(variant)
    book = Book(header)
    children = list_children(variant, header.root.fen)
    entries = [Entry(header.root, Evidence(0, 1, 1, "1", 0))]
    own = find_own_moves(Position(variant))
    entries += [
        Entry(child, Evidence(-scores.get(own[move], -100), 1, 1, "1", 0))
        for move, child in children.items()
    ]
    moves = {header.root.key: {move: child.key for move, child in children.items()}}
    book.add(book.find_new(Addition(entries, moves)))
    return book


# Probing


def test_every_image_of_a_position_is_the_same_in_its_own_orientation(book: Book) -> None:
    start = Position(book.header.variant)
    probe = book.probe(start)
    assert probe is not None
    assert sorted(move.move for move in probe.moves) == start.legal_moves
    assert [move.value for move in probe.moves] == sorted(
        (move.value for move in probe.moves), reverse=True
    )
    assert probe.value == probe.moves[0].value
    worth = {move.move: move.value for move in probe.moves}
    for symmetry in find_symmetries(book.header.variant):
        image = book.probe(transform_position(start, symmetry))
        assert image is not None
        found = {move.move: move.value for move in image.moves}
        assert found == {transform_move(move, symmetry): value for move, value in worth.items()}


def test_what_is_not_there(book: Book) -> None:
    fen = {"caissa": "1q5/7/7/7/7/3Q3/4R2 w - 0 1", "chakra": "k7/8/2K5/8/8/8/8/6Q1 w - - 0 1"}
    assert book.probe(Position(book.header.variant, fen[book.header.variant])) is None


# Exchange


def test_json_lines_give_the_same_book(book: Book) -> None:
    lines = list(format_json_lines(book))
    header, addition = parse_json_lines(lines, MOST)
    again = Book(header)
    again.add(again.find_new(addition))
    assert again.copy() == book.copy()
    assert list(format_json_lines(again)) == lines


def spoil(line: str, **fields: Any) -> str:
    return json.dumps({**json.loads(line), **fields})


@pytest.mark.parametrize(
    ("number", "fields", "reason"),
    [
        (1, {"format": 2}, "line 1: the first line must have the format 1"),
        (1, {"variant": "chess"}, "line 1: the variant 'chess' is unknown"),
        (1, {"rules_version": "0"}, "line 1: it holds for rules 0"),
        (1, {"root": "nowhere"}, "line 1: "),
        (1, {"root": 5}, "line 1: root is missing or no str"),
        (3, {"fen": "nowhere"}, "line 3: "),
        (3, {"score": {"cp": "5"}}, "line 3: cp is missing or no int"),
        (3, {"score": {"mate": 10**9}}, "line 3: mate in 1000000000 is not within"),
        (3, {"depth": True}, "line 3: depth is missing or no int"),
        (3, {"nodes": -1}, "line 3: there cannot be such evidence"),
        (3, {"engine": "x" * 65}, "line 3: there cannot be such evidence"),
        (3, {"result": "checkmate"}, "line 3: the result is none"),
    ],
)
def test_wrong_json_lines(number: int, fields: dict[str, Any], reason: str) -> None:
    lines = list(format_json_lines(one_ply({})))
    lines[number - 1] = spoil(lines[number - 1], **fields)
    with pytest.raises(BookError, match=reason) as caught:
        parse_json_lines(lines, MOST)
    assert str(caught.value).isprintable()


def test_json_lines_that_are_none_or_too_many() -> None:
    lines = list(format_json_lines(one_ply({})))
    for spoilt, reason in (
        ([], "there is no line"),
        (["{", *lines], "line 1: it is not JSON"),
        (["[" * 60_000], "line 1: it is not JSON"),
        ([" " * 70_000 + "x"], "line 1: it has more than"),
        (["[]"], "line 1: it is not an object"),
        ([lines[0], *lines[2:]], "the root is missing"),
        (lines[:-1], "line 2: the position after .* is missing"),
    ):
        with pytest.raises(BookError, match=reason):
            parse_json_lines(spoilt, MOST)
    with pytest.raises(BookError, match="line 4: more positions than are taken"):
        parse_json_lines(lines, 2)


def test_epd_lines() -> None:
    book = one_ply({"c3c5": 30, "b2c4": 31})
    [line] = format_epd(book)
    assert line.startswith(f"{book.header.root.fen} bm ")
    assert line.endswith("; ce 31; acd 1; acn 1;")
    move = line.partition(" bm ")[2].partition(";")[0]
    assert move in Position("caissa", book.header.root.fen).legal_moves


def test_a_tree_is_a_game_of_the_best_line(book: Book) -> None:
    text = "\n".join(format_tree(book))
    [record] = read_records(BytesIO(text.encode()))
    assert isinstance(record, GameRecord)
    assert record.variant == book.header.variant
    line = list(find_line(book))
    assert [move.text for move in record.moves][: len(line)] == line
    assert text.count("(") == text.count(")") > 3
    assert max(map(len, text.splitlines())) <= 80


# Whole books


def test_a_subtree_has_what_can_be_reached_with_the_same_values(book: Book) -> None:
    position = Position(book.header.variant)
    probe = book.probe(position)
    assert probe is not None
    position.push(next(move.move for move in probe.moves if move.is_expanded))
    addition = find_subtree(book, position)
    part = Book(make_header(book.header.variant, position.fen()))
    part.add(part.find_new(addition))
    assert 1 < len(part) < len(book)
    assert part.probe(position) == book.probe(position)
    assert list(find_faults(part)) == []


def test_merging_parts_gives_the_whole(path: Path, tmp_path: Path) -> None:
    whole = read_book(path)
    probe = whole.probe(Position(whole.header.variant))
    assert probe is not None
    small = tmp_path / "small.book"
    make_book(small, whole.header.variant, positions=60)
    with BookFile(small) as file:
        merge(file, whole)
        assert sorted(format_json_lines(file.book)) == sorted(format_json_lines(whole))
        size = small.stat().st_size
        merge(file, whole)
        assert small.stat().st_size == size
        other = Book(make_header("caissa-codecup"))
        with pytest.raises(BookError, match="a book of caissa-codecup, not of"):
            merge(file, other)
        stranger = Position(whole.header.variant)
        for _ in range(6):
            stranger.push(stranger.legal_moves[0])
        with pytest.raises(BookError, match="its root is not in the book"):
            merge(file, Book(make_header(whole.header.variant, stranger.fen())))


def test_report(book: Book) -> None:
    fields = report(book)
    assert fields["positions"] == len(book) == sum(fields["plies"])
    assert fields["plies"][0] == 1
    assert fields["moves"] == sum(len(node.moves) for node in book.graph.nodes)
    assert fields["nodes"] == sum(entry.evidence.nodes for entry in book.entries)
    best = next(iter(fields["first_moves"]))
    assert fields["line"][0] == best
    assert fields["value"] == fields["first_moves"][best]
    assert report(Book(book.header))["line"] == []


def test_faults(book: Book) -> None:
    assert list(find_faults(book)) == []
    root = book.graph.nodes[0]
    move = min(root.moves)
    root.moves["a1a1"] = root.moves.pop(move)
    [fault] = find_faults(book)
    assert fault.endswith(f"wrong, missing or illegal moves: {' '.join(sorted(['a1a1', move]))}")


# Playing


def test_without_a_seed_the_best_move_is_chosen() -> None:
    chooser = BookChooser(one_ply({"c3c5": 30, "b2c4": 31}), None)
    assert {chooser.choose(Position("caissa")) for _ in range(9)} == {"b2c4"}


def test_with_a_seed_better_moves_are_chosen_more_often() -> None:
    book = one_ply({"c3c5": 30, "b2c4": 31, "b2a4": 31 - MAX_DROP, "c3g3": 30 - MAX_DROP})

    def choices(seed: int) -> list[str | None]:
        chooser = BookChooser(book, seed)
        return [chooser.choose(Position("caissa")) for _ in range(300)]

    counts = Counter(choices(1))
    assert choices(1) == choices(1) != choices(2)
    assert counts.keys() == {"c3c5", "b2c4", "b2a4"}
    assert counts["c3c5"] + counts["b2c4"] > 200 > 40 > counts["b2a4"] > 0


def test_a_position_that_comes_again_is_left_to_the_search(book: Book) -> None:
    position = Position("chakra")
    chooser = BookChooser(one_ply({}, "chakra"), None)
    assert chooser.choose(position)
    for move in ("h1g3", "h8g6", "g3h1", "g6h8"):
        position.push(move)
    played = list(position.moves)
    assert chooser.choose(position) is None
    assert position.moves == played


def test_out_of_the_book_no_game_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """That took tens of milliseconds for each move of a long game, and lost it on time."""
    position = Position("chakra")
    position.push("h1g3")
    position.push("h8g6")
    chooser = BookChooser(one_ply({}, "chakra"), None)
    monkeypatch.setattr(Position, "pop", lambda position: pytest.fail("the game is replayed"))
    assert chooser.choose(position) is None


def test_players_use_a_book() -> None:
    book = one_ply({"c3g3": 500})
    said: list[str] = []
    player = CodecupPlayer("caissa", 0.5, 1, 1, BookChooser(book, None))
    player.run(["start"], said.append)
    assert said == ["c3-g3"]


def test_uci_uses_a_book(path: Path, tmp_path: Path) -> None:
    variant = path.stem
    said: list[str] = []
    set_book = f"setoption name BookFile value {path}"
    UciLoop(variant, said.append).run([set_book, "go nodes 100", "quit"])
    best = BookChooser(read_book(path), None).choose(Position(variant))
    assert said == [f"info string {best} is from the book", f"bestmove {best}"]
    said.clear()
    searches = [
        "go nodes 100 searchmoves " + Position(variant).legal_moves[-1],
        "stop",
        "go depth 1",
    ]
    UciLoop(variant, said.append).run(
        [set_book, *searches[:2], "setoption name BookFile value <empty>", searches[2], "quit"]
    )
    assert not any("from the book" in line for line in said)
    said.clear()
    missing = f"setoption name BookFile value {tmp_path}/missing.book"
    UciLoop(variant, said.append).run([missing, "quit"])
    assert said == [f"info string no book is used: {tmp_path}/missing.book: there is no such file"]
