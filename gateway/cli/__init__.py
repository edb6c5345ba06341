"""The `tilewarp` command."""
