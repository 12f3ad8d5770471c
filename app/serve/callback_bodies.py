"""Checks the body of a request for a Dash callback.

Dash does not check it: a malformed body raises a KeyError deep inside Dash, so its form is checked
before. Its values are compared with the types that the callback declares where the callback fails:
then the page that sent them is told, and no error of ours is reported.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints, is_typeddict

# Properties that Dash's own callbacks read.
_OF_ADDRESSES: Final = ("pathname", "search")


def callback_problem(body: Any, callbacks: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is wrong with a body; empty if a callback can be called with it.

    Args:
        body: The decoded JSON.
        callbacks: Dash's `callback_map`: by output the declared inputs and states.
    """
    if not isinstance(body, dict):
        return "the body is no JSON object"
    name = body.get("output")
    if not isinstance(name, str) or "callback" not in callbacks.get(name, {}):
        return f"no callback has the output {str(name)[:100]!r}"
    declared, changed = callbacks[name], body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(one, str) for one in changed):
        return "changedPropIds is no list of texts"
    for key, expected in (("inputs", declared["inputs"]), ("state", declared["state"])):
        problem = _values_problem(key, body.get(key, []), expected)
        if problem:
            return problem
    return _outputs_problem(body.get("outputs", []), declared["output"])


def _values_problem(key: str, values: Any, expected: Sequence[Mapping[str, Any]]) -> str:
    if not isinstance(values, list) or len(values) != len(expected):
        return f"{key} is no list of {len(expected)} values"
    for value, wanted in zip(values, expected, strict=True):
        if not _is_place(value, wanted["id"], wanted["property"]):
            return f"{key} lacks {wanted['id']}.{wanted['property']}"[:200]
        if wanted["property"] in _OF_ADDRESSES and not isinstance(value.get("value"), str | None):
            return f"{wanted['property']} is no text"
    return ""


def _outputs_problem(outputs: Any, declared: Any) -> str:
    wanted = declared if isinstance(declared, (list, tuple)) else [declared]
    places = outputs if isinstance(declared, (list, tuple)) else [outputs]
    if not isinstance(places, list) or len(places) != len(wanted):
        return f"outputs is no list of {len(wanted)} places"
    for one, output in zip(places, wanted, strict=True):
        if not _is_place(one, output.component_id_str(), output.component_property):
            return f"outputs lacks {output.component_id_str()}"[:200]
    return ""


def _is_place(part: Any, wanted: str, prop: str) -> bool:
    """Return whether a value names a component, or a list names some that match a pattern."""
    name = json.loads(wanted) if wanted.startswith("{") else wanted
    if isinstance(name, dict) and any(isinstance(value, list) for value in name.values()):
        return isinstance(part, list) and all(
            isinstance(one, dict) and isinstance(one.get("id"), dict)
            and one.get("property") == prop for one in part
        )  # fmt: skip
    return isinstance(part, dict) and (part.get("id"), part.get("property")) == (name, prop)


def values_of(body: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a callback in a body of the right form."""
    places = [*body.get("inputs", []), *body.get("state", [])]
    return [
        [one.get("value") for one in place] if isinstance(place, list) else place.get("value")
        for place in places
    ]


def misfit(function: Callable[..., Any], values: Sequence[Any]) -> str:
    """Return which value does not have the type that a function declares; empty if all do."""
    hints = get_type_hints(function)
    for name, value in zip(inspect.signature(function).parameters, values, strict=False):
        if name in hints and not _fits(value, hints[name]):
            return f"{name.removesuffix('_')} is {str(value)[:40]!r}, which no page sends"
    return ""


def _fits(value: Any, hint: Any) -> bool:
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if is_typeddict(kind):
        fields = get_type_hints(kind)
        return isinstance(value, dict) and all(
            name in value and _fits(value[name], fields[name]) for name in fields
        )
    if kind in (dict, Mapping):
        return isinstance(value, dict) and all(_fits(one, parts[1]) for one in value.values())
    if kind in (list, Sequence):
        return isinstance(value, list) and all(_fits(one, parts[0]) for one in value)
    if kind in (int, float):
        kinds = (int,) if kind is int else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)
