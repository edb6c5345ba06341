"""`tilewarp book` on files, and the books of `player` and `match`."""

from pathlib import Path

import pytest

from core.position import Position
from gateway.book.file import read_book
from tests.cli.command import assert_refused, run, run_command, run_json


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A book that the command has grown."""
    path = tmp_path_factory.mktemp("book") / "caissa.book"
    told = run_json("book", "grow", str(path), "caissa", "--nodes", "100", "--positions", "150")
    assert told[-1]["positions"] >= 150
    assert told[-1]["nodes"] == sum(entry.evidence.nodes for entry in read_book(path).entries)
    return str(path)


def output(*arguments: str) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_growth_goes_on_and_searches_again(grown: str) -> None:
    grow = ("book", "grow", grown, "caissa")
    assert output(*grow, "--nodes", "100", "--positions", "150") == ""
    size = len(read_book(Path(grown)))
    text = output(*grow, "--depth", "1", "--seconds", "60", "--positions", str(size + 1))
    assert f"{len(read_book(Path(grown)))} positions, " in text
    assert output(*grow, "--nodes", "150", "--again", "--plies", "2")
    assert output("book", "check", grown).endswith(" positions, no fault\n")


def test_probe(grown: str) -> None:
    [fields] = run_json("book", "probe", grown)
    position = Position("caissa")
    assert fields["fen"] == position.fen()
    assert sorted(move["move"] for move in fields["moves"]) == position.legal_moves
    best = fields["moves"][0]
    assert best["value"] == fields["value"]
    assert best["evidence"]["nodes"] > 0
    text = output("book", "probe", grown, "startpos", "--moves", best["move"])
    assert text.startswith("move ")
    far = "h8h8"
    assert_refused("book", "probe", grown, "startpos", "--moves", far, reason=far)
    assert_refused("book", "probe", grown, "nowhere", reason="fields are required")
    lone = "1q5/7/7/7/7/3Q3/4R2 w - 0 1"
    assert_refused("book", "probe", grown, lone, reason="is not in")


def test_exchange(grown: str, tmp_path: Path) -> None:
    for form in ("jsonl", "epd", "tree"):
        assert output("book", "export", grown, "--format", form)
    lines, again = str(tmp_path / "lines.jsonl"), str(tmp_path / "again.book")
    assert output("book", "export", grown, "-o", lines) == ""
    count = len(read_book(Path(grown)))
    assert (
        output("book", "import", again, lines)
        == f"{again}: {count} positions, {count} of them new\n"
    )
    assert read_book(Path(again)).copy() == read_book(Path(grown)).copy()
    (tmp_path / "wrong.jsonl").write_text("no\n")
    wrong = str(tmp_path / "wrong.jsonl")
    assert_refused("book", "import", again, wrong, reason="wrong.jsonl: line 1: it is not JSON")


def test_merge_and_subtree(grown: str, tmp_path: Path) -> None:
    [fields] = run_json("book", "probe", grown)
    best = next(move["move"] for move in fields["moves"] if move["expanded"])
    part, whole = str(tmp_path / "part.book"), str(tmp_path / "whole.book")
    assert "of them new" in output("book", "subtree", grown, part, "--moves", best)
    assert output("book", "merge", whole, grown, part) == ""
    assert read_book(Path(whole)).copy() == read_book(Path(grown)).copy()
    assert_refused("book", "merge", part, grown, reason="its root is not in the book")


def test_report(grown: str) -> None:
    [fields] = run_json("book", "report", grown)
    assert fields["variant"] == "caissa"
    assert fields["positions"] == sum(fields["plies"])
    assert "first_moves" in output("book", "report", grown)


def test_what_is_no_book(tmp_path: Path) -> None:
    text = tmp_path / "a.book"
    text.write_text("no book")
    for command in ("probe", "export", "report", "check"):
        assert_refused("book", command, str(text), reason="a.book: it is damaged or no book")
    missing = str(tmp_path / "missing.book")
    assert_refused("book", "report", missing, reason="missing.book: there is no such file")
    assert_refused("book", "grow", missing, "chess", "--nodes", "9", reason="unknown variant")
    assert_refused("book", "grow", missing, "caissa", reason="at least one limit is required")
    assert not Path(missing).exists()


def test_players_and_matches_take_books(grown: str) -> None:
    [fields] = run_json("book", "probe", grown)
    best = fields["moves"][0]["move"]
    done = run_command("player", "caissa", "--clock", "1", "--book", grown, given=b"start\nend\n")
    assert (done.returncode, done.stdout) == (0, f"{best[:2]}-{best[2:]}\n".encode())
    done = run_command("player", "chakra", "--book", grown)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"it is a book of caissa, not of chakra" in done.stderr
    engines = ("--engine", f"a=builtin:book={grown}x", "--engine", "b=builtin", "--nodes", "9")
    assert_refused("match", "caissa", *engines, reason="there is no such file")
