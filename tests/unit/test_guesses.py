"""What headings, columns of tables and paths are taken for: the examples of guesses.toml."""

import re
import tomllib
from itertools import cycle, islice, product
from pathlib import Path

import pytest

from ingest.proposals.columns import guess_columns
from ingest.proposals.guess import Guess
from ingest.proposals.like_columns import replicate_pattern
from ingest.proposals.long_tables import pivot_columns
from ingest.proposals.path_parts import read_paths
from ingest.proposals.replicates import MAYBE_SETTINGS
from ingest.proposals.request_units import NO_UNIT
from ingest.settings.column_names import name_of_values
from ingest.settings.headings import read_heading, without_unit

EXAMPLES = tomllib.loads(Path(__file__).with_name("guesses.toml").read_text("utf-8"))
TABLES = [(kind, text) for kind, texts in EXAMPLES["tables"].items() for text in texts]
HEADINGS = [(heading, unit) for unit, of in EXAMPLES["units"].items() for heading in of]
FACTORS = {
    unit: (quantity, factor)
    for quantity, units in EXAMPLES["quantities"].items()
    for unit, factor in units.items()
}
# Rows of a column of the run over its first cell.
GROWTH = (1.0, 1.17, 1.32, 1.5)


@pytest.mark.parametrize(("heading", "text"), HEADINGS)
def test_a_heading_states_its_unit(heading: str, text: str) -> None:
    unit = read_heading(heading).unit
    if text == "none":
        assert unit is None
        return
    assert unit is not None
    assert (unit.text, (unit.quantity, pytest.approx(unit.scale))) == (text, FACTORS[text])


@pytest.mark.parametrize("heading", EXAMPLES["titles"])
def test_a_title_does_not_repeat_the_unit(heading: str) -> None:
    assert without_unit(heading) == EXAMPLES["titles"][heading]


def cells_of(text: str) -> list[str]:
    """Return the cells that `a,b /3` or, for 500 rows, `5+0.5n` writes."""
    if steps := re.fullmatch(r"(-?[\d.]+)\+([\d.]+)n", text):
        begin, step = map(float, steps.groups())
        return [f"{begin + step * n:.12g}" for n in range(1, 500)]
    text, _, times = text.partition(" /")
    return [cell.replace(r"\n", "\n") for cell in text.split(",") for _ in range(int(times or 1))]


def read_table(kind: str, text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the cells of each column of an example, and what is expected of some of them."""
    body, _, times = text.partition(" x") if re.search(r" x\d+$", text) else (text, "", "1")
    lines = [line.partition(": ") for line in re.split(r" \| |\n", body)]
    halves = {heading: rest.partition(" -> ") for heading, _, rest in lines}
    cells = {heading: cells_of(half[0]) for heading, half in halves.items()}
    if kind == "of_the_run":
        # Powers are nearly the same in all rows.
        cells = {
            heading: [
                f"{float(first) * (1 + (by - 1) * (0.01 if 'power' in heading.lower() else 1))}"
                for by in GROWTH
            ]
            for heading, (first,) in cells.items()
        }
    lengths = [len(each) for each in cells.values() if len(each) < 499]
    rows = int(times) * max(lengths, default=1)
    columns = {heading: [*islice(cycle(each), rows)] for heading, each in cells.items()}
    return columns, {heading: half[2] for heading, half in halves.items() if half[2]}


def check(guess: Guess, expected: str) -> None:
    """Compare a guess with what an example says of it."""
    doubt = re.search(r'"(.*)"', expected)
    unit = re.search(r"\[(.*?)\]", expected)
    words = re.sub(r'".*"|\[.*?\]', "", expected).split()
    target = next((w for w in words if re.match(r"replicate|\w+_(j|w|s|us)\b", w)), "")
    to, _, factor = target.partition("*")
    assert (guess.to, guess.scale) == (to, pytest.approx(float(factor or 1)))
    assert not {"knob", "metric", "label"} & {*words} - {guess.role}
    if not to and guess.role == "metric":
        assert guess.why.endswith(NO_UNIT) == ("?" in words)
    if to == "replicate":
        assert guess.why.endswith(MAYBE_SETTINGS) == ("?" in words)
    if unit:
        assert guess.unit == unit[1]
    directions = {"less": "less", "more": "more", "undirected": None}
    assert all(guess.better == directions[word] for word in words if word in directions)
    assert all(guess.is_given == (word == "given") for word in words if word in ("given", "tuned"))
    assert doubt is None or doubt[1] in guess.doubt
    assert guess.values == {"-1": "none"} or "none" not in words
    assert guess.wraps_at == 2**18 or "wraps" not in words
    assert guess.wraps_at == pytest.approx(262143.328e6) or "powercap" not in words
    assert guess.wraps_at is None or "unwrapped" not in words
    assert guess.why


@pytest.mark.parametrize(("kind", "text"), TABLES)
def test_columns_are_knobs_metrics_and_labels(kind: str, text: str) -> None:
    columns, expected = read_table(kind, text)
    guesses = guess_columns([*columns], [*columns.values()], {}, {})
    for guess in guesses:
        heading = guess.heading.text
        if heading in expected:
            check(guess, expected[heading])
        else:
            assert guess.to in ("", heading)
        if kind == "doubts" and guess.to:
            assert bool(guess.doubt) == ('"' in expected.get(heading, ""))


@pytest.mark.parametrize(
    ("kind", "headings"), [(kind, each) for kind, of in EXAMPLES["numbers"].items() for each in of]
)
def test_numbers_in_headings_are_of_replicates_or_of_parts(kind: str, headings: list[str]) -> None:
    columns = [["a", "b"], ["1.5", "2.5"], ["1.6", "2.4"]]
    assert bool(replicate_pattern(["setting", *headings], columns)) == (kind == "replicates")


@pytest.mark.parametrize(
    ("heading", "names", "is_one"),
    [
        ("type", ["vdd_core", "vin_board_3v3", "vin_aux"], True),
        # Below `metric` one of them is known, elsewhere most of them are.
        ("Metric", ["Reach", "Time", "Trees"], True),
        ("mode", ["Reach", "Time", "Trees"], False),
        ("Metric", ["Reach", "Leaves", "Trees"], False),
    ],
)
def test_rails_and_metrics_are_measured_each_and_no_setting(
    heading: str, names: list[str], is_one: bool
) -> None:
    columns = [["1", "1", "1"], names, ["210", "330", "00:01:05"]]
    found = pivot_columns(["second", heading, "value"], columns)
    assert found == ((heading, "value") if is_one else None)


@pytest.mark.parametrize(
    ("name", "texts"), [(name, each) for name, of in EXAMPLES["named"].items() for each in of]
)
def test_texts_say_what_they_are_values_of(name: str, texts: str) -> None:
    assert (name_of_values(texts.split(",")) or "none") == name


@pytest.mark.parametrize("braces", EXAMPLES["paths"])
def test_paths_give_columns(braces: str) -> None:
    parts = [each.split(",") for each in re.split(r"[{}]", braces)]
    pattern, *others = EXAMPLES["paths"][braces].split()
    found, columns = read_paths(["".join(path) for path in product(*parts)])
    assert found == pattern
    roles = {f"{column.name}:{column.role}" for column in columns if column.role != "knob"}
    assert roles == {*others}
