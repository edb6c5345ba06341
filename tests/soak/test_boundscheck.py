"""The conformance suite with every index of every kernel checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).resolve().parent.parent / "core"


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_kernel_reads_or_writes_out_of_bounds(tmp_path: Path) -> None:
    """In a cache directory of its own: a warm cache would ignore the setting."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "TILEWARP_CACHE_DIR": str(tmp_path)}
    files = [str(SUITE / f"test_{name}.py") for name in ("conformance", "golden", "search")]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "--timeout", "1800", *files],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-3000:]
