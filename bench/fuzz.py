"""Coverage-guided fuzzing of the readers in tests/fuzz/targets.py; needs the package atheris.

    pip install atheris
    python bench/fuzz.py notation -max_total_time=600

The first argument names a target, what follows is libFuzzer's. It ends with code 0 when the time is
over and nothing was found; an input that breaks a reader is left in the directory it is run in.
"""

import os
import sys
import tempfile
from inspect import isclass, isfunction
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.fuzz.targets import TARGETS

READERS = (
    *("core.notation", "core.chakra.notation", "core.caissa.notation", "core.records"),
    *("gateway", "worker.tickets", "worker.limits"),
)
"""Modules that are watched, with those below them. No kernels: Numba could not compile them."""


def watch_readers() -> None:
    """Let the fuzzer see which branches the readers take."""
    for name, module in list(sys.modules.items()):
        if any(name == reader or name.startswith(f"{reader}.") for reader in READERS):
            for value in list(vars(module).values()):
                for function in (value, *vars(value).values()) if isclass(value) else (value,):
                    if isfunction(function) and function.__module__ == name:
                        atheris.instrument_func(function)


def main() -> None:
    """Fuzz the target that is named."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"name one of {', '.join(TARGETS)}")
    target, make_examples = TARGETS[sys.argv[1]]
    watch_readers()
    corpus = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for number, example in enumerate(make_examples()):
        (corpus / str(number)).write_bytes(example)
    print(f"corpus: {corpus}, process {os.getpid()}", flush=True)
    limits = ["-timeout=20", "-rss_limit_mb=2048", "-max_len=4096"]
    atheris.Setup([sys.argv[0], *limits, *sys.argv[2:], str(corpus)], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
