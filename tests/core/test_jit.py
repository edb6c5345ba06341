"""The cache of compiled kernels: whose it is, what changes it, and that it is used."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core import jit
from core.games import VARIANTS
from core.jit import IS_JIT_ON, compute_digest, find_cache_directory, find_kernel_files
from tests.core.exercise import exercise, finish, start
from tests.core.judge import read_perft_entries

needs_jit = pytest.mark.skipif(not IS_JIT_ON, reason="the JIT is off")
PLIES, NODES = 6, 3000
STARTS = {e.variant: e.counts[3] for e in read_perft_entries() if e.fen == "startpos"}


@dataclass(frozen=True)
class ColdStart:
    """A cache directory that two processes found empty at one time, and what they reported."""

    directory: Path
    reports: list[dict[str, Any]]


@pytest.fixture(scope="module")
def cold_start(tmp_path_factory: pytest.TempPathFactory) -> ColdStart:
    directory = tmp_path_factory.mktemp("cache")
    processes = [start(0, 0, TILEWARP_CACHE_DIR=str(directory)) for _ in range(2)]
    return ColdStart(directory, [finish(process) for process in processes])


@pytest.fixture(scope="module")
def second_process(cold_start: ColdStart) -> dict[str, Any]:
    """The report of a process that finds the cache filled, and uses all there is."""
    return finish(start(PLIES, NODES, TILEWARP_CACHE_DIR=str(cold_start.directory)))


# Compiled once, and right


@needs_jit
@pytest.mark.timeout(300)
def test_two_processes_that_warm_one_cold_cache_count_right(cold_start: ColdStart) -> None:
    for report in cold_start.reports:
        for variant, found in report["found"].items():
            # Variants without a file play as their game from the start.
            assert found["perft"] == STARTS.get(variant, STARTS[VARIANTS[variant].game])


@needs_jit
def test_no_kernel_is_compiled_by_both(cold_start: ColdStart) -> None:
    first, second = (set(report["compiled"]) for report in cold_start.reports)
    assert len(first | second) > 100
    assert not first & second


@needs_jit
def test_a_second_process_compiles_nothing(second_process: dict[str, Any]) -> None:
    assert second_process["compiled"] == []
    assert second_process["misses"] == 0


@needs_jit
def test_a_second_process_answers_the_same(second_process: dict[str, Any]) -> None:
    assert second_process["found"] == json.loads(json.dumps(exercise(PLIES, NODES)))


@needs_jit
def test_each_kernel_has_one_signature(
    cold_start: ColdStart, second_process: dict[str, Any]
) -> None:
    """A second one would mean that a signed number came where an unsigned one belongs."""
    used = set()
    for report in (*cold_start.reports, second_process):
        for name, signatures in report["signatures"].items():
            assert len(signatures) <= 1, (name, signatures)
            used |= {name} if signatures else set()
    assert len(used) > 100


@needs_jit
def test_the_cache_has_one_directory_with_a_mark_for_each_game(cold_start: ColdStart) -> None:
    (directory,) = cold_start.directory.iterdir()
    assert directory.name.startswith("kernels-")
    marks = {path.stem for path in directory.glob("*.warm")}
    assert marks == {variant.game for variant in VARIANTS.values()}
    assert list(directory.rglob("*.nbc"))


def test_numba_keeps_its_files_where_this_module_says() -> None:
    from numba import config

    assert str(jit.CACHE_DIRECTORY) == config.CACHE_DIR == os.environ["NUMBA_CACHE_DIR"]
    assert jit.CACHE_DIRECTORY.name == f"kernels-{compute_digest()}"


# The digest


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources that the digest is taken over."""
    copy = tmp_path / "core"
    shutil.copytree(jit.SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "SOURCES", copy)
    return copy


def test_editing_any_kernel_file_changes_the_digest(sources: Path) -> None:
    files = find_kernel_files()
    assert {"bits.py", "search.py", "chakra/movegen.py", "caissa/tables.py"} <= {
        str(file.relative_to(sources)) for file in files
    }
    before = compute_digest()
    for file in files:
        text = file.read_bytes()
        file.write_bytes(text + b"#")
        assert compute_digest() != before, file
        file.write_bytes(text)
        assert compute_digest() == before, file


def test_moving_and_adding_files_changes_the_digest(sources: Path) -> None:
    digests = {compute_digest()}
    (sources / "new.py").touch()
    digests.add(compute_digest())
    (sources / "new.py").rename(sources / "chakra" / "new.py")
    digests.add(compute_digest())
    (sources / "tt.py").rename(sources / "tt2.py")
    digests.add(compute_digest())
    assert len(digests) == 4


