"""Instructions equal their plain twins, which are what they are said to be."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numba import njit

from core import bits
from core.jit import IS_JIT_ON

WORDS = st.integers(0, 2**64 - 1)
MASK = 2**64 - 1

# Compiled with the instructions inside, as kernels have them.
compiled: Callable[[Any], Any] = njit(error_model="numpy")


@compiled
def call_popcount(x: Any) -> Any:
    return bits.popcount(x)


@compiled
def call_lsb(x: Any) -> Any:
    return bits.lsb(x)


@compiled
def call_byte_swap(x: Any) -> Any:
    return bits.byte_swap(x)


@compiled
def call_subtract(a: Any, b: Any) -> Any:
    return bits.subtract(a, b)


@compiled
def call_load_word(address: Any, index: Any) -> Any:
    return bits.load_word(address, index)


@compiled
def call_store_word(address: Any, index: Any, value: Any) -> None:
    bits.store_word(address, index, value)


@compiled
def call_read_clock() -> Any:
    return bits.read_clock()


def find_extract_bits() -> Any:
    @compiled
    def call_extract_bits(x: Any, mask: Any) -> Any:
        return bits.extract_bits(x, mask)

    return call_extract_bits


def run(function: Any, plain: Any, *numbers: int) -> int:
    """The result of an instruction, after its plain twin and it were found equal, type and all."""
    words = [np.uint64(number) for number in numbers]
    expected, found = plain(*words), function(*words)
    assert isinstance(expected, np.uint64)
    assert type(found) in (int, np.uint64)
    assert int(found) == int(expected)
    return int(found)


@given(x=WORDS)
def test_popcount(x: int) -> None:
    assert run(call_popcount, bits._plain_popcount, x) == bin(x).count("1")


@given(x=WORDS)
def test_lsb(x: int) -> None:
    assume(x)
    assert run(call_lsb, bits._plain_lsb, x) == len(bin(x)) - len(bin(x).rstrip("0"))


@pytest.mark.parametrize("place", [0, 1, 31, 32, 62, 63])
def test_lsb_of_each_end(place: int) -> None:
    assert run(call_lsb, bits._plain_lsb, 1 << place) == place
    assert run(call_lsb, bits._plain_lsb, MASK ^ ((1 << place) - 1)) == place


@given(x=WORDS)
def test_byte_swap(x: int) -> None:
    swapped = run(call_byte_swap, bits._plain_byte_swap, x)
    assert f"{swapped:016x}" == "".join(reversed([f"{x:016x}"[i : i + 2] for i in range(0, 16, 2)]))


@given(a=WORDS, b=WORDS)
def test_subtract(a: int, b: int) -> None:
    assert run(call_subtract, bits._plain_subtract, a, b) == (a - b) % 2**64


def test_subtract_wraps_round() -> None:
    assert run(call_subtract, bits._plain_subtract, 0, 1) == MASK


@given(x=WORDS, mask=WORDS)
def test_plain_extract_bits_gathers_the_bits_under_the_mask(x: int, mask: int) -> None:
    gathered = "".join(
        bit for bit, kept in zip(f"{x:064b}", f"{mask:064b}", strict=True) if kept == "1"
    )
    assert int(bits._plain_extract_bits(np.uint64(x), np.uint64(mask))) == int(gathered or "0", 2)


@pytest.mark.skipif(not bits.HAS_PEXT, reason="this processor has no PEXT")
def test_extract_bits() -> None:
    function = find_extract_bits()

    @given(x=WORDS, mask=WORDS)
    def check(x: int, mask: int) -> None:
        run(function, bits._plain_extract_bits, x, mask)

    check()


@given(value=WORDS, other=WORDS, index=st.integers(0, 3))
def test_words_are_stored_where_they_are_loaded_from(value: int, other: int, index: int) -> None:
    words = np.full(4, other, dtype=np.uint64)
    address, place = np.uint64(words.ctypes.data), np.uint64(index)
    for store, load in (
        (call_store_word, bits._plain_load_word),
        (bits._plain_store_word, call_load_word),
    ):
        words[:] = other
        store(address, place, np.uint64(value))
        assert int(load(address, place)) == value
        expected = [other] * 4
        expected[index] = value
        assert words.tolist() == expected


def test_clock_is_the_monotonic_one() -> None:
    for function in (call_read_clock, bits._plain_read_clock):
        before = time.monotonic_ns()
        now = int(function())
        assert before <= now <= time.monotonic_ns()


@given(x=WORDS)
def test_single_bits(x: int) -> None:
    assert bool(bits.is_single(np.uint64(x))) == (x.bit_count() == 1)


@pytest.mark.parametrize("square", range(64))
def test_bit(square: int) -> None:
    here = np.uint64(bits.bit(np.uint64(square)))
    assert int(here) == 1 << square
    assert bits.is_single(here)


@pytest.mark.skipif(not IS_JIT_ON, reason="without the JIT there is no compiled code")
def test_results_are_unsigned_words() -> None:
    for function in (call_popcount, call_lsb, call_byte_swap, bits.bit):
        function(np.uint64(8))
        (signature,) = function.overloads.values()
        assert str(signature.signature.return_type) == "uint64"
