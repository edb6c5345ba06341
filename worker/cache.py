"""The keys by which an answer is found again when an equal request comes."""

import hashlib
import json
from dataclasses import asdict

from core.limits import Limits
from core.version import ENGINE_VERSION, RULES_VERSION
from worker.limits import is_reproducible


class CacheKeys:
    """The keys of all requests with the same limits, under the versions of this process.

    A key is a digest of the versions, the limits and the unit, each behind its length, so that no
    two requests have the same one. Positions that are written differently are different requests.
    """

    def __init__(self, limits: Limits) -> None:
        self._is_reproducible = is_reproducible(limits)
        self._start = hashlib.sha256()
        for part in (ENGINE_VERSION, RULES_VERSION, json.dumps(asdict(limits))):
            _add(self._start, part.encode())

    def find(self, unit: bytes) -> bytes:
        """Return the key of a unit, a serialized Position; empty if its answer may vary."""
        if not self._is_reproducible:
            return b""
        digest = self._start.copy()
        _add(digest, unit)
        return digest.digest()


def _add(digest: "hashlib._Hash", part: bytes) -> None:
    digest.update(len(part).to_bytes(8))
    digest.update(part)
