"""Many bytes at once in compiled loops: Numba has no unaligned words, byte masks or bit counts.

The vectors are LLVM's own, which become whatever the processor at hand has: two of AVX2's
registers, one of AVX-512's, four of SSE2's or NEON's.
"""

from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

_Generator = tuple[Any, Callable[..., Any]]


@intrinsic
def _load_word(typing: Any, data: Any, at: Any) -> _Generator:  # noqa: ARG001
    """The 8 bytes of a uint8 array from an index on, as a little-endian uint64; no bound check."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        word.align = 1
        return word

    return types.uint64(data, types.intp), generate


@intrinsic
def _store_word(typing: Any, data: Any, at: Any, word: Any) -> _Generator:  # noqa: ARG001
    """Put a uint64 into a uint8 array, little-endian, from an index on; no bound check."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        word_place = builder.bitcast(place, ir.IntType(64).as_pointer())
        builder.store(arguments[2], word_place, align=1)
        return context.get_dummy_value()

    return types.void(data, types.intp, types.uint64), generate


@intrinsic
def _trailing_zeros(typing: Any, word: Any) -> _Generator:  # noqa: ARG001
    """How many low bits of a uint64 are 0; 64 of none set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def _leading_zeros(typing: Any, word: Any) -> _Generator:  # noqa: ARG001
    """How many high bits of a uint64 are 0; 64 of none set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


_MASKED_BYTES: Final = 64


@intrinsic
def _byte_masks(typing: Any, data: Any, at: Any) -> _Generator:  # noqa: ARG001
    """What the 64 bytes of a uint8 array from an index on are, a bit a byte, the first lowest.

    Four uint64: not a decimal digit; a blank; a newline; the digit 0. No bound check.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        vector = ir.VectorType(ir.IntType(8), _MASKED_BYTES)
        octets = builder.load(builder.bitcast(place, vector.as_pointer()))
        octets.align = 1

        def every(octet: int) -> Any:
            return ir.Constant(vector, [octet] * _MASKED_BYTES)

        digits = builder.sub(octets, every(ord("0")))
        found = (
            builder.icmp_unsigned(">", digits, every(9)),
            builder.icmp_unsigned("==", octets, every(ord(" "))),
            builder.icmp_unsigned("==", octets, every(ord("\n"))),
            builder.icmp_unsigned("==", octets, every(ord("0"))),
        )
        masks = [builder.bitcast(bits, ir.IntType(64)) for bits in found]
        return context.make_tuple(builder, signature.return_type, masks)

    return types.UniTuple(types.uint64, 4)(data, types.intp), generate


# As compiled code calls them: without the typing context, of which type checkers do not know.
load_word: Any = _load_word
store_word: Any = _store_word
trailing_zeros: Any = _trailing_zeros
leading_zeros: Any = _leading_zeros
byte_masks: Any = _byte_masks
