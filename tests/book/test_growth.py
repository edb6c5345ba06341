"""Growth of books: the same for the same seed, right in any order, whole after any end."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from core.limits import Limits
from core.position import Position
from gateway.book.book import Addition, Book, BookError, Entry, Evidence, make_header
from gateway.book.file import BookFile, read_book
from gateway.book.growth import ExpansionFailed, Growth, Plan
from gateway.book.local import LocalExpander
from gateway.book.positions import BookPosition, list_children
from tests.book.books import Oracle, grow, make_book

VARIANTS = ("caissa", "chakra")
ROOT = Path(__file__).parents[2]


def assert_settled(book: Book) -> None:
    """Values equal a full recomputation, and every expanded position has all its moves."""
    values = [node.value for node in book.graph.nodes]
    for node in book.graph.nodes:
        node.value = 12_345
    book.graph.settle(range(len(values)))
    assert [node.value for node in book.graph.nodes] == values
    for entry in book.entries:
        if book.is_expanded(entry.position.key):
            children = list_children(book.header.variant, entry.position.fen)
            moves = {move: child.key for move, child in children.items()}
            assert book.list_moves(entry.position.key) == moves


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [1, 2])
async def test_values_are_settled_in_whatever_order_expansions_end(
    tmp_path: Path, variant: str, seed: int
) -> None:
    expander = Oracle(variant, width=6, seed=seed)
    with BookFile(tmp_path / "a.book", make_header(variant)) as file:
        told = await grow(file, expander, Plan(seed=seed, positions=250))
        assert_settled(file.book)
        assert expander.most_running > 1
        assert len(file.book) == told[-1].positions >= 250
    for before, after in pairwise(told):
        assert after.positions >= before.positions
        assert after.expanded > before.expanded or before.expanded == 0


async def test_positions_are_expanded_once_at_a_time(tmp_path: Path) -> None:
    """Pending leaves are passed over: each step of a growth expands another position."""
    with BookFile(tmp_path / "a.book", make_header("caissa")) as file:
        told = await grow(file, Oracle("caissa", width=4), Plan(positions=300))
        expanded = sum(file.book.is_expanded(entry.position.key) for entry in file.book.entries)
        assert told[-1].expanded == expanded
        assert expanded >= len(told) - 1 - 3  # the root's search, then at most the last ones


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        make_book(tmp_path / name, seed=seed)
    first, second, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second
    assert first != other


def test_a_book_made_in_steps_is_the_one_made_at_once(tmp_path: Path) -> None:
    make_book(tmp_path / "once", positions=200)
    for positions in (1, 60, 200):
        make_book(tmp_path / "steps", positions=positions)
    once, steps = read_book(tmp_path / "once"), read_book(tmp_path / "steps")
    assert steps.copy() == once.copy()


async def test_bounds(tmp_path: Path) -> None:
    with BookFile(tmp_path / "a.book", make_header("caissa")) as file:
        await grow(file, Oracle("caissa"), Plan(plies=1))
        root = Position("caissa")
        probe = file.book.probe(root)
        assert probe is not None
        assert [move.is_expanded for move in probe.moves] == [False] * len(probe.moves)
        size = len(file.book)
        assert await grow(file, Oracle("caissa"), Plan(positions=size)) == []
        assert await grow(file, Oracle("caissa"), Plan(seconds=1e-9)) == []
        assert len(file.book) == size


async def test_a_growth_that_is_left_keeps_what_was_told_and_stops_its_searches(
    tmp_path: Path,
) -> None:
    expander = Oracle("caissa", width=4)
    with BookFile(tmp_path / "a.book", make_header("caissa")) as file:
        steps = Growth(file, expander, Plan()).run()
        for _ in range(8):
            progress = await anext(steps)
        await steps.aclose()
        assert expander.running == 0
    book = read_book(tmp_path / "a.book")
    assert len(book) == progress.positions
    assert_settled(book)


class Failing(Oracle):
    """Cannot search what one move from the start leads to."""

    async def search(self, positions: Sequence[BookPosition]) -> list[Evidence]:
        if len(self.asked) == 1 + len(list_children("caissa", Position("caissa").fen())):
            self.asked.append("")
            raise ExpansionFailed
        return await super().search(positions)


async def test_a_leaf_that_cannot_be_expanded_is_left_alone(tmp_path: Path) -> None:
    with BookFile(tmp_path / "a.book", make_header("caissa")) as file:
        told = await grow(file, Failing("caissa"), Plan(positions=300))
        assert told[-1].failed == 1
        assert len(file.book) >= 300


# Searching again


async def test_stronger_evidence_replaces_weaker_and_nothing_else(tmp_path: Path) -> None:
    await asyncio.to_thread(make_book, tmp_path / "a.book")
    with BookFile(tmp_path / "a.book") as file:
        count, leaves = len(file.book), len(list(file.book.find_leaves(1)))
        expander = Oracle("caissa", nodes=900)
        told = await grow(file, expander, Plan(again_nodes=900))
        assert len(expander.asked) == told[-1].searched == leaves
        assert len(file.book) == count
        assert {entry.evidence.nodes for entry, _ in file.book.find_leaves(1)} == {900}
        assert_settled(file.book)
        assert await grow(file, Oracle("caissa", nodes=900), Plan(again_nodes=900)) == []
        weaker = Oracle("caissa", nodes=50)
        await grow(file, weaker, Plan(again_depth=9))
        assert len(weaker.asked) == leaves
        assert {entry.evidence.nodes for entry, _ in file.book.find_leaves(1)} == {900}
    assert_settled(read_book(tmp_path / "a.book"))


def test_strength() -> None:
    def evidence(score: int, depth: int, nodes: int, outcome: str | None = None) -> Evidence:
        return Evidence(score, depth, nodes, "1", 0, outcome)

    ranked = [
        evidence(0, 5, 100),
        evidence(0, 5, 101),
        evidence(0, 6, 7),
        evidence(29_999, 1, 1),
        evidence(0, 0, 0, "stalemate"),
    ]
    for place, one in enumerate(ranked):
        assert [one.is_stronger(other) for other in ranked] == [
            other < place for other in range(len(ranked))
        ]


def test_a_move_to_nowhere_is_refused() -> None:
    header = make_header("caissa")
    root = Entry(header.root, Evidence(0, 1, 1, "1", 0))
    with pytest.raises(BookError, match="beside a position that is missing: 6161"):
        Book(header).find_new(Addition([root], {header.root.key: {"c2d1": b"aa"}}))


# The engine, and kills


@pytest.mark.parametrize("variant", VARIANTS)
async def test_the_engine_grows_a_book(tmp_path: Path, variant: str) -> None:
    books = []
    for name in ("a", "b"):
        with BookFile(tmp_path / name, make_header(variant)) as file:
            expander = LocalExpander(variant, Limits(nodes=200))
            growth = Growth(file, expander, Plan(positions=120))
            told = [progress async for progress in growth.run()]
            assert told[-1].nodes == sum(entry.evidence.nodes for entry in file.book.entries)
            assert_settled(file.book)
            books.append([(node.value, node.moves) for node in file.book.graph.nodes])
    assert books[0] == books[1]


async def test_leaving_ends_the_engines_search(tmp_path: Path) -> None:
    with BookFile(tmp_path / "a.book", make_header("caissa")) as file:
        growth = Growth(file, LocalExpander("caissa", Limits(depth=90)), Plan())
        async with asyncio.timeout(30):
            step = asyncio.create_task(anext(growth.run()))  # type: ignore[arg-type]
            await asyncio.sleep(0.3)
            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step
    assert len(read_book(tmp_path / "a.book")) == 0


def test_a_kill_loses_at_most_what_runs(tmp_path: Path) -> None:
    """The process dies in the middle of a step's transaction, and just after one."""
    path = tmp_path / "a.book"
    make_book(path, positions=60)
    before = read_book(path).copy()
    code = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from gateway.book.file import BookFile\n"
        "from gateway.book.growth import Plan\n"
        "from tests.book.books import Oracle, grow\n"
        "def kill(text):\n"
        "    if 'INTO moves' in text: os.kill(os.getpid(), signal.SIGKILL)\n"
        "with BookFile(Path(sys.argv[1])) as file:\n"
        "    file._connection.set_trace_callback(kill)\n"
        "    asyncio.run(grow(file, Oracle('caissa'), Plan(positions=300)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert Path(f"{path}-journal").exists()
    assert read_book(path).copy() == before
    make_book(path, positions=200)  # neither the lock nor the journal is in the way
    assert_settled(read_book(path))
