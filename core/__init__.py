"""Games and engine of tilewarp: rules, perft, evaluation and search; no service, no network."""
