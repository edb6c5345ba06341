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
COUNT_IN_A_POOL = """
import os, signal, urllib.request
from billiard import Process
from worker.metrics import serve_metrics
from worker.settings import Settings

settings = Settings.read()
with serve_metrics(settings) as metrics:
    metrics.nodes.inc(1)
    for place in (0, 1) * 3:
        def count():
            metrics.nodes.inc(20)
            os.kill(os.getpid(), signal.SIGKILL)
        process = Process(target=count)
        process.index = place
        process.start()
        process.join()
    page = urllib.request.urlopen(f"http://{settings.worker_metrics}/metrics").read().decode()
print(page)
"""


def test_processes_add_up_with_those_they_replace_and_an_earlier_run_is_forgotten(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "notes.txt").touch()
    settings = Settings(worker_metrics=address, metrics_dir=str(tmp_path))
    for _ in range(2):
        page = subprocess.run(
            [sys.executable, "-c", COUNT_IN_A_POOL],
            env={**os.environ, **settings.environment()},
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        assert "tilewarp_worker_nodes_total 121.0\n" in page
        assert "tilewarp_worker_positions_total 0.0\n" in page
        names = {file.name for file in tmp_path.iterdir()}
        assert names == {"notes.txt", "counter_host.db", "counter_0.db", "counter_1.db"}
        samples = [line for line in page.splitlines() if not line.startswith("#")]
        assert len({line.partition(" ")[0] for line in samples}) == len(samples)
        assert "pid" not in page


def test_a_process_that_already_counts_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", sys)
    with pytest.raises(RuntimeError, match="imported before"), serve_metrics(Settings()):
        pass
