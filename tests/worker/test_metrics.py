"""The counters of a host are the sum over its processes, and begin at zero."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from worker.metrics import serve_metrics
from worker.settings import Settings

ROOT = Path(__file__).parents[2]
RAISE_IN_TWO_CHILDREN = """
import os, urllib.request
from worker.metrics import serve_metrics
from worker.settings import Settings

settings = Settings.read()
with serve_metrics(settings) as metrics:
    metrics.nodes.inc(1)
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            metrics.nodes.inc(20)
            os._exit(0)
        os.waitpid(pid, 0)
    page = urllib.request.urlopen(f"http://{settings.worker_metrics}/metrics").read().decode()
print(page)
"""


def test_children_add_up_and_an_earlier_run_is_forgotten(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "notes.txt").touch()
    settings = Settings(worker_metrics=address, metrics_dir=str(tmp_path))
    for _ in range(2):
        page = subprocess.run(
            [sys.executable, "-c", RAISE_IN_TWO_CHILDREN],
            env={**os.environ, **settings.environment()},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        assert "tilewarp_worker_nodes_total 41.0\n" in page
        assert "tilewarp_worker_positions_total 0.0\n" in page
    assert (tmp_path / "notes.txt").exists()


def test_a_process_that_already_counts_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", sys)
    with pytest.raises(RuntimeError, match="imported before"), serve_metrics(Settings()):
        pass
