"""Checks the body of a request for a Dash callback before Dash reads it.

Dash does not check it: a malformed body raises a KeyError deep inside Dash.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any


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


def _values_problem(key: str, found: Any, expected: Sequence[Mapping[str, Any]]) -> str:
    if not isinstance(found, list) or len(found) != len(expected):
        return f"{key} is no list of {len(expected)} values"
    for one, wanted in zip(found, expected, strict=True):
        if not _is_place(one, wanted["id"], wanted["property"]):
            return f"{key} lacks {wanted['id']}.{wanted['property']}"[:200]
    return ""


def _outputs_problem(found: Any, declared: Any) -> str:
    wanted = declared if isinstance(declared, (list, tuple)) else [declared]
    places = found if isinstance(declared, (list, tuple)) else [found]
    if not isinstance(places, list) or len(places) != len(wanted):
        return f"outputs is no list of {len(wanted)} places"
    for one, output in zip(places, wanted, strict=True):
        if not _is_place(one, output.component_id_str(), output.component_property):
            return f"outputs lacks {output.component_id_str()}"[:200]
    return ""


def _is_place(found: Any, wanted: str, prop: str) -> bool:
    """Return whether a value names a component, or a list names some that match a pattern."""
    name = json.loads(wanted) if wanted.startswith("{") else wanted
    if isinstance(name, dict) and any(isinstance(value, list) for value in name.values()):
        return isinstance(found, list) and all(
            isinstance(one, dict) and isinstance(one.get("id"), dict)
            and one.get("property") == prop for one in found
        )  # fmt: skip
    return isinstance(found, dict) and (found.get("id"), found.get("property")) == (name, prop)
