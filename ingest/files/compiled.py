"""Loops over lines and rows: Numba compiles them once for a machine, LLVM alone loads them again.

To import Numba and to load its own cache takes more processor time than all else in an `add` of a
few small logs. So Numba is imported only to compile. What it compiled is kept as one object file a
loop. A loop touches only arrays that its caller allocated: its code refers to nothing of Numba's.
"""

import ctypes
import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from struct import Struct
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

if TYPE_CHECKING:
    import hashlib as digests

_OPTIONS: Final = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    # Without Numba's allocator.
    "_nrt": False,
}
# Of an object, before the fields of its type.
_HEAD_BYTES: Final = object.__basicsize__
_ENTRY: Final = "wattlas_"
_CALLED: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)
_DIGEST_BYTES: Final = hashlib.sha256().digest_size
# Object files of one loop: each change of its code, of Numba and of the processor makes another.
_MOST_KEPT: Final = 12
_lock: Final = threading.RLock()


class CompiledPart:
    """A function that only loops call. Compiled code cannot be called from Python through it."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.function = function
        self._options = options

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher of the function."""
        import numba

        njit: Any = numba.njit  # its stubs lack some options
        return njit(**_OPTIONS, **self._options)(self.function)

    @cached_property
    def _numba_type_(self) -> Any:
        """The type by which Numba compiles a call of this object."""
        from numba import types

        return types.Dispatcher(self.dispatcher)

    def add_to(self, digest: "digests._Hash") -> None:
        """Add the code of the function, the constants and the parts that it uses."""
        digest.update(repr(sorted(self._options.items())).encode())
        for code in _codes(self.function.__code__):
            constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
            digest.update(code.co_code + repr((constants, code.co_names)).encode())
            for name in code.co_names:
                value = self.function.__globals__.get(name)
                if isinstance(value, CompiledPart):
                    value.add_to(digest)
                elif isinstance(value, np.ndarray):
                    digest.update(value.dtype.str.encode() + value.tobytes())
                elif isinstance(value, int | float | tuple | np.generic):
                    digest.update(repr(value).encode())


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


class CompiledWord(CompiledPart):
    """An operation that Numba lacks: the function gives its type and generates its instructions."""

    @cached_property
    def _numba_type_(self) -> Any:
        from numba import types
        from numba.core.extending import intrinsic
        from numba.core.typing.templates import make_intrinsic_template

        name = self.function.__name__
        made = intrinsic(self.function)
        return types.Function(make_intrinsic_template(made, self.function, name))


class CompiledLoop(CompiledPart):
    """A loop that Python calls, without the GIL, for arguments of these types alone.

    Args:
        kinds: Type of each argument, as Numba writes it: `int64`, `float64`, `uint8[::1]` for an
            array without gaps, `int64[:, :]` for one with rows anywhere.
        results: Number of int64 that it returns.
    """

    def __init__(self, function: Callable[..., Any], kinds: tuple[str, ...], results: int) -> None:
        super().__init__(function)
        self._arguments = [_Argument(kind) for kind in kinds]
        self._words = Struct("".join(argument.word_kind for argument in self._arguments))
        self._results = results
        self._call: Any = None

    def __call__(self, *values: Any) -> Any:
        """Run the loop.

        Returns:
            None without results, else an integer or a tuple of them.

        Raises:
            TypeError: An argument has another type.
        """
        if self._call is None:
            self.load()
        pairs = zip(self._arguments, values, strict=True)
        words = self._words.pack(*[argument.word(value) for argument, value in pairs])
        results = (ctypes.c_int64 * max(1, self._results))()
        if self._call(results, words):
            raise AssertionError(f"BUG: {self.function.__name__} raised an error")
        return tuple(results) if self._results > 1 else results[0] if self._results else None

    def is_kept(self) -> bool:
        """Return whether the machine has the compiled loop."""
        return self._call is not None or self._path.exists()

    def load(self) -> None:
        """Load the compiled loop; compile and keep it if the machine does not have it."""
        with _lock:
            if self._call is not None:
                return
            cached = _read_kept(self._path)
            if cached is None:
                cached = self._compile()
                _keep(self._path, *cached)
            name, code = cached
            self._call = _CALLED(_address_of(name, code))

    @cached_property
    def _path(self) -> Path:
        """The object file of this code, these types, this Numba and this processor."""
        digest = hashlib.sha256(_surroundings())
        digest.update(_entry_of("", self._arguments).encode())
        digest.update(repr([argument.kind for argument in self._arguments]).encode())
        self.add_to(digest)
        folder = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "__pycache__"
        return Path(folder, f"{self.function.__name__}-{digest.hexdigest()[:32]}.o")

    def _compile(self) -> tuple[str, bytes]:
        """Return the name of the loop's symbol, and its object file."""
        import llvmlite.binding as llvm
        from numba.core.codegen import get_host_cpu_features

        types = tuple(argument.numba_type() for argument in self._arguments)
        self.dispatcher.compile(types)
        name = self.dispatcher.overloads[types].fndesc.llvm_func_name
        entry = _entry_of(name, self._arguments)
        module = llvm.parse_assembly(self.dispatcher.inspect_llvm(types) + entry)
        return _ENTRY + name, _target_machine(get_host_cpu_features()).emit_object(module)


