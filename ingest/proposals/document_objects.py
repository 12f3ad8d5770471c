"""What the objects of a document say of the columns in them: `gpu.power` is of `gpu`."""

from collections.abc import Sequence
from typing import Final

from ingest.proposals.guess import Guess
from ingest.settings.column_names import WORDS
from ingest.settings.heading_words import words_of

# Words of objects of the whole, beside those of its devices.
_WHOLE: Final = WORDS["wholes"] | {"system", "machine", "node", "server", "board", "psys"}


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


def are_of_devices(one: Guess, other: Guess) -> bool:
    """Return whether two objects have a cost of one name, of which one alone is of a GPU.

    `rapl.total_energy` beside `gpu.total_energy`: neither is the whole, unless its object says so.
    """
    ends = [guess.heading.text.rpartition(".") for guess in (one, other)]
    (above, _, last), (beside, _, other_last) = ends
    words = [{*words_of(each)} for each in (above, beside)]
    is_apart = ("gpu" in words[0]) != ("gpu" in words[1])
    whole = words[0] - words[1]
    is_whole = not whole.isdisjoint(_WHOLE)
    return bool(above and beside) and last == other_last and is_apart and not is_whole
