"""Records of games: reading them from files of several forms, and writing them."""

from core.records.game import (
    DRAWN,
    RESULTS,
    UNFINISHED,
    WON,
    BrokenRecord,
    GameRecord,
    Record,
    RecordedMove,
)
from core.records.objects import format_object, parse_object
from core.records.reader import read_records
from core.records.writer import format_pgn

__all__ = [
    "DRAWN",
    "RESULTS",
    "UNFINISHED",
    "WON",
    "BrokenRecord",
    "GameRecord",
    "Record",
    "RecordedMove",
    "format_object",
    "format_pgn",
    "parse_object",
    "read_records",
]
