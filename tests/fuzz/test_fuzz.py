"""Readers meet bytes of every kind, and bitten examples; bench/fuzz.py goes on for longer."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

EXAMPLES = 150


@st.composite
def bitten(draw: st.DrawFn, examples: list[bytes]) -> bytes:
    """Draw an example of which parts are left out, doubled, or replaced."""
    data = draw(st.sampled_from(examples))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.sampled_from((0, 1, 2, 8, 64, 1 << 20))))
        new = draw(st.sampled_from((b"", data[begin:end] * 2)) | st.binary(max_size=8))
        data = data[:begin] + new + data[end:]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_bears_whatever_it_is_given(name: str) -> None:
    target, make_examples = TARGETS[name]
    examples = make_examples()
    for example in examples:
        target(example)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary() | bitten(examples))
    def run(data: bytes) -> None:
        target(data)

    attempt: Callable[[], None] = run
    attempt()
