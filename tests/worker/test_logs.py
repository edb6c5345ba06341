"""The log says in each line what it is of, for people and for machines."""

import json
import logging
import sys
from datetime import datetime

from worker.logs import JsonFormatter


def test_a_record_is_one_line_of_json_with_its_traceback() -> None:
    place = {"job": "e-1", "unit": 7}
    try:
        raise ValueError("a\nb \udcff ")
    except ValueError:
        record = logging.getLogger("worker.claim").makeRecord(
            "worker.claim", logging.ERROR, "file", 1, "unit %(unit)d failed", (place,),
            sys.exc_info(), extra=place | {"other": 1},
        )  # fmt: skip
    line = JsonFormatter().format(record)
    assert line.isascii()
    assert "\n" not in line
    shown = json.loads(line)
    assert datetime.fromisoformat(shown.pop("time")).tzinfo is not None
    assert "ValueError: a\nb" in shown.pop("exception")
    assert shown == {
        "level": "ERROR",
        "process": record.process,
        "logger": "worker.claim",
        "message": "unit 7 failed",
        "job": "e-1",
        "unit": 7,
    }
