"""Sections of settings as TOML: columns, systems and workloads of a dataset."""

import json
import re
from collections.abc import Mapping
from typing import Final

from ingest.settings.column_names import can_be

TO_REMOVE: Final = (
    "# Remove the next line when this is right: as long as it is here, `problems` has it."
)


def key_of(name: str) -> str:
    """Return a name as a key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else text_of(name)


def text_of(text: str) -> str:
    """Return a text in quotes."""
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_of(value: object) -> str:
    """Return a text, a number, yes, a list or a table as TOML in one line."""
    if isinstance(value, Mapping):
        entries = (f"{key_of(str(key))} = {value_of(each)}" for key, each in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_of, value))}]"
    return text_of(value) if isinstance(value, str) else json.dumps(value)


def column_section(
    name: str, role: str, kind: str, keys: dict[str, str], is_given: bool = False
) -> str:
    """Return the section of a column; empty for one that the lake has."""
    if not can_be(name):
        return ""
    lines = [f"[columns.{name}]", f'role = "{role}"', f'type = "{kind}"']
    lines += [f"{key} = {text_of(value)}" for key, value in keys.items() if value]
    return "\n".join([*lines, *["given = true"] * is_given, ""])


def system_section(name: str, label: str = "") -> str:
    """Return the section of a system."""
    return f"[systems.{key_of(name)}]\nlabel = {text_of(label or name)}\n"


def loop_of(performance: str, is_load: bool) -> str:
    """Return the loop of requests: open where their rate was set, and latency is the result."""
    return "open" if is_load and performance.startswith("latency_") else "closed"


def workload_section(name: str, performance: str, loop: str = "closed") -> str:
    """Return the section of a workload: of a fixed amount of work, or of requests in a time."""
    said = f'loop = "{loop}"\nperformance_metric = "{performance}"\nlogged = false\n'
    return f"[workloads.{key_of(name)}]\n{said}"


def guessed_lines(what: str) -> list[str]:
    """Return the line that says what was guessed, and how to confirm it."""
    return [TO_REMOVE, f"guessed = {text_of(what)}"]
