"""Energies and powers of parts of a machine in some tables, and of the whole in others."""

from collections.abc import Sequence
from typing import Final

from ingest.proposals.document_objects import WHOLE
from ingest.proposals.found_tables import FoundTable, paths_beside
from ingest.proposals.guess import Guess
from ingest.proposals.guessed_table import GuessedTable
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

_COSTS: Final = ("energy_j", "power_w")


def keep_parts_apart(
    blocks: Sequence[GuessedTable], tables: Sequence[FoundTable], alike: float
) -> None:
    """Give what tables have of a part of the machine columns of their own, where like tables have
    it of the whole or of another part: `gpu_energy_j` beside documents with `energy_j`.

    What ran on each device is compared by what the device took.

    Args:
        alike: As in `paths_beside`.
    """
    aimed = [
        (block, guess)
        for block in blocks
        for guess in block.guesses
        if guess.to in _COSTS and not (block.refusal or guess.is_declared)
    ]
    apart: list[tuple[Guess, str]] = []
    for block, guess in aimed:
        own, beside = part_of_run(guess), {*paths_beside(block.table, tables, alike)}
        parts = {
            part_of_run(other)
            for of, other in aimed
            if other.to == guess.to and {*of.table.paths} <= beside
        }
        is_told = "" not in parts and any(_names(each, own) for each in block.guesses)
        if own and parts != {own} and not is_told:
            apart.append((guess, own))
    for guess, part in apart:
        guess.aim("", f"; of the {part} alone, others are not")


def part_of_run(guess: Guess) -> str:
    """Return the part of a machine of which a run's energy or power is; empty if of the whole."""
    words = [word for word in guess.heading.words if word in WORDS["parts"]]
    is_whole = guess.to not in _COSTS or guess.heading.has("package", "pkg", *WHOLE)
    return "" if is_whole else " ".join(words)


def _names(knob: Guess, part: str) -> bool:
    """Return whether each value of a setting names a part."""
    named = (words_of(str(cell)) for cell in knob.cells if cell is not None)
    return knob.role == "knob" and all(part in words for words in named)
