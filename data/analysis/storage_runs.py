"""The runs that claims of the storage studies compare: one configuration a cell; their place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from data.analysis.like_with_like import Slice, like_with_like
from data.analysis.two_means import TwoMeans, two_means
from data.analysis.verdicts import (
    EQUIVALENCE,
    LOADS_STORES,
    STUDENT,
    Comparison,
    UnmeasuredError,
    title_of,
)
from data.catalogue import SHIPPED, Catalogue
from data.selection import Selection
from data.units import format_bytes

# Columns of a place, in the order in which they are chosen and named.
PLACE: Final = ("device", "rw", "request_bytes")
_FACETS: Final = ("device", "rw", "request")
# The studies measure small random reads, of 4 KiB where possible.
_RW_FIRST: Final = ("randread", "read", "randwrite", "write")
_USUAL_BYTES: Final = 4096
_PAIRS: Final = (("read", "write"), ("randread", "randwrite"))
INTERRUPT, POLL, HYBRID = MODES = ("interrupt", "poll", "hybrid")
LABELS: Final = {INTERRUPT: "interrupt", POLL: "classic polling", HYBRID: "hybrid polling"}
DISK, SATA, NVME, OPTANE = KINDS = ("disk", "SATA flash", "NVMe flash", "Optane")
# A flash device whose interface nothing says.
FLASH: Final = "flash"
DEPTH: Final = "io_depth"
RATE: Final = "interrupts_per_s"
READS: Final = "randread"
FOUR_KIB: Final = 4096
TILE: Final = ("request_bytes", DEPTH)
# The knobs of a cell. In all others, runs that a claim compares are alike.
_CELL: Final = ("mode", "device", "rw", "request", "depth")
_PATTERNS: Final = (
    (OPTANE, "optane|xpoint|z-?ssd"), (DISK, "hdd|disk|magnetic"), (SATA, "sata|850"),
    (NVME, "nvme|960"),
)  # fmt: skip


def matching(rows: pl.DataFrame, place: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows with these values by column; None matches NULL."""
    wanted = [pl.col(name).eq_missing(value) for name, value in place.items()]
    return rows.filter(wanted) if wanted else rows


def access_pair(rw: str | None) -> tuple[str, str] | tuple[()]:
    """Return the reading and the writing access, one of which is `rw`; else an empty tuple."""
    return next((pair for pair in _PAIRS if rw in pair), ())


def place_words(place: Mapping[str, Any], names: Sequence[str] = PLACE) -> str:
    """Return a text such as `optane · randread · 4 KiB`; missing parts are left out."""
    values = {name: place.get(name) for name in names}
    parts = [
        format_bytes(value) if name == "request_bytes" else str(value)
        for name, value in values.items()
        if value is not None
    ]
    return " · ".join(parts)


