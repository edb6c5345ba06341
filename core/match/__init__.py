"""Games between players, whatever these are: how they are opened, played and ended."""
