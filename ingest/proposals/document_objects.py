"""What the objects of a document say of the columns in them: `gpu.power` is of `gpu`."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ingest.proposals.guess import Guess
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of
from ingest.settings.headings import Heading

# Words of objects of the whole, beside those of its devices.
WHOLE: Final = WORDS["wholes"] | {"system", "machine", "node", "server", "board", "psys"}


def may_be_whole(time: Guess) -> bool:
    """Return whether a time may be that of a run: not of what was lost, nor 0 in all rows."""
    is_lost = time.heading.has("throttled", *WORDS["lost"])
    return not is_lost and bool(np.any(time.numbers > 0))


def times_around(times: Sequence[Guess], costs: Sequence[Guess]) -> list[Guess]:
    """Return the times of the innermost object of a document that has all energies and powers.

    `validation.duration` is of `validation.gpu.power`, and `train.duration` is not. Where costs are
    of several objects, as `training` and `validation` are, return the times of all of these.
    """
    inside = [*map(_object_of, costs)]
    around = {each for each in map(_object_of, times) if all(i.startswith(each) for i in inside)}
    innermost = max(around, key=len, default="")
    if costs and innermost:
        return [t for t in times if _object_of(t) == innermost]
    beside = [
        t for t in times if any(len(o := _object_of(t)) > 0 and i.startswith(o) for i in inside)
    ]
    return beside or [*times]


def _object_of(guess: Guess) -> str:
    """Return the path of the object of a document that has a column, with a dot at its end."""
    text = guess.heading.text
    return text[: text.rfind(".") + 1]


def own_words(heading: Heading) -> tuple[str, ...]:
    """Return the words of a heading of a known unit without those of the objects around it."""
    return words_of(heading.text.rpartition(".")[2] if heading.unit else heading.text)


def are_equal(one: Guess, other: Guess) -> bool:
    """Return whether two columns of one unit have the same numbers: one is said twice."""
    return one.heading.unit == other.heading.unit and np.array_equal(one.numbers, other.numbers)


def are_of_devices(one: Guess, other: Guess) -> bool:
    """Return whether two objects have a cost of one name, of which one alone is of a GPU.

    `rapl.total_energy` beside `gpu.total_energy`: neither is the whole, unless its object says so.
    """
    ends = [guess.heading.text.rpartition(".") for guess in (one, other)]
    (above, _, last), (beside, _, other_last) = ends
    words = [{*words_of(each)} for each in (above, beside)]
    is_apart = ("gpu" in words[0]) != ("gpu" in words[1])
    whole = words[0] - words[1]
    is_whole = not whole.isdisjoint(WHOLE)
    return bool(above and beside) and last == other_last and is_apart and not is_whole