def test_files_without_kernels_are_not_part_of_the_digest(sources: Path) -> None:
    before = compute_digest()
    for name in ("reference/chakra.py", "chakra/explain.py", "explanation.py", "picture/svg.py"):
        (sources / name).write_text("")
        assert compute_digest() == before, name


def test_kernels_and_the_files_left_out_of_the_digest_do_not_need_one_another() -> None:
    kernels = set(find_kernel_files())
    plain = set(jit.SOURCES.rglob("*.py")) - kernels
    assert len(plain) > 10
    modules = {".".join(("core", *f.relative_to(jit.SOURCES).with_suffix("").parts)) for f in plain}
    for file in kernels:
        assert not {name for name in modules if f" {name} import" in file.read_text()}, file
    for file in plain:
        text = file.read_text()
        assert "core.jit" not in text, file
        assert "core.bind" not in text, file


@pytest.mark.parametrize(
    "name", ["NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME", "NUMBA_DISABLE_INTEL_SVML"]
)
def test_settings_of_numba_change_the_digest(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name, raising=False)
    before = compute_digest()
    monkeypatch.setenv(name, "1")
    first = compute_digest()
    monkeypatch.setenv(name, "2")
    assert len({before, first, compute_digest()}) == 3


def test_where_the_cache_lies_does_not_change_the_digest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = compute_digest()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILEWARP_CACHE_DIR", str(tmp_path))
    assert compute_digest() == before


def test_processor_and_versions_change_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    import platform
    from importlib import metadata

    from llvmlite import binding

    digests = {compute_digest()}
    for module, name in (
        (binding, "get_host_cpu_name"),
        (platform, "python_version"),
        (metadata, "version"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda *_: "another")
            digests.add(compute_digest())
    assert len(digests) == 4


# The directory


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Nothing that names a cache directory but a home, and temporary files below `tmp_path`."""
    for name in ("TILEWARP_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def test_the_named_directory_comes_first(unset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"kernels-{compute_digest()}"
    assert find_cache_directory() == unset / "home/.cache/tilewarp" / name
    monkeypatch.setenv("XDG_CACHE_HOME", str(unset / "xdg"))
    assert find_cache_directory() == unset / "xdg/tilewarp" / name
    monkeypatch.setenv("TILEWARP_CACHE_DIR", str(unset / "named"))
    assert find_cache_directory() == unset / "named" / name
    assert (unset / "named" / name).is_dir()
    assert list((unset / "named" / name).iterdir()) == []


def test_directories_that_cannot_be_written_are_passed_over(
    unset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"kernels-{compute_digest()}"
    (unset / "file").touch()
    monkeypatch.setenv("TILEWARP_CACHE_DIR", str(unset / "file"))
    assert find_cache_directory() == unset / "home/.cache/tilewarp" / name
    monkeypatch.setenv("XDG_CACHE_HOME", str(unset / "file/below"))
    found = find_cache_directory()
    assert found == unset / f"temporary/tilewarp-{os.getuid()}" / name
    assert found.is_dir()
    assert found.parent.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_takes_no_file_is_passed_over(
    unset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It exists, on a disk that is full or read-only."""

    def refuse(dir: Path) -> None:  # noqa: A002
        raise OSError(f"{dir} is read-only")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert find_cache_directory().is_relative_to(unset / "temporary")


def test_without_a_home_there_is_a_directory(unset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", refuse)
    assert find_cache_directory().is_relative_to(unset / "temporary")


def is_private(directory: Path) -> bool:
    status = directory.stat()
    return status.st_uid == os.getuid() and status.st_mode & 0o777 == 0o700


def test_another_user_s_directory_is_not_used(unset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    placed = unset / f"temporary/tilewarp-{os.geteuid() + 1}"
    placed.mkdir()
    found = find_cache_directory()
    assert found.parent == unset / "temporary"
    assert found != placed
    assert found.stat().st_mode & 0o777 == 0o700
    assert list(placed.iterdir()) == []


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_that_others_may_write_is_not_used(
    mode: int, unset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/dev/null")
    placed = unset / f"temporary/tilewarp-{os.getuid()}"
    placed.mkdir()
    placed.chmod(mode)
    found = find_cache_directory()
    assert not found.is_relative_to(placed)
    assert is_private(found)


def test_a_file_or_link_in_the_place_of_the_directory_is_not_used(
    unset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/dev/null")
    placed = unset / f"temporary/tilewarp-{os.getuid()}"
    placed.touch()
    assert is_private(find_cache_directory())
    placed.unlink()
    (unset / "elsewhere").mkdir()
    placed.symlink_to(unset / "elsewhere")
    assert is_private(find_cache_directory())
    assert list((unset / "elsewhere").iterdir()) == []
