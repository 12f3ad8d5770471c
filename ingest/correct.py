"""Correct what a proposal of the lake took columns for, and read the dataset's files again."""

import difflib
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from data.declared import Column
from data.errors import LakeError, SettingsError
from data.lake_place import LakePath
from data.schema import MEASUREMENTS
from ingest.lake.proposals import KeptProposal, read_proposals
from ingest.lake.state import LakeState, datasets_with, load_state
from ingest.lake.tables import open_table
from ingest.outline import outline_add
from ingest.pipeline import AddOptions, add
from ingest.proposals.corrected_columns import Place, kind_of
from ingest.proposals.corrections import ProposalText
from ingest.report import AddReport
from ingest.settings.column_names import clean_name
from ingest.settings.dataset import FILE_NAME
from ingest.settings.layers import SettingsByFolder
from ingest.settings.loading import refusal_of

_KIND: Final = re.compile(r"_(?:text|whole|real)(?:_\d+)?$")
_NAMED: Final = 12


@dataclass(slots=True)
class Corrected:
    """What a correction did.

    Attributes:
        lines: What each column was and is, and what its table is taken for now.
        report: Of reading the files again.
    """

    lines: list[str]
    report: AddReport


@dataclass(slots=True)
class _Guessed:
    """A dataset with proposals that nobody's settings override.

    Attributes:
        files: Paths of its files by the folder of a proposal.
        texts: By name of a proposal its text.
    """

    dataset: str
    files: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, ProposalText] = field(default_factory=dict)

    def find(self, column: str, table: str) -> list[tuple[ProposalText, Place]]:
        """Return where the dataset has a column: by its heading, else by what it is called."""
        there = [(text, p) for text in self.texts.values() for p in text.places()]
        there = [(text, place) for text, place in there if table in place.table]
        found = [each for each in there if column == each[1].name]
        found = found or [each for each in there if column in each[1].names]
        plain = _plain(column)
        return found or [each for each in there if plain in map(_plain, each[1].names)]


def correct(
    lake: LakePath,
    corrections: Sequence[tuple[str, str]],
    dataset: str | None = None,
    table: str = "",
    is_confirmed: bool = False,
) -> Corrected:
    """Take columns for what a person says, in the lake's proposal; read their files again.

    Nothing is written unless all of it can be.

    Args:
        corrections: Columns, as headings or as the lake calls them, and a word for each: a role, a
            direction, a column of the lake or a unit.
        dataset: Which is meant, if several have these columns.
        table: A part of the path of the only table that is meant; empty for all.
        is_confirmed: Whether all else that was guessed of the dataset is right.

    Raises:
        LakeError: There is no lake, or it cannot be read or written.
        SettingsError: A column or what it would be cannot be; the message says why.
    """
    if not (corrections or is_confirmed):
        raise SettingsError("nothing to correct: say COLUMN=WORD, or --confirm if all is right")
    if open_table(lake, "runs") is None:
        raise LakeError(f"no lake at {lake}: `python -m ingest add RAW...` makes one")
    state, kept = load_state(lake), read_proposals(lake)
    guessed = _chosen(_guessed_in(state, kept, dataset), [name for name, _ in corrections], table)
    done: list[tuple[ProposalText, Place, str, str]] = []
    for column, word in corrections:
        found = guessed.find(column, table)
        _check_found(found, column, word, state)
        for text, place in found:
            there = _shared(state, guessed.dataset, place)
            was = text.correct(place, word, there, f"{place.name} of {guessed.dataset}")
            done.append((text, place, was, word))
    touched = [text for text, *_ in done]
    if is_confirmed:
        touched = [*guessed.texts.values()]
        for text in touched:
            text.confirm()
    changed = {
        p.name: guessed.texts[p.name].finished()
        for p in kept
        if guessed.texts.get(p.name) in touched
    }
    if reason := next(filter(None, map(refusal_of, changed.values())), ""):
        raise SettingsError(f"that cannot be: {reason}")
    folders = {p.root for p in kept if p.name in changed}
    options = _options(lake, guessed, folders, changed)
    _check_reading(options, state)
    lines = [f"{p.name} of {p.table}: was {was}, now {word}" for _, p, was, word in done]
    tables = {(id(text), p.at): (text, p) for text, p, *_ in done}
    for text, place in tables.values():
        lines += [place.table, *text.told(place)]
    lines += [
        f"{guessed.dataset}: what was guessed is right, also of later files with these headings"
    ] * is_confirmed
    return Corrected(lines, add(options))


