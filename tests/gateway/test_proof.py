"""Proofs: what is written is checked, and whatever is changed in one is found."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.position import Position
from core.prefixes import Split
from core.version import RULES_VERSION
from gateway.cli.perft import perft_check
from gateway.proof import (
    FalseProof,
    ProofHeader,
    ProofLine,
    UnreadableProof,
    check_proof,
    write_proof,
)

PLIES = 2


def make_proof(path: Path, variant: str = "caissa", depth: int = 4) -> ProofHeader:
    position = Position(variant)
    split = Split(position)
    for _ in range(PLIES):
        split.advance(2000)
    lines = [
        ProofLine(fen, p.multiplicity, Position(variant, fen).perft(depth - PLIES), ["w"])
        for p in split.prefixes
        for fen in [split.format_fen(p)]
    ]
    header = ProofHeader(
        variant=variant,
        fen=position.fen(),
        depth=depth,
        plies=PLIES,
        keeps_images=False,
        prefixes=len(lines),
        nodes=position.perft(depth),
        rules_version=RULES_VERSION,
    )
    write_proof(path, header, lines)
    return header


def check(data: bytes, sample: int = 3) -> ProofHeader:
    return check_proof(io.BytesIO(data), sample, lambda done, total: None)


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("proof") / "caissa-4.gz"
    make_proof(path)
    return path


def change(proof: Path, line: int, alter: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return the proof with one line altered."""
    lines = gzip.decompress(proof.read_bytes()).splitlines()
    fields = json.loads(lines[line])
    altered = alter(fields)
    lines[line] = altered if isinstance(altered, bytes) else json.dumps(fields).encode()
    return gzip.compress(b"\n".join(lines) + b"\n")


def test_a_proof_proves_what_was_counted(proof: Path, tmp_path: Path) -> None:
    header = check(proof.read_bytes())
    assert (header.variant, header.depth, header.nodes) == ("caissa", 4, 405737)
    again = tmp_path / "again.gz"
    make_proof(again)
    assert again.read_bytes() == proof.read_bytes()


@pytest.mark.parametrize("variant", ["chakra", "chakra-mindsports", "chakra-pritchard"])
def test_proofs_of_other_variants(variant: str, tmp_path: Path) -> None:
    header = make_proof(tmp_path / "proof", variant, 3)
    assert check((tmp_path / "proof").read_bytes()) == header


@pytest.mark.parametrize(
    ("line", "name", "value", "told"),
    [
        (0, "nodes", 405738, "the sum is 405737, not 405738"),
        (0, "prefixes", 629, "line 1: prefixes: there are 630"),
        (0, "depth", 5, "line "),
        (3, "multiplicity", 2, "line 4: the prefix is "),
        (3, "fen", Position("caissa").fen(), "line 4: the prefix is "),
    ],
)
def test_what_is_not_so_is_named(proof: Path, line: int, name: str, value: Any, told: str) -> None:
    data = change(proof, line, lambda fields: fields.update({name: value}))
    with pytest.raises(FalseProof, match=told):
        check(data, sample=1000)


def test_two_wrong_counts_with_the_right_sum_are_found_by_counting(proof: Path) -> None:
    lines = gzip.decompress(proof.read_bytes()).splitlines()
    for number, by in ((1, 1), (2, -1)):
        fields = json.loads(lines[number])
        fields["count"] += by
        lines[number] = json.dumps(fields).encode()
    data = gzip.compress(b"\n".join(lines))
    assert check(data, sample=0).nodes == 405737
    with pytest.raises(FalseProof, match=r"line 2: .* lines are counted here"):
        check(data, sample=630)


def test_missing_and_further_prefixes_are_named(proof: Path) -> None:
    lines = gzip.decompress(proof.read_bytes()).splitlines()
    with pytest.raises(FalseProof, match="only 629 of 630"):
        check(gzip.compress(b"\n".join(lines[:-1])))
    with pytest.raises(FalseProof, match="line 632: there are only 630"):
        check(gzip.compress(b"\n".join([*lines, lines[-1]])))


@pytest.mark.parametrize(
    ("line", "alter", "told"),
    [
        (0, lambda fields: fields.update(format="x"), "line 1: format"),
        (0, lambda fields: fields.update(depth="4"), "line 1: depth: of the wrong type"),
        (0, lambda fields: fields.update(depth=True), "line 1: depth: of the wrong type"),
        (0, lambda fields: fields.update(depth=41), "line 1: not 0 <= plies"),
        (0, lambda fields: fields.update(plies=5), "line 1: not 0 <= plies"),
        (0, lambda fields: fields.update(prefixes=10**7), "line 1: prefixes: not from 0"),
        (0, lambda fields: fields.update(fen="7/7 w"), "line 1: "),
        (0, lambda fields: fields.update(variant="chess"), "line 1: unknown variant"),
        (0, lambda fields: fields.pop("nodes"), "line 1: fields missing or unknown: 'nodes'"),
        (0, lambda fields: fields.update(more=1), "line 1: fields missing or unknown: 'more'"),
        (2, lambda fields: fields.update(count=-1), "line 3: a number is too small"),
        (2, lambda fields: fields.update(count=1.0), "line 3: count: of the wrong type"),
        (2, lambda fields: b"[]", "line 3: not an object"),
        (2, lambda fields: b"{", "line 3: not JSON"),
        (2, lambda fields: b"\xff", "line 3: not JSON"),
        (2, lambda fields: b"[" * 5000, "line 3: not JSON"),
        (2, lambda fields: b'{"count":' + b"9" * 5000 + b"}", "line 3: not JSON: a number of"),
        (2, lambda fields: b" " * 10_000, "line 3: longer than"),
    ],
)
def test_a_hostile_line_is_refused_with_its_number(
    proof: Path, line: int, alter: Callable[[dict[str, Any]], Any], told: str
) -> None:
    with pytest.raises(UnreadableProof, match=told):
        check(change(proof, line, alter))


def test_a_split_without_end_is_refused(proof: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.proof.MAX_PREFIXES", 1000)
    data = change(proof, 0, lambda fields: fields.update(plies=40, depth=40, prefixes=1000))
    with pytest.raises(UnreadableProof, match="a split of more than 1000 prefixes"):
        check(data)


@pytest.mark.parametrize(
    "data",
    [b"", b"no gzip", gzip.compress(b"x" * 99, mtime=0)[:-9]],
    ids=["empty", "other", "cut"],
)
def test_a_file_that_is_no_whole_gzip_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableProof):
        check(data)


def test_the_command_tells_proved_wrong_and_unreadable_apart(proof: Path, tmp_path: Path) -> None:
    def run(data: bytes, *options: str) -> tuple[int, str]:
        file = tmp_path / "file"
        file.write_bytes(data)
        result = CliRunner().invoke(perft_check, [str(file), *options])
        return result.exit_code, result.output

    code, output = run(proof.read_bytes(), "--json", "--sample", "2")
    assert code == 0
    assert json.loads(output)["nodes"] == 405737
    assert json.loads(output)["recounted"] == 2
    wrong = change(proof, 0, lambda fields: fields.update(nodes=1))
    assert run(wrong)[0] == 1
    assert run(b"no gzip")[0] == 2
