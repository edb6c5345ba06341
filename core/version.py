"""Versions that stand beside every score: of the search and of the rules it was made by."""

# Raised by any change that can alter a score, a line or a node count.
ENGINE_VERSION = "1"
# Raised by any change that can alter a legal move, a check or a result.
RULES_VERSION = "1"