def _guessed_in(
    state: LakeState, kept: Iterable[KeptProposal], dataset: str | None
) -> list[_Guessed]:
    """Return the datasets whose files have proposals.

    Raises:
        SettingsError: There is none, or the dataset has settings of a person, or is unknown.
    """
    names = [name for name in sorted(state.files) if state.files[name]]
    if dataset is not None and dataset not in names:
        raise SettingsError(f"the lake has no dataset {dataset!r}, only {', '.join(names)}")
    layers, described, guessed = SettingsByFolder(), set[str](), []
    proposals = [*kept]
    for name in [dataset] if dataset else names:
        own = _Guessed(name)
        for proposal in proposals:
            below = proposal.root.rstrip("/") + "/"
            if files := [path for path in state.files[name] if path.startswith(below)]:
                if layers.describes(proposal.root):
                    described.add(f"{layers.top_of(proposal.root, proposal.root)}/{FILE_NAME}")
                    continue
                own.files[proposal.root] = files
                own.texts[proposal.name] = ProposalText(proposal.text)
        guessed += [own] if own.texts else []
    if not guessed:
        where = f"{', '.join(sorted(described))}: edit it, and add again" if described else ""
        why = f"stand in {where}" if described else "are not guessed: nothing to correct"
        raise SettingsError(f"the settings of {dataset or 'these datasets'} {why}")
    return guessed


def _chosen(guessed: Sequence[_Guessed], columns: Sequence[str], table: str) -> _Guessed:
    """Return the only dataset that has the columns.

    Raises:
        SettingsError: Several have them, or none.
    """
    having = [each for each in guessed if all(each.find(column, table) for column in columns)]
    if len(having) > 1:
        names = ", ".join(each.dataset for each in having)
        what = " and ".join(columns) or "guesses"
        raise SettingsError(f"{what} in {names}: say which by --dataset")
    if having:
        return having[0]
    missing = [c for c in columns if not any(each.find(c, table) for each in guessed)]
    column = missing[0] if missing else " and ".join(columns)
    places = [p for each in guessed for text in each.texts.values() for p in text.places()]
    by_plain = {_plain(name): place.name for place in places for name in place.names}
    near = [by_plain[each] for each in difflib.get_close_matches(_plain(column), by_plain, 3)]
    shown = [*dict.fromkeys(near or (place.name for place in places))][:_NAMED]
    where = f" in a table {table!r}" if table else ""
    raise SettingsError(f"no guess of a column {column!r}{where}; there is {', '.join(shown)}")


def _check_found(
    found: Sequence[tuple[ProposalText, Place]], column: str, word: str, state: LakeState
) -> None:
    """See that a word can be of all columns of a name.

    Raises:
        SettingsError: They are unlike, or their texts cannot be what the word says.
    """
    places = [place for _, place in found]
    of_tables = {(id(text), place.at) for text, place in found}
    if len(of_tables) < len(places):
        names = " and ".join(dict.fromkeys(place.name for place in places))
        raise SettingsError(f"{column!r} may be {names}: write it as its heading is")
    units = {str([(p.said or {}).get(key) for key in ("to", "scale", "unit")]) for p in places}
    if kind_of(word) == "unit" and len(units) > 1:
        tables = ", ".join(place.table for place in places)
        raise SettingsError(f"{column} has several units in {tables}: name a file by --table")
    for place in places:
        titles = {*map(_plain, place.names)}
        like = [c for c in state.columns.values() if _KIND.sub("", c.name) in titles]
        are_numbers = word == "replicate" or place.said is not None
        are_numbers &= word in ("metric", "replicate", *MEASUREMENTS) or kind_of(word) != "role"
        if are_numbers and like and all(c.kind == "text" for c in like):
            raise SettingsError(f"{place.name} of {place.table} has texts: it is no {word}")


def _shared(state: LakeState, dataset: str, place: Place) -> Column | None:
    """Return the lake's column that a dataset shares with others, which is one for all of them."""
    titles = {*map(_plain, place.names)}
    like = (c for c in state.columns.values() if _KIND.sub("", c.name) in titles)
    return next((c for c in like if {dataset} < {*datasets_with(state.lake, c.name)}), None)


def _options(
    lake: LakePath, guessed: _Guessed, roots: Collection[str], changed: dict[str, str]
) -> AddOptions:
    """Return how the files are read again from where they came.

    Raises:
        SettingsError: Some of them are gone.
    """
    raw: list[Path] = []
    for root in sorted(roots):
        files = guessed.files[root]
        if gone := [path for path in files if not os.path.lexists(path)]:
            raise SettingsError(
                f"{len(gone)} of {len(files)} files of {guessed.dataset} are gone, such as "
                f"{gone[0]}: put them back, or `python -m ingest add` their folder where it is now"
            )
        # Files of a folder may have been added by name.
        are_alone = all("/" not in path[len(root) + 1 :] for path in files)
        raw += map(Path, files if are_alone else [root])
    own = {SettingsByFolder().settings_of(root).dataset for root in roots}
    is_named = own != {None} and own != {guessed.dataset}
    name = guessed.dataset if is_named else None
    return AddOptions(lake, raw, name, is_proposing=True, corrected=changed)


def _check_reading(options: AddOptions, state: LakeState) -> None:
    """See that nothing is refused that was read before.

    Raises:
        SettingsError: Something would be.
    """
    known = {(d, path) for d, paths in state.problems.items() for path in paths}
    known = {
        key for key in known if any(p.severity == "refused" for p in state.problems[key[0]][key[1]])
    }
    new = [each for each in outline_add(options).refused if (each.dataset, each.path) not in known]
    if new:
        raise SettingsError(f"{new[0].path} would be refused: {new[0].problem.detail}")


def _plain(name: str) -> str:
    return _KIND.sub("", clean_name(name, "text"))
