"""Single instructions and memory primitives for kernels, each with a plain Python twin.

Bitboards, squares and counts are uint64 throughout: mixed with a signed number, Numba would make
an int64 of them.
"""

import ctypes
import time
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types

from core.jit import intrinsic, kernel

U0 = np.uint64(0)
U1 = np.uint64(1)
U2 = np.uint64(2)
U3 = np.uint64(3)
U6 = np.uint64(6)
U7 = np.uint64(7)
U8 = np.uint64(8)
U63 = np.uint64(63)
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

_WORD = ir.IntType(64)
_MASK = 0xFFFF_FFFF_FFFF_FFFF

# PEXT (BMI2) gathers the bits under a mask; without it sliders are found by subtraction.
HAS_PEXT: bool = bool(binding.get_host_cpu_features().get("bmi2", False))


def _plain_popcount(x: Any) -> Any:
    return np.uint64(int(x).bit_count())


@intrinsic(_plain_popcount)
def popcount(_context: Any, x: Any) -> Any:
    """Return the number of bits set."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


def _plain_lsb(x: Any) -> Any:
    number = int(x)
    return np.uint64((number & -number).bit_length() - 1 if number else 64)


@intrinsic(_plain_lsb)
def lsb(_context: Any, x: Any) -> Any:
    """Return the index of the lowest bit set, 64 for zero."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


def _plain_byte_swap(x: Any) -> Any:
    return np.uint64(int.from_bytes(int(x).to_bytes(8, "little"), "big"))


@intrinsic(_plain_byte_swap)
def byte_swap(_context: Any, x: Any) -> Any:
    """Return the eight bytes (the ranks of a board of stride 8) in reverse order."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bswap(args[0])

    return types.uint64(types.uint64), generate


def _plain_extract_bits(x: Any, mask: Any) -> Any:
    number, rest, found, place = int(x), int(mask), 0, 0
    while rest:
        low = rest & -rest
        found |= bool(number & low) << place
        place += 1
        rest ^= low
    return np.uint64(found)


@intrinsic(_plain_extract_bits)
def extract_bits(_context: Any, x: Any, mask: Any) -> Any:
    """Return the bits of x under the mask, gathered at the low end (PEXT; needs `HAS_PEXT`)."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        function_type = ir.FunctionType(_WORD, [_WORD, _WORD])
        pext = builder.module.declare_intrinsic("llvm.x86.bmi.pext.64", fnty=function_type)
        return builder.call(pext, args)

    return types.uint64(types.uint64, types.uint64), generate


def _plain_subtract(a: Any, b: Any) -> Any:
    return np.uint64((int(a) - int(b)) & _MASK)


@intrinsic(_plain_subtract)
def subtract(_context: Any, a: Any, b: Any) -> Any:
    """Return a - b modulo 2**64; the plain operator would warn of the overflow."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.sub(args[0], args[1])

    return types.uint64(types.uint64, types.uint64), generate


def _plain_load_word(address: Any, index: Any) -> Any:
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)


@intrinsic(_plain_load_word)
def load_word(_context: Any, address: Any, index: Any) -> Any:
    """Return word `index` of the uint64 array at `address`, read atomically.

    An atomic read is one that the compiler may not hoist out of a loop: another thread may write.
    """

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        place = builder.gep(builder.inttoptr(args[0], _WORD.as_pointer()), [args[1]])
        return builder.load_atomic(place, "monotonic", 8)

    return types.uint64(types.uint64, types.uint64), generate


def _plain_store_word(address: Any, index: Any, value: Any) -> None:
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value = int(value)


@intrinsic(_plain_store_word)
def store_word(_context: Any, address: Any, index: Any, value: Any) -> Any:
    """Write word `index` of the uint64 array at `address`, atomically."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        place = builder.gep(builder.inttoptr(args[0], _WORD.as_pointer()), [args[1]])
        builder.store_atomic(args[2], place, "monotonic", 8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, types.uint64), generate


def _plain_read_clock() -> Any:
    return np.uint64(time.monotonic_ns())


@intrinsic(_plain_read_clock)
def read_clock(_context: Any) -> Any:
    """Return the monotonic clock in nanoseconds, the one that `time.monotonic_ns` reads."""

    def generate(_context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), _WORD.as_pointer()])
        name = "clock_gettime"
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, function_type, name)
        with builder.goto_entry_block():
            room = builder.alloca(_WORD, 2)
        builder.call(function, [ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC), room])
        seconds = builder.load(room)
        nanoseconds = builder.load(builder.gep(room, [ir.Constant(_WORD, 1)]))
        return builder.add(builder.mul(seconds, ir.Constant(_WORD, 10**9)), nanoseconds)

    return types.uint64(), generate


@kernel
def bit(square: Any) -> Any:
    """Return the bitboard of one square."""
    return U1 << square


@kernel
def is_single(x: Any) -> Any:
    """Return whether exactly one bit is set."""
    return x != U0 and (x & (x - U1)) == U0
