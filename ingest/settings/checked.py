"""TOML files checked against declared types; errors say what, where and which value."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from data.errors import SettingsError, WattlasError

Kind = TypeVar("Kind")
Text = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Core = Annotated[int, Meta(ge=0, lt=2**31)]

_ERROR: Final = re.compile(r"(?P<what>.*?)(?: - at (?P<is_key>`key` in )?`(?P<at>\$[^`]*)`)?")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[([^\]]+)\]")
_FIELD: Final = re.compile(r"Object (contains unknown|missing required) field `(.*)`")
_WORDS: Final = {
    "`int`": "a whole number",
    "`float`": "a number",
    "`str`": "a text",
    "`bool`": "true or false",
    "`object`": "a table",
    "`array`": "a list",
    "`datetime`": "a date and time",
}


class Table(Struct, forbid_unknown_fields=True):
    """A table of a TOML file; its fields are the keys that it may have."""


def table_of(
    name: str, optional: Mapping[str, Any], required: Mapping[str, Any] | None = None
) -> type[Struct]:
    """Declare a table of optional and required keys, with the type of each."""
    keys = [(key, kind | UnsetType, UNSET) for key, kind in optional.items()]
    return defstruct(name, [*(required or {}).items(), *keys], bases=(Table,))


def parse_toml(text: str, origin: str, refusal: type[WattlasError]) -> dict[str, Any]:
    """Parse TOML.

    Args:
        origin: The file, for the error.

    Raises:
        refusal: Not TOML.
    """
    try:
        return tomllib.loads(text)
    # Also raised for a number of over 4,300 digits, and for what is nested too deeply.
    except (ValueError, RecursionError) as error:
        raise refusal(f"not TOML: {error} ({origin})") from error


def read_toml(path: Path, kind: type[Any]) -> dict[str, Any]:
    """Read a file of settings and check every key and value in it.

    Raises:
        SettingsError: It cannot be read, or as `parse_toml` and `checked`.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise SettingsError(f"cannot read settings: {error.strerror} ({path})") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"not TOML: {error} ({path})") from error
    values = parse_toml(text, str(path), SettingsError)
    checked(values, kind, str(path), SettingsError)
    return values


def checked(
    values: Mapping[str, Any], kind: type[Kind], origin: str, refusal: type[WattlasError]
) -> Kind:
    """Convert the values of a file to a type.

    Raises:
        refusal: An unknown key, a missing one, or a value of the wrong type or out of range.
    """
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise refusal(f"{_explained(str(error), values, kind)} ({origin})") from None


def _explained(message: str, values: Mapping[str, Any], kind: type[Any]) -> str:
    parts = _ERROR.fullmatch(message)
    assert parts is not None, f"BUG: {message}"
    path: list[Any] = []
    node: Any = values
    steps = [name or index for name, index in _STEP.findall(parts["at"] or "")]
    for step in [*steps, *(["..."] if parts["is_key"] else [])]:
        if step == "...":
            each = ((key, _with(values, path, {key: node[key]})) for key in node)
            step = next(key for key, alone in each if _is_bad(alone, kind))
        path.append(int(step) if isinstance(node, list) else step)
        node = node[path[-1]]
    where = "".join(f"[{s + 1}]" if type(s) is int else f".{s}" for s in path).lstrip(".")
    fault = parts["what"]
    if field := _FIELD.fullmatch(fault):
        key = f"{where}.{field[2]}".lstrip(".")
        if field[1] == "missing required":
            return f"{where} lacks {field[2]!r}".lstrip()
        return f"unknown key {key!r}, known: {', '.join(_keys_at(kind, steps))}"
    if not fault.startswith(("Expected", "Invalid")):
        return f"{where}: {fault}"
    for word, plain in _WORDS.items():
        fault = fault.replace(word, plain)
    value = path[-1] if parts["is_key"] else node
    shown = str(value) if hasattr(value, "isoformat") else repr(value)
    return f"{where} cannot be {shown}: {fault[0].lower()}{fault[1:]}"


def _is_bad(values: Any, kind: type[Any]) -> bool:
    try:
        msgspec.convert(values, kind)
    except msgspec.ValidationError:
        return True
    return False


def _with(values: Any, path: list[Any], new: Any) -> Any:
    """Return values in which a part is another, without changing them."""
    if not path:
        return new
    copy = values.copy()
    copy[path[0]] = _with(values[path[0]], path[1:], new)
    return copy


def _keys_at(kind: Any, steps: list[str]) -> tuple[str, ...]:
    """Return the keys of the table at a place of a type."""
    kinds: list[Any] = [msgspec.inspect.type_info(kind)]
    inner: Any
    for step in steps:
        for info in kinds:
            if isinstance(info, msgspec.inspect.StructType):
                (inner,) = (each.type for each in info.fields if each.encode_name == step)
            else:
                inner = getattr(info, "value_type", None) or getattr(info, "item_type", None)
        kinds = list(getattr(inner, "types", [inner]))
    return tuple(field.encode_name for info in kinds for field in getattr(info, "fields", ()))
