"""What runs the units of a kind of job in a worker's process."""

from typing import Protocol

from worker.store import ClaimedUnit, Finished


class UnitRunner(Protocol):
    """Runs one unit at a time; another thread may look at it and stop it."""

    @property
    def nodes(self) -> int:
        """Nodes searched so far: moves while a search makes progress."""

    def run(self, spec: bytes, unit: ClaimedUnit) -> Finished | None:
        """Run a unit to its end; None when it was stopped."""

    def take_progress(self) -> bytes | None:
        """Return what is known of the unit that runs, if that is new since the last call.

        A serialized AnalysisResult. From another thread, one at a time.
        """

    def stop(self) -> None:
        """End the unit that runs now, soon. From another thread."""
