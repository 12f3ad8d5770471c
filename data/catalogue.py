"""The columns of one version of a lake: the shipped ones, and those that its datasets declare.

A lake has its catalogue (`lake.catalogue`); who needs titles, filters or knobs gets it as an
argument. `SHIPPED` is the catalogue of a lake without declared columns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from data.aggregates import Aggregates
from data.declared import Declared
from data.errors import DataError
from data.knob_table import CONFIGURATION, FURTHER
from data.knobs import POLICIES, Knob, knobs_of
from data.metrics import Metric, metrics_of, plottable_of
from data.selection import Clause, Facet, Selection, Value, facet_named, facets_of

# Words of parts of a machine: their energy is not the run's where a whole is there.
PARTS: Final = frozenset(
    [
        "cpu",
        "core",
        "cores",
        "gpu",
        "dram",
        "ram",
        "memory",
        "mem",
        "uncore",
        "psys",
        "disk",
        "net",
        "rail",
    ]
)
_ASIDE: Final = PARTS | {"package", "idle"}
# Units of an energy for each request, image, 1k tokens and the like.
_ENERGY_OF_ITEM: Final = re.compile(r"([kMmun]?J|[kMm]?Wh)/(\d+[kM]? )?[a-z]\w*")


@dataclass(frozen=True)
class Catalogue:
    """The columns of a lake. Each attribute is computed once, when it is first read.

    Attributes:
        columns: The declared columns, in the order of the lake.
        doubts: Metrics of which a dataset's unit is a guess, and how to say so.
    """

    columns: Declared = ()
    doubts: tuple[tuple[str, str], ...] = ()

    @staticmethod
    @lru_cache(maxsize=16)
    def of(columns: Declared, doubts: tuple[tuple[str, str], ...] = ()) -> "Catalogue":
        """Return the catalogue of a lake with these declared columns: one for each set of them."""
        return Catalogue(columns, doubts)

    @cached_property
    def facets(self) -> Mapping[str, Facet]:
        """All filters, by the names that stand in URLs."""
        return facets_of(self.columns)

    @cached_property
    def knobs(self) -> Mapping[str, Knob]:
        """All knobs, by the name of their filter."""
        return knobs_of(self.columns)

    @cached_property
    def knob_of_column(self) -> Mapping[str, Knob]:
        """All knobs, by their column of `runs`."""
        return {knob.column: knob for knob in self.knobs.values()}

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """All columns: knobs, those of metrics.toml, then declared."""
        metrics = metrics_of(self.columns)
        return metrics | {name: replace(metrics[name], doubt=doubt) for name, doubt in self.doubts}

    def metric(self, name: str) -> Metric:
        """Look up one column.

        Raises:
            DataError: No column has that name.
        """
        try:
            return self.metrics[name]
        except KeyError:
            raise DataError(f"no such column of runs: {name!r}") from None

    @cached_property
    def plottable(self) -> tuple[str, ...]:
        """Names of the numeric columns, stored, derived, declared, for axes and heatmaps."""
        return plottable_of(self.columns)

    @cached_property
    def costs(self) -> tuple[str, ...]:
        """Columns of what is to be saved, best first: energy, energy of an item of work, power."""
        of_items = [
            c.name for c in self.columns if c.role == "metric" and _ENERGY_OF_ITEM.fullmatch(c.unit)
        ]
        # The name of a part's energy has a word more than that of the whole.
        whole_first = sorted(
            of_items, key=lambda name: (not _ASIDE.isdisjoint(name.split("_")), name.count("_"))
        )
        return ("energy_j", *whole_first, "power_w")

    @cached_property
    def further_knobs(self) -> tuple[str, ...]:
        """Columns of the knobs that no view lays out by itself: shipped, then declared."""
        return (*FURTHER, *(column.name for column in self.columns if column.role == "knob"))

    @cached_property
    def configuration(self) -> tuple[str, ...]:
        """Columns in which the replicates of one configuration agree."""
        return (*CONFIGURATION, *self.further_knobs)

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Columns of a point that figures and tables show beside its values."""
        named = (name for name in CONFIGURATION if not name.endswith("_policy"))
        return (*named, "replicate", "n", "logged", "flags", *self.further_knobs)

    @cached_property
    def choice_columns(self) -> tuple[str, ...]:
        """Columns that are the same within one choice: given knobs and system.

        Only runs that agree in them compete for the best setting.
        """
        return (*(knob.column for knob in self.knobs.values() if knob.is_given), "system")

    @cached_property
    def item_columns(self) -> tuple[str, ...]:
        """Given knobs that a dataset declares: the programs, inputs, questions that were run.

        The effect of a setting is judged over all of them, each compared with itself.
        """
        return tuple(c.name for c in self.columns if c.role == "knob" and c.is_given)

    @cached_property
    def setting_columns(self) -> tuple[str, ...]:
        """Columns of a setting: all knobs that are not given, and their policies."""
        own = (name for name in self.knob_of_column if name not in self.choice_columns)
        return tuple(name for knob in own for name in (knob, POLICIES.get(knob)) if name)

    @cached_property
    def aggregates(self) -> Aggregates:
        """How rows count: as one run, or as the mean of several."""
        return Aggregates.of(self.columns)

    def selection(self, values: Mapping[str, Sequence[Value]]) -> Selection:
        """Build the filters from the values of each facet; an empty sequence gives no clause.

        Raises:
            SelectionError: No such facet, or a value of the wrong type.
        """
        return Selection(
            tuple(
                Clause(facet_named(name, self.facets), tuple(chosen))
                for name, chosen in values.items()
                if chosen
            )
        )


SHIPPED: Final = Catalogue.of(())
