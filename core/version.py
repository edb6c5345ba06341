"""Versions that stand beside every score: of the search and of the rules it was made by."""

from importlib.metadata import PackageNotFoundError, version

# Raised by any change that can alter a score, a line or a node count.
ENGINE_VERSION = "1"
# Raised by any change that can alter a legal move, a check or a result.
RULES_VERSION = "1"


def find_product_version() -> str:
    """Return the version of the installed distribution, or `0+unknown` outside an installation."""
    try:
        return version("tilewarp")
    except PackageNotFoundError:
        return "0+unknown"
