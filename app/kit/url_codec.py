"""Words of which every page's URL query is made: versions and their upgrades, numbers, lists."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlencode

from data.errors import SelectionError
from data.selection import FACETS, Selection, Value, check_value

Parameters = dict[str, list[str]]
Upgraders = Mapping[int, Callable[[Parameters], Parameters]]
_LONGEST_SHOWN = 40


def read_parameters(query: str, version: int, upgraders: Upgraders) -> Parameters:
    """Split a URL query, and bring it from the version that it names to the present one.

    Args:
        query: With or without its question mark; without `v` it counts as present.
        version: The present version.
        upgraders: By an old version, what turns its parameters into the next one's.
    Raises:
        SelectionError: A version from the future, or one that never was.
    """
    parameters = parse_qs(query.lstrip("?"), keep_blank_values=True)
    text = parameters.pop("v", [str(version)])[-1]
    if not is_version(text) or int(text) > version:
        raise SelectionError(
            f"the link has version {text[:_LONGEST_SHOWN]!r}; this wattlas reads up to {version}: "
            "it may be newer"
        )
    for old in range(int(text), version):
        if old not in upgraders:
            raise SelectionError(f"the link has version {old}, which never was")
        parameters = upgraders[old](parameters)
    return parameters


def has_state(query: str) -> bool:
    """Whether a URL query says anything; without a word the page chooses what to show."""
    return bool(parse_qs(query.lstrip("?"), keep_blank_values=True))


def write_query(
    version: int, selection: Selection, keys: Mapping[str, str], state: object, default: object
) -> str:
    """Write a state's query string, defaults left out: the same state, the same text.

    Args:
        keys: By parameter, the attribute of `state` that it holds, in order.
        default: A state whose values need not be written.
    """
    pairs = [("v", str(version)), *filter_pairs(selection)]
    for key, attribute in keys.items():
        value = getattr(state, attribute)
        if value != getattr(default, attribute):
            pairs.append((key, write_value(value)))
    return urlencode(pairs)


def read_query(
    query: str,
    version: int,
    upgraders: Upgraders,
    keys: Mapping[str, str],
    parse: Callable[[str, str], Any],
) -> dict[str, Any]:
    """Read a state's query string, of this version or an older one, into its attributes.

    Args:
        keys: As in `write_query`.
        parse: Turns a parameter's name and text into its value.

    Returns:
        `selection` and the attributes that the query names.
    Raises:
        SelectionError: A version from the future, an unknown key, or a bad value; the message
            names it.
    """
    parameters = read_parameters(query, version, upgraders)
    found: dict[str, Any] = {"selection": take_filters(parameters)}
    for key, texts in parameters.items():
        if key not in keys:
            raise SelectionError(f"the link has an unknown part {key!r}")
        found[keys[key]] = parse(key, texts[-1])
    return found


def filter_pairs(selection: Selection) -> list[tuple[str, str]]:
    """Write the filters as parameters: the same filters, the same pairs."""
    return [
        (name, text) for name in FACETS for text in sorted(map(write_value, selection.values(name)))
    ]


def take_filters(parameters: Parameters) -> Selection:
    """Read the filters and take them out of the parameters.

    Raises:
        SelectionError: A value of the wrong kind; the message names filter and value.
    """
    values = {}
    for name in FACETS:
        found = [_filter_value(name, text) for text in parameters.pop(name, [])]
        values[name] = list(dict.fromkeys(found))
    return Selection.of(**values)


def _filter_value(name: str, text: str) -> Value:
    facet = FACETS[name]
    value: Value = text
    if facet.is_number and text != facet.null_word:
        value = read_number(name, text)
    check_value(facet, value)
    return value


def pairs_of(raw: Mapping[str, Any], version: int) -> list[tuple[str, str]]:
    """Flatten controls' values: None and empty texts say nothing, lists repeat their key."""
    pairs = [("v", str(version))]
    for key, value in raw.items():
        values: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
        pairs += [(key, write_value(v)) for v in values if v is not None and v != ""]
    return pairs


def write_value(value: object) -> str:
    """Write a value as a query has it: booleans 1 and 0, whole numbers without a point."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def read_number(name: str, text: str) -> float:
    """Read a finite number.

    Raises:
        SelectionError: It is none; the message has the parameter's name and the text.
    """
    try:
        value = float(text)
    except ValueError:
        raise SelectionError(f"{name} is {text!r}, expected a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise SelectionError(f"{name} is {text!r}, expected a finite number")
    return value


def read_flag(name: str, text: str) -> bool:
    """Read 0 or 1; errors as `read_number`."""
    if text not in ("0", "1"):
        raise SelectionError(f"{name} is {text!r}, expected 0 or 1")
    return text == "1"


def read_lake_version(text: str) -> int:
    """Read a version of the lake; errors as `read_number`."""
    if not is_version(text):
        raise SelectionError(f"lake is {text[:_LONGEST_SHOWN]!r}, expected a version number")
    return int(text)


def is_version(text: str) -> bool:
    """Whether it is a whole number as we write them: `str.isdigit` also takes superscripts."""
    return text.isascii() and text.isdecimal() and len(text) <= 18
