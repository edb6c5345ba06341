"""The measurement of perft: its positions, and how rounds are run and read. No time is judged."""

from pathlib import Path

import pytest

from bench import perft
from bench.perft import CASES, Case, Count
from core.position import Position

FAKE = """#!/bin/sh
echo "perft $3 = $#  time 1.5 s  9.00 Mnodes/s  cpu 1.25 s  9.0 Mnodes/cpu-s"
"""


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.variant}:{c.name}")
def test_both_ways_of_counting_agree_on_the_positions(case: Case) -> None:
    shallow = Case(case.variant, case.name, 3)
    nodes = Position(case.variant, case.fen).perft(3)
    assert perft.count_in_kernel(shallow)().nodes == nodes
    assert perft.count_in_units(shallow, 2, 0)().nodes == nodes
    assert perft.count_in_units(shallow, 1, 1)().nodes == nodes


def test_every_generator_is_measured_from_its_start_and_another_position() -> None:
    names = [(case.variant, case.name == "start") for case in CASES]
    variants = {variant for variant, _ in names}
    assert variants == {"chakra", "chakra-mindsports", "chakra-pritchard", "caissa"}
    assert sorted(names) == sorted((v, start) for v in variants for start in (True, False))


def test_a_position_that_is_not_on_file_is_an_error() -> None:
    with pytest.raises(LookupError, match="no position nowhere"):
        perft.find_fen("caissa", "nowhere")


def test_the_twin_is_copied_built_and_read(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "program").write_text(FAKE)
    (source / "Makefile").write_text("oracle: program\n\tcp program oracle\n\tchmod +x oracle\n")
    (source / "oracle").write_text("stale")
    binary = perft.build_twin(source, tmp_path)
    count = perft.count_in_twin(Case("caissa", "start", 4), binary, 0)()
    assert (count.nodes, count.cpu) == (4, 1.25)
    assert perft.count_in_twin(Case("caissa", "start", 4), binary, 16)().nodes == 6
    assert (source / "oracle").read_text() == "stale"


def test_output_without_a_total_is_an_error() -> None:
    with pytest.raises(ValueError, match="no line"):
        perft.parse_total("a2a3 5\n")


def test_rounds_alternate_and_are_counted_without_the_first() -> None:
    called = []

    def make(name: str) -> perft.Counter:
        def count() -> Count:
            called.append(name)
            return Count(7, 1.0, 1.0)

        return count

    counts = perft.alternate([make("a"), make("b")], 3)
    assert "".join(called) == "ab" + "abbaab"
    assert [len(series) for series in counts] == [3, 3]


def test_counts_that_differ_end_the_run() -> None:
    counters = [lambda: Count(1, 1.0, 1.0), lambda: Count(2, 1.0, 1.0)]
    with pytest.raises(SystemExit, match=r"differ: \[1, 2\]"):
        perft.alternate(counters, 1)


def test_rates_are_the_median_and_the_best() -> None:
    series = [Count(6 * perft.MILLION, cpu, 0.0) for cpu in (3.0, 1.0, 2.0)]
    assert perft.rates(series) == (3.0, 6.0)
