"""Adjudication: what became of a recorded game, by the rules, its record, or stated terms."""

from core.adjudication.adjudicate import adjudicate
from core.adjudication.crosstable import Crosstable, Standing
from core.adjudication.terms import Ending, Terms, find_ending, find_ending_at
from core.adjudication.verdict import Evidence, IllegalMove, Verdict

__all__ = [
    "Crosstable",
    "Ending",
    "Evidence",
    "IllegalMove",
    "Standing",
    "Terms",
    "Verdict",
    "adjudicate",
    "find_ending",
    "find_ending_at",
]