def chosen_place(rows: pl.DataFrame, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Choose device, access and size where none is wanted, or one that no run has.

    The device is that with most modes, then with most sizes and depths; the access a read, random
    if there is one; the size 4 KiB, else the smallest.

    Args:
        rows: One row per configuration: the columns of PLACE, `mode`, `io_depth`, `runs`.
        wanted: Values by column of PLACE; None leaves the choice.

    Returns:
        Values by column of PLACE; None where the runs have none.
    """
    place: dict[str, Any] = {}
    for name, usual in zip(PLACE, (_usual_device, _usual_access, _usual_size), strict=True):
        value, there = wanted[name], matching(rows, place)
        is_there = value is not None and value in there[name].to_list()
        place[name] = value if is_there else usual(there)
    return place


def at_place(selection: Selection, place: Mapping[str, Any]) -> Selection:
    """Add filters on the values of a place to others."""
    for name, column in zip(_FACETS, PLACE, strict=True):
        facet = SHIPPED.facets[name]
        value = facet.null_word if place[column] is None else place[column]
        selection = selection.with_values(facet, [value])
    return selection


def _usual_device(rows: pl.DataFrame) -> str | None:
    if not len(rows):
        return None
    ranked = rows.group_by("device").agg(
        modes=pl.col("mode").drop_nulls().n_unique(),
        cells=pl.struct("request_bytes", "io_depth").n_unique(),
        runs=pl.col("runs").sum(),
    )
    last = ranked.sort("modes", "cells", "runs", "device", nulls_last=False).row(-1, named=True)
    return None if last["device"] is None else str(last["device"])


def _usual_access(rows: pl.DataFrame) -> str | None:
    there = sorted(rows["rw"].drop_nulls().unique().to_list())
    return next((rw for rw in (*_RW_FIRST, *there) if rw in there), None)


def _usual_size(rows: pl.DataFrame) -> int | None:
    sizes: list[int] = rows["request_bytes"].unique().sort().to_list()
    return _USUAL_BYTES if _USUAL_BYTES in sizes else next(iter(sizes), None)


@dataclass(frozen=True, slots=True)
class StorageRuns:
    """The filtered runs.

    Attributes:
        rows: Answer of `storage_query`.
        idle: Answer of `idle_query`.
        moves: LOADS_STORES by `mode`, `io_depth`, `run_id` and `subsystem`, of the place.
        peak_w: The greatest power of the system; None if it was not measured.
        place: Device, access and request size of the claims on one device, by column.
        accesses: The reading and the writing access; empty if the place has no such pair.
        catalogue: The columns of the lake.
    """

    rows: pl.DataFrame
    idle: pl.DataFrame
    moves: pl.DataFrame
    peak_w: float | None
    place: dict[str, Any]
    accesses: tuple[str, str] | tuple[()]
    catalogue: Catalogue
    _alike: dict[tuple[Any, ...], tuple[Slice, pl.DataFrame]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def alike(
        self, place: Mapping[str, Any], is_interrupts: bool = False
    ) -> tuple[Slice, pl.DataFrame]:
        """Return the setting of all other knobs that has most cells at a place, and its rows.

        Rules ask for the same few places many times: each is looked up once.

        Args:
            is_interrupts: Of the rows completed by interrupts alone.
        """
        key = (is_interrupts, *sorted(place.items()))
        if key not in self._alike:
            mode, rows = pl.col("mode"), self.rows
            if is_interrupts:
                rows = rows.filter(mode.eq_missing(INTERRUPT) | mode.is_null())
            rows = matching(rows, place)
            cell = [self.catalogue.knobs[name] for name in _CELL]
            part = like_with_like(rows, cell, catalogue=self.catalogue)
            self._alike[key] = part, part.of(rows)
        return self._alike[key]

    def slices(self) -> dict[str, tuple[dict[str, Any], bool]]:
        """Return which configurations the rules compare, by what they are for.

        Returns:
            Their values by column, those of `alike` included, and whether they are of
            `interrupts` alone.
        """
        reads, rw = {"rw": READS}, self.place["rw"]
        accesses = dict(zip(("reads", "writes"), self.accesses, strict=False))
        all_modes = {"place": self.place, "tiles": {"device": self.place["device"], "rw": rw}}
        all_modes |= {name: self.place | {"rw": access} for name, access in accesses.items()}
        by_interrupts: dict[str, dict[str, Any]] = {
            "i_all": {}, "i_rw": {"rw": rw}, "i_four": {"request_bytes": FOUR_KIB},
            "i_four_reads": reads | {"request_bytes": FOUR_KIB},
        }  # fmt: skip
        by_interrupts |= {f"i_{name}": {"rw": access} for name, access in accesses.items()}
        return {
            name: (place | self.alike(place, is_interrupts)[0].place, is_interrupts)
            for is_interrupts, places in ((False, all_modes), (True, by_interrupts))
            for name, place in places.items()
        }

    def at_depths(self, column: str, mode: str, **replaced: Any) -> pl.DataFrame:
        """Return the means of a mode by IO depth, at the place, whose values `replaced` replaces.

        Returns:
            Columns `io_depth`, `mean`, `sd`, `n`; at least one row.

        Raises:
            UnmeasuredError: The mode has no run there, or none with a value of the column.
        """
        at = self.place | replaced
        where = f"{LABELS[mode]} at {place_words(at)}"
        own = self.alike(at)[1].filter(mode=mode)
        if not len(own):
            raise UnmeasuredError(f"no runs of {where}")
        means = self._moved(mode) if column == LOADS_STORES else moments(own, column)
        if not len(means):
            raise UnmeasuredError(f"no runs of {where} with {title_of(column)} measured")
        return means

    def _moved(self, mode: str, subsystem: str | None = None) -> pl.DataFrame:
        there = self.moves.filter(pl.col("mode") == mode).drop_nulls(LOADS_STORES)
        if subsystem:
            there = there.filter(pl.col("subsystem") == subsystem)
        runs = there.group_by(DEPTH, "run_id").agg(value=pl.col(LOADS_STORES).sum())
        ordered = runs.sort(DEPTH, "run_id").group_by(DEPTH, maintain_order=True)
        return ordered.agg(mean=pl.col("value").mean(), sd=pl.col("value").std(), n=pl.len())

    def compare(
        self, column: str, first: str, second: str, is_equivalence: bool = False
    ) -> list[Comparison]:
        """Compare two modes at every IO depth of the place; raises as `at_depths`."""
        means = self.at_depths(column, first), self.at_depths(column, second)
        pairs = two_means(*means, DEPTH, is_equivalence)
        test = EQUIVALENCE if is_equivalence else STUDENT
        return compared(pairs, (LABELS[first], LABELS[second]), column, test)

    def compare_moves(self, first: str, second: str, subsystem: str | None) -> list[Comparison]:
        """Compare the loads and stores of two modes in a subsystem, or in all."""
        self.at_depths(LOADS_STORES, first), self.at_depths(LOADS_STORES, second)
        pairs = two_means(self._moved(first, subsystem), self._moved(second, subsystem), DEPTH)
        names = f"{subsystem or 'all'}: {LABELS[first]}", LABELS[second]
        return compared(pairs, names, LOADS_STORES, STUDENT)

    def compare_accesses(self, column: str, same: float) -> list[Comparison]:
        """Compare writing with reading at about the same interrupt rate.

        The partner of each depth of writing is the depth of reading with the lowest rate that is at
        least `same` times the rate of writing. Raises errors as `at_depths`.
        """
        if not self.accesses:
            raise UnmeasuredError(f"no runs that read and write apart, but {self.place['rw']}")
        reads, writes = self.accesses
        cells = {
            rw: self.at_depths(column, INTERRUPT, rw=rw).join(
                self.at_depths(RATE, INTERRUPT, rw=rw).select(DEPTH, rate="mean"), on=DEPTH
            )
            for rw in (reads, writes)
        }
        partner = (
            cells[writes]
            .join_where(cells[reads], pl.col("rate_read") >= same * pl.col("rate"), suffix="_read")
            .sort("rate_read", f"{DEPTH}_read")
            .unique(DEPTH, keep="first", maintain_order=True)
        )
        read = partner.select(DEPTH, **{name: f"{name}_read" for name in ("n", "mean", "sd")})
        return compared(two_means(cells[writes], read, DEPTH), (writes, reads), column, STUDENT)

    def interrupts(self, column: str, **replaced: Any) -> pl.DataFrame:
        """Return configurations completed by interrupts, of two runs or more with the column.

        Args:
            replaced: Restricts access and request size.
        """
        return self.alike(replaced, is_interrupts=True)[1].filter(
            pl.col(column).is_not_null(), pl.col(f"{column}_n") > 1
        )

    def by_kind(self, column: str, *kinds: str, **replaced: Any) -> dict[str, pl.DataFrame]:
        """Return the rows of `interrupts` by kind of device.

        Raises:
            UnmeasuredError: A kind has none; the message names it.
        """
        there = self.interrupts(column, **replaced)
        of = {device: self.kind(device) for device in there["device"].unique()}
        names = {kind: [d for d, other in of.items() if other == kind] for kind in kinds}
        if missing := [kind for kind in kinds if not names[kind]]:
            raise UnmeasuredError(
                f"no two runs of one configuration of {' and of '.join(missing)}, completed by "
                f"interrupts, with {title_of(column)} measured"
            )
        return {kind: there.filter(pl.col("device").is_in(names[kind])) for kind in kinds}

    def kind(self, device: str | None) -> str | None:
        """Return the kind of a device by its name: one of KINDS, or FLASH; None if it is of none.

        A flash device is also NVMe if it was polled: the kernel polls NVMe queues only.
        """
        for kind, pattern in _PATTERNS:
            if device and re.search(pattern, device, re.IGNORECASE):
                return kind
        own = self.rows.filter(pl.col("device").eq_missing(device))
        if not device or not re.search("flash|ssd|evo", device, re.IGNORECASE):
            return None
        return NVME if own["mode"].is_in([POLL, HYBRID]).any() else FLASH


def moments(rows: pl.DataFrame, column: str, *by: str) -> pl.DataFrame:
    """Return `mean`, `sd` and `n` of a column, by `by` (else by IO depth), of rows that have it."""
    there = rows.filter(pl.col(column).is_not_null())
    return there.select(*(by or (DEPTH,)), mean=column, sd=f"{column}_sd", n=f"{column}_n")


def compared(
    pairs: Sequence[TwoMeans], names: tuple[str, str], column: str, test: str
) -> list[Comparison]:
    """Convert pairs of means to comparisons.

    Raises:
        UnmeasuredError: There is no pair.
    """
    if not pairs:
        raise UnmeasuredError(
            f"n: no IO depth with two runs of {names[0]} and two of {names[1]} "
            f"with {title_of(column)} measured"
        )
    what = f"{names[0]}, {names[1]}"
    return [Comparison(what, f"depth {pair.at:g}", column, test, pair) for pair in pairs]
