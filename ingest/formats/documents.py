"""Documents of nested values: JSON, and YAML by the name of the file; fields that readers need."""

import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Final

from data.errors import FormatError
from ingest.files.text_lines import whole_text

_NAMED_YAML: Final = re.compile(r"\.ya?ml(\.\w+)?$", re.IGNORECASE)
_CLOSING: Final = {"{": "}", "[": "]"}
_PUNCTUATION: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')
# Values of a document, each as often as aliases repeat it.
_MOST_VALUES: Final = 20_000_000
_TAG: Final = "tag:yaml.org,2002:"
# As JSON and YAML 1.2 have them: 12:30 and 007 are texts, 1e-5 is a number, `no` is a word.
_SCALARS: Final = (
    ("null", r"(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9]\d*)$", list("-+0123456789")),
    ("float", r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?$", list("-+.0123456789")),
    ("float", r"(?:\.nan|\.NaN|\.NAN|[-+]?\.inf)$", list("-+.")),
    ("merge", r"<<$", ["<"]),
)
# What C's printf writes for a mean over nothing.
_NOT_JSON: Final = re.compile(r"(:\s*)-?(?:nan|inf)\b", re.IGNORECASE)
_MOST: Final = 2.0**63
# An object begins a line.
_OPENING: Final = re.compile(r"^[ \t]*\{", re.MULTILINE)


def is_yaml(name: str) -> bool:
    """Return whether the name of a file is that of YAML."""
    return _NAMED_YAML.search(name) is not None


# `[0001] a=1`, `[INFO] start`: a line of a log.
_LOG_LINE: Final = re.compile(rb"\[[^\[\]{}\"\n]{1,60}\][ \t]*[A-Za-z]")


def may_be_document(head: bytes, name: str) -> bool:
    """Return whether a file begins like a document: as JSON, or it is YAML by its name."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return is_yaml(name) or (text[:1] in (b"{", b"[") and not _LOG_LINE.match(text))


def parse_document(text: str, name: str) -> tuple[Any, bool]:
    """Parse a document; one that was cut is closed after its last whole value or line.

    Several YAML documents of a file are a list.

    Args:
        name: Of the file: it says which are YAML.

    Returns:
        The document, and whether it was cut.

    Raises:
        FormatError: It is none.
    """
    of_yaml = is_yaml(name) and not text.lstrip().startswith(("{", "["))
    parse = _parse_yaml if of_yaml else json.loads
    closed_text = text.rpartition("\n")[0] if of_yaml else close_document(text)
    for closed, is_cut in ((text, False), (closed_text, True)):
        try:
            return parse(closed), is_cut
        except (ValueError, RecursionError) as failure:
            error = failure
    kind = "YAML" if of_yaml else "JSON"
    raise FormatError(f"no {kind} document: {' '.join(str(error).split())} ({name})")


def open_nodes(document: Any, text: str) -> list[Any]:
    """Return the objects and lists of a JSON document that its text, which was cut, does not end.

    Args:
        document: As `parse_document` gives it.
    """
    nodes, node, closed = [], document, close_document(text)
    # Behind the last whole value stand the brackets that were open there.
    while not text.startswith(closed) and text[:1] in _CLOSING:
        closed = closed[:-1]
        nodes.append(node)
        node = next(reversed([*node.values()] if isinstance(node, dict) else node), None)
        if not isinstance(node, dict | list):
            break
    return nodes


def close_document(text: str) -> str:
    """Return a JSON document up to its last whole value; brackets that are open are closed."""
    open_: list[str] = []
    end, closing = 0, ""
    for punctuation in _PUNCTUATION.finditer(text):
        mark = punctuation[0]
        if mark in _CLOSING:
            open_.append(_CLOSING[mark])
        elif mark == ",":
            end, closing = punctuation.start(), "".join(reversed(open_))
        elif mark in _CLOSING.values() and open_:
            open_.pop()
            end, closing = punctuation.end(), "".join(reversed(open_))
    return text[:end] + closing


def _parse_yaml(text: str) -> Any:
    """Parse YAML to what JSON has: keys are texts.

    Raises:
        ValueError: It is none, or its aliases repeat too many values.
    """
    import yaml

    try:
        documents = [d for d in yaml.load_all(text, _loader()) if d is not None]
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    document = documents[0] if len(documents) == 1 else documents
    if _values_of(document, {}) > _MOST_VALUES:
        raise ValueError(f"its aliases repeat over {_MOST_VALUES:,} values")
    return document


@cache
def _loader() -> Any:
    """Return the loader, which makes texts of all that is neither number, switch nor null."""
    import yaml

    class Loader(yaml.CSafeLoader):
        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != f"{_TAG}merge":
                    key.tag = f"{_TAG}str"
            return super().construct_mapping(node, deep)

    for kind, form, first in _SCALARS:
        Loader.add_implicit_resolver(_TAG + kind, re.compile(form), first)
    return Loader


def _values_of(node: Any, known: dict[int, float]) -> float:
    """Return how many values a node has, each as often as aliases repeat it."""
    if not isinstance(node, dict | list):
        return 1
    if id(node) not in known:
        known[id(node)] = math.inf  # Should it contain itself.
        inner = node.values() if isinstance(node, dict) else node
        known[id(node)] = 1 + sum(_values_of(each, known) for each in inner)
    return known[id(node)]


def objects_in(text: str) -> Iterator[tuple[int, int, dict[str, Any] | Exception]]:
    """Yield where each object of a text, amid others, begins and ends, and the object.

    Of one that cannot be parsed to its end it is why; those within it follow.
    """
    decoder, position = json.JSONDecoder(), 0
    while opening := _OPENING.search(text, position):
        start = opening.end() - 1
        try:
            content, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            content, position = error, start + 1
        yield start, position, content


def with_nulls(text: str) -> str:
    """Return JSON with null for the `nan` and `inf` that C's printf writes."""
    return _NOT_JSON.sub(r"\1null", text)


def read_object(blocks: Iterable[bytes], name: str) -> dict[str, Any]:
    """Read a document that is one object; `nan` and `inf` become null.

    Raises:
        FormatError: It is none, or cut.
    """
    text = with_nulls(whole_text(blocks, name))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"no JSON document: {error} ({name})") from error
    if not isinstance(document, dict):
        raise FormatError(f"a JSON {type(document).__name__}, expected an object ({name})")
    return document


def part_of(document: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return an object inside a document; empty where it is missing or no object."""
    for key in path:
        part = document.get(key)
        if not isinstance(part, dict):
            return {}
        document = part
    return document


def number_of(values: Mapping[str, Any], key: str) -> float | None:
    """Return a number; None where it is missing, null, or more than 63 bits can hold.

    Raises:
        FormatError: It is no number.
    """
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{key} cannot be {str(value)[:60]!r}")
    return float(value) if -_MOST < value < _MOST else None


def facts_of(values: Mapping[str, Any], without: Container[str]) -> dict[str, str]:
    """Return the texts, numbers and switches of an object as text."""
    return {
        key: str(value)
        for key, value in values.items()
        if isinstance(value, str | int | float) and key not in without
    }


def text_of(values: Mapping[str, Any], key: str) -> str | None:
    """Return a text; None where it is missing, empty or something else."""
    value = values.get(key)
    return value if isinstance(value, str) and value else None
