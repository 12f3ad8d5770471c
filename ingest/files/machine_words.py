"""Compiled access to many bytes at once; Numba lacks unaligned words, byte masks and bit counts.

LLVM maps the vectors to the processor's registers: two of AVX2, one of AVX-512, four of SSE2
or NEON. Numba and LLVM's writer of instructions are imported only when a loop is compiled.
"""

from collections.abc import Callable
from typing import Any, Final

from ingest.files.compiled import compile_word

_Generator = tuple[Any, Callable[..., Any]]


@compile_word
def load_word(typing: Any, data: Any, at: Any) -> _Generator:  # noqa: ARG001
    """Load 8 bytes of a uint8 array from an index as a little-endian uint64; no bounds check."""

    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(data, types.intp), generate


@compile_word
def trailing_zeros(typing: Any, word: Any) -> _Generator:  # noqa: ARG001
    """Count the low zero bits of a uint64; 64 if no bit is set."""

    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@compile_word
def leading_zeros(typing: Any, word: Any) -> _Generator:  # noqa: ARG001
    """Count the high zero bits of a uint64; 64 if no bit is set."""

    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


_MASKED_BYTES: Final = 64


@compile_word
def byte_masks(typing: Any, data: Any, at: Any) -> _Generator:  # noqa: ARG001
    """Classify 64 bytes of a uint8 array from an index; bit k of a mask is byte k. No bounds check.

    Returns four uint64 masks: not a decimal digit; a blank; a newline; the digit 0.
    """

    from llvmlite import ir
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        vector = ir.VectorType(ir.IntType(8), _MASKED_BYTES)
        octets = builder.load(builder.bitcast(place, vector.as_pointer()))
        octets.align = 1

        def every(octet: int) -> Any:
            return ir.Constant(vector, [octet] * _MASKED_BYTES)

        digits = builder.sub(octets, every(ord("0")))
        comparisons = (
            builder.icmp_unsigned(">", digits, every(9)),
            builder.icmp_unsigned("==", octets, every(ord(" "))),
            builder.icmp_unsigned("==", octets, every(ord("\n"))),
            builder.icmp_unsigned("==", octets, every(ord("0"))),
        )
        masks = [builder.bitcast(bits, ir.IntType(64)) for bits in comparisons]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 4)(data, types.intp), generate
