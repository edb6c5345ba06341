"""Games between engines: protocols, clocks, openings, statistics and matches."""