class _Argument:
    """The type of an argument, passed as a word: a number, or the address of an array's object."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        name, _, dimensions = kind.partition("[")
        self.dtype = np.dtype(name)
        self.ndim = dimensions.count(":") - dimensions.count("::")
        self._is_whole = "::1" in dimensions
        self.word_kind = "d" if self.dtype.kind == "f" and not self.ndim else "q"

    def numba_type(self) -> Any:
        from numba import from_dtype, types

        scalar = from_dtype(self.dtype)
        layout: Literal["C", "A"] = "C" if self._is_whole else "A"
        return types.Array(scalar, self.ndim, layout) if self.ndim else scalar

    def word(self, value: Any) -> Any:
        if not self.ndim:
            return value
        if (
            not isinstance(value, np.ndarray)
            or value.dtype != self.dtype
            or value.ndim != self.ndim
            or (self._is_whole and not value.flags.c_contiguous)
        ):
            raise TypeError(f"BUG: a compiled loop takes {self.kind}, not {value!r:.80}")
        return id(value)


def _entry_of(name: str, arguments: Sequence[_Argument]) -> str:
    """Write the function that Python calls, in LLVM's assembly: it loads the arguments.

    Numba's code takes an array as two addresses for its allocator, number of items, bytes of an
    item, address, length and then stride in bytes of each dimension. The object of an array has
    these in the public structure `PyArrayObject_fields`: address, dimensions, lengths, strides.
    """
    lines, passed = ["%failure = alloca ptr"], ["ptr %results", "ptr %failure"]

    def load(kind: str, base: str, offset: int) -> str:
        at = len(lines)
        lines.append(f"%p{at} = getelementptr i8, ptr {base}, i64 {offset}")
        lines.append(f"%v{at} = load {kind}, ptr %p{at}")
        return f"%v{at}"

    for index, argument in enumerate(arguments):
        if not argument.ndim:
            kind = "double" if argument.word_kind == "d" else "i64"
            passed.append(f"{kind} {load(kind, '%words', 8 * index)}")
            continue
        array = load("ptr", "%words", 8 * index)
        data, shape, strides = (load("ptr", array, _HEAD_BYTES + at) for at in (0, 16, 24))
        lengths = [load("i64", shape, 8 * each) for each in range(argument.ndim)]
        items = lengths[0]
        for each, length in enumerate(lengths[1:]):
            lines.append(f"%n{index}.{each} = mul i64 {items}, {length}")
            items = f"%n{index}.{each}"
        passed += ["ptr null", "ptr null", f"i64 {items}", f"i64 {argument.dtype.itemsize}"]
        passed += [f"ptr {data}", *(f"i64 {length}" for length in lengths)]
        passed += [f"i64 {load('i64', strides, 8 * each)}" for each in range(argument.ndim)]
    lines += [f"%status = call i32 @{name}({', '.join(passed)})", "ret i32 %status"]
    body = "\n".join(lines)
    return f"\ndefine i32 @{_ENTRY}{name}(ptr %results, ptr %words) {{\n{body}\n}}\n"


@cache
def _surroundings() -> bytes:
    """Return the versions of Numba and LLVM, and the processor."""
    import llvmlite
    import llvmlite.binding as llvm

    # Its place is found without an import.
    numba = find_spec("numba")
    origin = Path(numba.origin if numba and numba.origin else "")
    version = origin.with_name("_version.py").read_bytes()
    processor = [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return repr([version, llvmlite.__version__, *processor]).encode()


def _read_kept(path: Path) -> tuple[str, bytes] | None:
    """Return the symbol's name and the code of a kept loop; None if there is none that is whole."""
    with suppress(OSError):
        name, _, rest = path.read_bytes().partition(b"\n")
        digest, code = rest[:_DIGEST_BYTES], rest[_DIGEST_BYTES:]
        # LLVM ends the process where it finds no object.
        if digest == hashlib.sha256(name + code).digest():
            return name.decode(), code
    return None


def _keep(path: Path, name: str, code: bytes) -> None:
    """Keep a compiled loop for the machine, unless nothing can be written there.

    Of its code before, and for other processors that use the folder, the newest are kept too.
    """
    digest = hashlib.sha256(name.encode() + code).digest()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(name.encode() + b"\n" + digest + code)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
        own = path.parent.glob(f"{path.name.rpartition('-')[0]}-*.o")
        for old in sorted(own, key=lambda each: each.stat().st_mtime, reverse=True)[_MOST_KEPT:]:
            old.unlink(missing_ok=True)


def _target_machine(features: str = "") -> Any:
    """Return LLVM's target machine for this processor, with the options of Numba's own."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=features,
        opt=3,
        reloc="static" if target.name.startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _engine() -> Any:
    """Return LLVM's engine of all loops of this process; its end would be that of their code."""
    import llvmlite.binding as llvm

    machine = _target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _address_of(name: str, code: bytes) -> int:
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine.get_function_address(name)


def compile_loop(*kinds: str, results: int = 0) -> Callable[[Callable[..., Any]], Any]:
    """Make a loop that Python calls; see `CompiledLoop`."""
    return lambda function: CompiledLoop(function, kinds, results)


def compile_part(function: Callable[..., Any]) -> Any:
    """Make a function that only loops call."""
    return CompiledPart(function)


def compile_inlined(function: Callable[..., Any]) -> Any:
    """Make a function that becomes part of the loops that call it."""
    return CompiledPart(function, forceinline=True)


def compile_word(function: Callable[..., Any]) -> Any:
    """Make an operation of a few instructions; see `CompiledWord`."""
    return CompiledWord(function)
