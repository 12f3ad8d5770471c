"""The columns of `runs`: title, unit and better direction, from metrics.toml and the knobs."""

from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Final, Literal

from data.declared import Declared
from data.knob_table import KNOB_TABLE
from data.schema import DERIVED, MEASUREMENTS, METRIC_ENTRIES
from data.units import kind_of

# Of totals: where roles of columns were guessed, a setting may be an amount of work.
SAME_WORK: Final = "if both do the same work"

# How the titles of changes in percent begin.
CHANGE_OF: Final = "change of "


@dataclass(frozen=True)
class Metric:
    """One column of `runs`.

    Attributes:
        unit: SI unit as text; empty for counts and ratios.
        short: Few letters, for tables and chips.
        better: `less`, `more`, or None where neither is.
        group: Heading in menus of metrics that are compared; empty where nobody compares them, such
            as the number of readings of a meter.
        doubted_in: The datasets in which its unit is a guess.
    """

    name: str
    title: str
    unit: str
    short: str
    description: str
    better: Literal["less", "more"] | None = None
    group: str = ""
    doubted_in: tuple[str, ...] = ()

    @property
    def sign(self) -> int:
        """-1 where more is better, else 1: times the sign, less is better."""
        return -1 if self.better == "more" else 1

    @property
    def is_total(self) -> bool:
        """Whether it is of a whole run, and grows with the work that the run did."""
        own = self.group == _DECLARED and kind_of(self.unit) in ("J", "s")
        return self.name in TOTALS or (own and "latency" not in self.name)

    @property
    def is_change(self) -> bool:
        """Whether it is a change in percent, of which no factor is told."""
        return self.unit == "%" and self.title.startswith(CHANGE_OF)

    @property
    def doubt(self) -> str:
        """What is doubted of its unit, for titles; empty where nothing is."""
        names = self.doubted_in
        where = names[0] if len(names) == 1 else f"{len(names)} datasets"
        return f"{_GUESSED} in {where}" if names else ""

    def doubt_of(self, *datasets: str | None) -> str:
        """Return what sentences and tables of some datasets' runs say of its unit, or nothing."""
        return _GUESSED if set(datasets).intersection(self.doubted_in) else ""

    def title_in(self, *datasets: str | None) -> str:
        """Return the title in tables and hovers of some datasets' runs: `Energy, unit guessed`."""
        return ", ".join(filter(None, [self.title, self.doubt_of(*datasets)]))

    def noted(self, value: str, *datasets: str | None) -> str:
        """Return a value of some datasets' runs with the doubt: `803 kJ (unit guessed)`."""
        doubt = self.doubt_of(*datasets)
        return f"{value} ({doubt})" if doubt else value

    @cached_property
    def axis_title(self) -> str:
        """Return the title with unit and direction: `p99 latency, us (less is better)`."""
        return self.titled()

    def title_with(self, unit: str) -> str:
        """Return the title of a scale beside a picture: `Energy, mJ, unit guessed`."""
        return ", ".join(filter(None, [self.title, unit, self.doubt_of(*self.doubted_in)]))

    def titled(self, note: str = "") -> str:
        """Return the title of an axis with a note on its unit."""
        # `Requests/s` says its unit.
        notes = ("" if self.unit == self.title else self.unit, note, self.doubt)
        unit = "".join(f", {each}" for each in notes if each)
        direction = f" ({self.better} is better)" if self.better else ""
        return f"{self.title}{unit}{direction}"


def metrics_of(columns: Declared) -> dict[str, Metric]:
    """Return all columns of `runs`: knobs, those of metrics.toml, declared."""
    return _shipped() | {
        c.name: Metric(
            c.name, c.title, c.unit, c.short or c.title, c.description, c.better, _DECLARED
        )
        for c in columns
    }


_GUESSED: Final = "unit guessed"
_DECLARED: Final = "Declared by the dataset"
# What grows with the work that a run did.
TOTALS: Final = ("energy_j", "duration_s", "edp_js")
# Headings of menus of metrics, in their order.
GROUPS: Final = (
    "Energy and power", "Latency", "Time and rates", "Processor", "Interrupts and switches",
    "Network", "Sleep states", _DECLARED,
)  # fmt: skip


@cache
def _shipped() -> dict[str, Metric]:
    knobs = {
        k.column: Metric(k.column, k.title, k.unit, k.short, k.description) for k in KNOB_TABLE
    }
    # Their kind or formula is the schema's.
    described = [field.name for field in fields(Metric)]
    return knobs | {
        name: Metric(**{k: v for k, v in {**entry, "name": name}.items() if k in described})
        for name, entry in METRIC_ENTRIES.items()
    }


def plottable_of(columns: Declared) -> tuple[str, ...]:
    """Return the names of the numeric columns, stored, derived, declared, for axes and heatmaps."""
    own = (c.name for c in columns if c.role == "metric")
    return (*MEASUREMENTS, *DERIVED, *own)
