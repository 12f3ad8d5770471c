"""Eight bytes at once in compiled loops: Numba has no unaligned load and no count of zeros."""

from collections.abc import Callable
from typing import Any

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


# As compiled code calls them: without the typing context, of which type checkers do not know.
load_word: Any = _load_word
trailing_zeros: Any = _trailing_zeros
leading_zeros: Any = _leading_zeros
