"""Every Numba option, the type of a record, and where compiled kernels are kept.

The only file that decorates kernels. The cache directory is named by a digest of all that compiled
code depends on, so that no process can load code compiled from other sources: Numba itself does not
see a change in a callee.
"""

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SOURCES = Path(__file__).resolve().parent
# Folders and files of core that hold no kernel, and that no file with kernels imports.
PLAIN_PARTS = {
    *("reference", "records", "adjudication", "explain.py", "explanation.py", "plain.py"),
    *("match", "picture", "picture.py", "prefixes.py"),
}


def find_kernel_files() -> list[Path]:
    """Return the files that the digest covers: all of core but its PLAIN_PARTS, sorted."""
    files = SOURCES.rglob("*.py")
    return sorted(f for f in files if PLAIN_PARTS.isdisjoint(f.relative_to(SOURCES).parts))


def compute_digest() -> str:
    """Return 16 hex digits over kernel sources, Numba settings and version, Python and CPU."""
    from importlib.metadata import version

    from llvmlite import binding

    digest = hashlib.sha256()
    for file in find_kernel_files():
        digest.update(f"{file.relative_to(SOURCES)}\0".encode() + file.read_bytes() + b"\0")
    settings = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
    settings.pop("NUMBA_CACHE_DIR", None)
    digest.update(repr(sorted(settings.items())).encode())
    versions = [version(name) for name in ("numba", "llvmlite", "numpy")]
    machine = [platform.python_version(), binding.get_host_cpu_name()]
    features = binding.get_host_cpu_features().flatten()
    digest.update(repr((versions, machine, features, str(SOURCES))).encode())
    return digest.hexdigest()[:16]


def find_cache_directory() -> Path:
    """Return the directory of this digest's compiled kernels, created and writable.

    Under `TILEWARP_CACHE_DIR`, else `XDG_CACHE_HOME/tilewarp`, else `~/.cache/tilewarp`; where
    none of them can be written, a private one below the system's temporary directory.
    """
    named = os.environ.get("TILEWARP_CACHE_DIR")
    bases = [Path(named)] if named else []
    cache_home = os.environ.get("XDG_CACHE_HOME")
    bases.append(Path(cache_home) / "tilewarp" if cache_home else Path("~/.cache/tilewarp"))
    name = f"kernels-{compute_digest()}"
    for base in bases:
        try:
            directory = base.expanduser() / name
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except (OSError, RuntimeError):  # not writable, or no home: the next one may be
            continue
    return _find_private_directory(name)


def _find_private_directory(name: str) -> Path:
    """Return a directory below the temporary one that is this user's, kept between processes.

    One that others can write would let them place code in it; where only such a one is left, the
    process gets a new directory of its own.
    """
    parent = Path(tempfile.gettempdir()) / f"tilewarp-{os.getuid()}"
    try:
        parent.mkdir(mode=0o700, exist_ok=True)
        status = parent.lstat()
        if status.st_uid == os.getuid() and not status.st_mode & 0o022:
            (parent / name).mkdir(exist_ok=True)
            return parent / name
    except OSError:  # someone else's, or a file
        pass
    return Path(tempfile.mkdtemp(prefix="tilewarp-"))


CACHE_DIRECTORY = find_cache_directory()
# Numba reads the variable when it is imported and when its configuration is reloaded.
os.environ["NUMBA_CACHE_DIR"] = str(CACHE_DIRECTORY)

from numba import config, njit  # noqa: E402
from numba.extending import intrinsic as _numba_intrinsic  # noqa: E402

# Numba was imported before, perhaps, and has read it already.
_config: Any = config
_config.CACHE_DIR = str(CACHE_DIRECTORY)

IS_JIT_ON: bool = not _config.DISABLE_JIT
# Every dispatcher made, so that cache misses and signatures can be counted over all of them.
KERNELS: list[Any] = []


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function to machine code on its first call; with the JIT off, leave it as it is.

    No GIL is held while it runs. Division by zero gives what the processor gives, so that no
    exception path is compiled.
    """
    compiled = njit(nogil=True, cache=True, error_model="numpy")(function)
    KERNELS.append(compiled)
    return compiled


def intrinsic(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the typing function of an instruction; `plain` stands for it with the JIT off."""

    def decorate(typing_function: Callable[..., Any]) -> Any:
        return _numba_intrinsic(typing_function) if IS_JIT_ON else plain

    return decorate


def build_record_type(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return the aligned dtype of a record that kernels take; `array[0]` is the record in them.

    With the JIT off, the fields of a record are attributes in plain Python too. With it on they
    are not, since Numba looks at such a type anew in each call.
    """
    plain = np.dtype(fields, align=True)
    return plain if IS_JIT_ON else np.dtype((np.record, plain))


def view_record(array: NDArray[Any]) -> Any:
    """Return the record of an array of one, its fields as attributes: convenient and slow."""
    return array.view(np.dtype((np.record, array.dtype)))[0]


def count_cache_misses() -> int:
    """Return how many kernels this process had to compile since it started."""
    if not IS_JIT_ON:
        return 0
    return sum(sum(k.stats.cache_misses.values()) for k in KERNELS)
