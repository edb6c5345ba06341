"""A progress bar for what counts units."""

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

BAR_AFTER_SECONDS = 2.0


class CountBar:
    """A bar on a terminal for what takes more than two seconds; elsewhere nothing."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._progress = Progress(
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("", total=None)
        self.is_on_terminal = sys.stdout.isatty() and sys.stderr.isatty()

    def __enter__(self) -> "CountBar":
        """Begin to count the seconds."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        """Take the bar away; one that was never shown would leave an empty line."""
        if self._progress.live.is_started:
            self._progress.stop()

    def update(self, done: int, total: int, note: str = "") -> None:
        """Show how far the work is, with a note beside it."""
        if not self.is_on_terminal or time.monotonic() - self._begin < BAR_AFTER_SECONDS:
            return
        self._progress.start()
        self._progress.update(self._task, completed=done, total=total, description=note)
