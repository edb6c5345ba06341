"""The log of every part: to standard error, as text for people or as JSON for machines."""

import json
import logging
from datetime import UTC, datetime

from worker.settings import Settings

TEXT = "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"
FIELDS = ("job", "unit", "nodes", "seconds")
"""What a record may tell apart from its message, by `extra`."""


class JsonFormatter(logging.Formatter):
    """One JSON object a line, tracebacks included: nothing has to be put together again."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object of a record; what it does not tell is left out."""
        shown = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "process": record.process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        shown |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            shown["exception"] = self.formatException(record.exc_info)
        return json.dumps(shown)


def configure_logging(settings: Settings) -> None:
    """Write the log to standard error, as the settings say."""
    handler = logging.StreamHandler()
    is_json = settings.log_format == "json"
    handler.setFormatter(JsonFormatter() if is_json else logging.Formatter(TEXT))
    logging.basicConfig(level=settings.log_level, handlers=[handler])
    # Celery has a line for every ticket.
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(name).setLevel(logging.WARNING)
