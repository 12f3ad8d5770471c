"""Change what a proposal takes columns for, as a person says: the text of its settings.

A proposal is paragraphs. Of a table each column has a line, as `blocks.py` writes it; parts of
paths are groups of a pattern, with a section each.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from data.declared import Column
from data.errors import SettingsError
from data.schema import MEASUREMENTS
from ingest.proposals.corrected_columns import (
    BY_HAND,
    TARGETS,
    Place,
    changed,
    is_like,
    kind_of,
    preference_of,
    retold,
    role_in,
)
from ingest.proposals.name_tokens import renamed
from ingest.proposals.sections import (
    TO_REMOVE,
    column_section,
    key_of,
    text_of,
    value_of,
    workload_section,
)
from ingest.settings.column_names import clean_name
from ingest.settings.units import doubts_in

_GROUP: Final = re.compile(r"\(\?P<(\w+)>")
_COLUMNS: Final = re.compile(r"\[(?:tables|names)\.columns\]")
_OF_LINES: Final = (
    *("to", "name", "role", "unit", "better", "given", "scale", "scale_by", "values", "wraps_at"),
    "drop",
)


class ProposalText:
    """The text of a proposal while it is corrected."""

    def __init__(self, text: str) -> None:
        self._paragraphs = text.rstrip("\n").split("\n\n")
        self._touched: set[int] = set()
        self._left: set[str] = set()

    def places(self) -> list[Place]:
        """Return where columns are, in the order of the text."""
        places = []
        for at, entry in self.entries():
            example = re.search(r"such as (.+)", self._paragraphs[at])
            table = example[1] if example else "the files"
            for name, said in entry.get("columns", {}).items():
                keys = {"to": said} if isinstance(said, str) else said
                places.append(Place(at, name, table, keys))
            groups = dict.fromkeys(_GROUP.findall(entry.get("pattern", "")))
            places += [Place(at, each, table, None) for each in groups if each != "variant"]
        return places

    def correct(
        self, place: Place, word: str, others: Column | None = None, apart: str = ""
    ) -> str:
        """Take a column for what a word says; return what it was taken for.

        Args:
            word: A role, a direction, a column of the lake, or a unit.
            others: The lake's column that other datasets have too.
            apart: What the column is called instead, if it is another one then.

        Raises:
            SettingsError: It cannot be that; the message says why.
        """
        if place.name not in (there.name for there in self.places() if there.at == place.at):
            # The same part of paths of other files.
            return self._tell(place, word)
        at, before = self._said(place)
        after = changed(before, word, place)
        if others is not None and "to" not in after and not is_like(after, others):
            after["name"] = after["title"] = apart
        self._left.add(place.aim)
        if place.said is None:
            self._put_path(place, at, after)
        elif at and "to" not in after and "name" not in after:
            self._paragraphs[at] = _section(place.said["to"], after)
            self._put(place, {"to": place.said["to"], "values": after.get("values")})
        else:
            self._put(place, after)
        self._touched.add(place.at)
        return self._tell(place, word) or role_in(before)

    def confirm(self) -> None:
        """Take all that is not corrected as right."""
        for at, entry in [*self.entries()]:
            if "guessed" in entry and not entry.get("confirmed"):
                self._add_key(at, "confirmed = true")
                lines = self._paragraphs[at].split("\n")
                self._paragraphs[at] = "\n".join(line for line in lines if line != TO_REMOVE)

    def told(self, place: Place) -> list[str]:
        """Return what the columns of a place's table are taken for, in a few lines."""
        lines = self._paragraphs[place.at].split("\n")
        return [line.lstrip("# ") for line in lines if line.startswith("#   ")]

    def finished(self) -> str:
        """Return the text.

        Raises:
            SettingsError: Nothing tells the runs of a table apart, or two columns are one.
        """
        aims: dict[str, set[str]] = {}
        for at, entry in self.entries():
            aims.setdefault(entry.get("workload", ""), set()).update(self._aims(at))
            if at in self._touched and "refuse" not in entry:
                self._check(at, entry)
        own = {name: said["role"] for _, name, said in self._sections("columns")}
        metrics = {n for n, role in own.items() if role == "metric"} | MEASUREMENTS.keys() - own
        for at, name, work in self._sections("workloads"):
            there = aims.get(name, set()) & metrics
            if work["performance_metric"] in self._left - there:
                costs = sorted(there - {"energy_j", "power_w"}, key=preference_of)
                self._paragraphs[at] = (
                    workload_section(name, costs[0], work["loop"]).rstrip() if costs else ""
                )
        return "\n\n".join(filter(None, self._paragraphs)) + "\n"

    def _parsed(self) -> Iterator[tuple[int, dict[str, Any]]]:
        yield from ((at, tomllib.loads(text)) for at, text in enumerate(self._paragraphs))

    def entries(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the entries of tables and names, each with the number of its paragraph."""
        for at, parsed in self._parsed():
            for entry in (*parsed.get("tables", ()), *parsed.get("names", ())):
                yield at, entry

    def _sections(self, kind: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
        for at, parsed in self._parsed():
            yield from ((at, name, said) for name, said in parsed.get(kind, {}).items())

    def _said(self, place: Place) -> tuple[int, dict[str, Any]]:
        """Return all that is said of a column, and the paragraph of its own section; 0 for none."""
        said = dict(place.said or {"to": place.aim})
        for at, name, section in self._sections("columns"):
            if name == place.aim:
                return at, {**section, **{k: v for k, v in said.items() if k == "values"}}
        return 0, said

    def _put(self, place: Place, said: Mapping[str, Any]) -> None:
        """Write what the line of a column says, and that a person corrected it."""
        said = {key: said[key] for key in _OF_LINES if said.get(key)}
        text = said["to"] if [*said] == ["to"] else said
        lines = self._paragraphs[place.at].split("\n")
        first = next(at for at, line in enumerate(lines) if _COLUMNS.fullmatch(line))
        for at in range(first + 1, len(lines)):
            if place.name in tomllib.loads(lines[at]):
                lines[at] = f"{key_of(place.name)} = {value_of(text)}  # {BY_HAND}"
        self._paragraphs[place.at] = "\n".join(lines)

    def _put_path(self, place: Place, at: int, after: dict[str, Any]) -> None:
        """Write the section of a part of paths; what is a column of the lake has none."""
        other = clean_name(after.get("name", f"{place.name} of path"), "text")
        name = after.get("to") or (place.name if at and "name" not in after else other)
        for number, entry in self.entries():
            old = text_of(entry.get("pattern", ""))
            new = renamed(old, {place.name: name})
            self._paragraphs[number] = self._paragraphs[number].replace(old, new)
        kind = TARGETS.get(place.name, "text")
        section = (
            "" if "to" in after else _section(name, {"type": kind, "title": place.name, **after})
        )
        if at:
            self._paragraphs[at] = section
        else:
            self._paragraphs.append(section)

    def _tell(self, place: Place, word: str) -> str:
        """Say in the entry and its comments that a column was corrected; return what was there,
        such as `set: threads (4)`.
        """
        entry = next(entry for at, entry in self.entries() if at == place.at)
        corrected = dict(entry.get("corrected", {}))
        words = {kind_of(each): each for each in corrected.get(place.name, word).split(", ")}
        corrected[place.name] = ", ".join((words | {kind_of(word): word}).values())
        lines = self._paragraphs[place.at].split("\n")
        comments = [n for n, line in enumerate(lines) if line.startswith("#   ")]
        told = [lines[n][4:] for n in comments] or [entry.get("guessed", "")]
        gone = self._left.difference(self._aims(place.at))
        kept = [line for line in told if line.removeprefix("performance: ") not in gone]
        kept = [line for line in kept if not line.startswith("doubtful: ")]
        there = ((p.name, p.said) for p in self.places() if p.at == place.at and p.said)
        doubts = doubts_in((n, said.get("doubt", ""), said.get("instead", "")) for n, said in there)
        kept += [f"doubtful: {doubt}" for _, _, doubt in doubts]
        was, kept = retold(kept, place.name, corrected)
        if comments:
            lines[comments[0] : comments[-1] + 1] = [f"#   {line}" for line in kept]
        if "guessed" in entry:
            at = next(n for n, line in enumerate(lines) if line.startswith("guessed = "))
            lines[at] = f"guessed = {text_of('; '.join(kept))}"
        kept = [line for line in lines if not line.startswith("corrected = ")]
        self._paragraphs[place.at] = "\n".join(kept)
        self._add_key(place.at, f"corrected = {value_of(corrected)}")
        return was

    def _add_key(self, at: int, line: str) -> None:
        lines = self._paragraphs[at].split("\n")
        first = next(n for n, each in enumerate(lines) if each.startswith("[["))
        self._paragraphs[at] = "\n".join([*lines[: first + 1], line, *lines[first + 1 :]])

    def _aims(self, at: int) -> list[str]:
        return [place.aim for place in self.places() if place.at == at and place.said]

    def _check(self, at: int, entry: Mapping[str, Any]) -> None:
        """See that the runs of a table are told apart, and that each column goes to its own.

        Raises:
            SettingsError: They are not.
        """
        places = [place for place in self.places() if place.at == at]
        aims = [aim for aim in self._aims(at) if aim]
        if twice := sorted({aim for aim in aims if aims.count(aim) > 1}):
            both = " and ".join(p.name for p in places if p.said and p.aim == twice[0])
            raise SettingsError(f"{both} of {places[0].table} would both be {twice[0]}")
        roles = {role_in(self._said(place)[1]) for place in places}
        rows = re.search(r"([\d,]+) rows", self._paragraphs[at])
        shaped = {"unpivot", "parts", "split"} & entry.keys()
        if roles <= {"metric", "label", "left out"} and rows and rows[1] != "1" and not shaped:
            raise SettingsError(
                f"no column of {places[0].table} would be set: nothing would tell its {rows[1]} "
                "runs apart; correct one to `knob`, or to `replicate` if it numbers repetitions"
            )


def corrections_in(text: str) -> list[tuple[str, str]]:
    """Return what was corrected in a proposal, columns and words; an older one has comments."""
    older = re.findall(r"^# Corrected: (.+)=(.+)$", text, re.MULTILINE)
    said = (entry.get("corrected", {}).items() for _, entry in ProposalText(text).entries())
    pairs = (pair for each in said for pair in each)
    return [*older, *((name, word) for name, words in pairs for word in words.split(", "))]


def corrected_again(text: str, before: str) -> str:
    """Return a proposal with what a person corrected in one before it, where it can be."""
    proposal, corrections = ProposalText(text), corrections_in(before)
    with suppress(SettingsError):
        for column, word in corrections:
            for place in (each for each in proposal.places() if each.name == column):
                proposal.correct(place, word)
        return proposal.finished() if corrections else text
    return text


def _section(name: str, said: Mapping[str, Any]) -> str:
    keys = {key: str(said[key]) for key in ("title", "unit", "better") if said.get(key)}
    text = column_section(name, said["role"], said["type"], keys, bool(said.get("given")))
    return text.replace("]\n", f"]  # {BY_HAND}\n", 1).rstrip()
