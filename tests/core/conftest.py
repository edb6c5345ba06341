"""Settings of property tests: none of them measures time."""

from hypothesis import settings

settings.register_profile("tilewarp", deadline=None)
settings.load_profile("tilewarp")
