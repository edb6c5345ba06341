"""An alarm that ends this process when nothing of Python runs in it any more."""

import faulthandler

SEIZED_SECONDS = 30.0
"""Seconds until the alarm goes off; far above a lease, since a process that was suspended ends so,
too."""
STANDARD_ERROR = 2
"""Its descriptor: under Celery `sys.stderr` is no file."""


def put_off_alarm() -> None:
    """End this process after `SEIZED_SECONDS`, unless this is called again or it is cancelled.

    By a thread that needs nothing of Python, so that it runs when no other can.
    """
    faulthandler.dump_traceback_later(SEIZED_SECONDS, exit=True, file=STANDARD_ERROR)


def cancel_alarm() -> None:
    """Let the process live."""
    faulthandler.cancel_dump_traceback_later()
