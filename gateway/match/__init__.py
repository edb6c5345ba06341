"""Games between engines: protocols, clocks, openings, statistics and matches."""

DEFAULT_HASH_MB = 64
"""The table of an engine that plays: what a minute's search fills."""
