"""The rows behind the views of Storage, the cells of its heatmaps, and their queries as text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from app.kit.settings import MAX_ROWS
from app.storage.published import comparisons, judged_claims, published_moves
from app.storage.state import DEPTH, View, knob_columns
from app.storage.study import MOST_IDLE, MOST_PROFILED, Study
from data.analysis.like_with_like import Slice
from data.analysis.storage_means import pooled_means, with_marked_depths, write_minus_read
from data.analysis.storage_runs import access_pair, matching
from data.analysis.verdicts import unit_of
from data.queries.runs import runs_query
from data.queries.statement import statement
from data.queries.storage import (
    function_sums_query,
    idle_query,
    storage_cells_query,
    storage_query,
)
from data.reference.tables import published_tables
from data.selection import Selection


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one heatmap.

    Attributes:
        rows: Answer of `pooled_means` or, for differences, of `write_minus_read`, with `value`;
            empty if nothing was measured.
        by: Columns of a cell: the panel's (`mode` or `device`), `request_bytes`, `io_depth`.
        part: The part of the filtered runs that the cells show.
        common: Values that all cells share, by column.
        accesses: The compared reading and writing access; empty unless cells are differences.
    """

    rows: pl.DataFrame
    by: tuple[str, ...]
    part: Slice
    common: dict[str, Any]
    accesses: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns by which the runs behind the cells are averaged."""
        return (*self.by, "rw") if self.accesses else self.by

    def narrow(self, study: Study) -> Selection:
        """Return the filters of a study with those on the runs behind the cells."""
        selection, facets = study.state.selection, study.catalogue.facets
        wanted = {name: [value] for name, value in self.common.items()}
        if self.accesses:
            wanted["rw"] = list(self.accesses)
        for name, values in wanted.items():
            facet = facets[name]
            words = [facet.null_word if value is None else value for value in values]
            selection = selection.with_values(facet, words)
        return self.part.narrow(selection)


def means_of(study: Study, view: View) -> Cells:
    """Return the means of a view's metric, at the access of the place."""
    rows, common = _rows(study, view)
    rw, y = study.state.at_rw, view.y
    rows = matching(rows, {"rw": rw})
    part = study.alike(rows, (view.by, "request", "depth"), runs=f"{y}_n")
    by = (view.by, "request_bytes", "io_depth")
    cells = pooled_means(part.of(rows), y, by, study.scene.is_interval)
    return Cells(cells.with_columns(value=y), by, part, common | {"rw": rw})


def means_with_depths_of(study: Study, view: View) -> Cells:
    """Return the means, with the best depth of each size and that from which the rate saturates."""
    cells = means_of(study, view)
    alike = cells.part.of(matching(study.rows, cells.common).filter(pl.col(view.y).is_not_null()))
    rates = pooled_means(alike, "iops", cells.by, study.scene.is_interval)
    return replace(cells, rows=with_marked_depths(cells.rows, rates, view.y, cells.by[:2]))


def differences_of(study: Study, view: View) -> Cells:
    """Return the means of writing minus those of reading, of cells that have both."""
    rows, common = _rows(study, view)
    y, is_interval, accesses = view.y, study.scene.is_interval, access_pair(study.state.at_rw)
    rows = rows.filter(pl.col("rw").is_in(accesses))
    part = study.alike(rows, (view.by, "request", "depth", "rw"), runs=f"{y}_n")
    by, alike = (view.by, "request_bytes", "io_depth"), part.of(rows)
    if not accesses:
        return Cells(alike.clear().with_columns(value=y), by, part, common)
    read, write = (
        pooled_means(alike.filter(pl.col("rw") == rw), y, by, is_interval) for rw in accesses
    )
    cells = write_minus_read(read, write, y, by, is_interval)
    return Cells(cells, by, part, common, accesses)


def _rows(study: Study, view: View) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the measured configurations of one device or one mode, and which one it is."""
    measured = study.rows.filter(pl.col(view.y).is_not_null())
    common = {"device": study.state.at_device}
    if view.by == "device":
        common = {"mode": study.usual_mode(measured)}
    return matching(measured, common), common


_MOVED: Final = ("run_id", "mode", "io_depth", "subsystem", "part")
_CLAIM_NUMBERS: Final = {
    "of": pl.String, "where": pl.String, "metric": pl.String, "unit": pl.String,
    "first": pl.Float64, "second": pl.Float64, "first_n": pl.Int64, "second_n": pl.Int64,
    "test": pl.String, "p": pl.Float64,
}  # fmt: skip


def _values(column: str) -> list[str]:
    return [column, f"{column}_sd", f"{column}_n"]


def line_rows(study: Study, view: View) -> pl.DataFrame:
    """Return the configurations at the place."""
    columns = _values(view.y) if view.x == DEPTH else [*_values(view.x), *_values(view.y)]
    return study.here.select(*knob_columns(study.catalogue), *columns)


def device_line_rows(study: Study, view: View) -> pl.DataFrame:
    """Return the configurations of the lines of devices."""
    columns = _values(view.y) if view.x == DEPTH else [*_values(view.x), *_values(view.y)]
    rows, _ = study.of_devices(view.x, view.y)
    return rows.select(*knob_columns(study.catalogue), *columns)


def subsystem_rows(study: Study, view: View) -> pl.DataFrame:
    """Return loads or stores by run, subsystem and part."""
    return study.shown_moves(study.functions, view.y)[0].select(*_MOVED, view.y)


def source_rows(study: Study, view: View) -> pl.DataFrame:
    """Return measured values, then published ones, which have no run."""
    measured = study.shown_moves(study.moves, view.y)[0].select(*_MOVED, view.y)
    values = [
        {"mode": p.mode, "io_depth": p.io_depth, "subsystem": p.subsystem, view.y: p.per_s}
        for p in published_moves(study)
    ]
    names = ("mode", "io_depth", "subsystem", view.y)
    published = pl.DataFrame(values, schema={name: measured.schema[name] for name in names})
    rows = [measured.with_columns(is_published=False), published.with_columns(is_published=True)]
    return pl.concat(rows, how="diagonal")


def power_rows(study: Study, view: View) -> pl.DataFrame:
    """Return the configurations and the idle runs."""
    active = study.rows.select(*knob_columns(study.catalogue), *_values(view.y))
    idle = study.idle.select("device", *_values(view.y)).with_columns(is_idle=pl.lit(True))
    return pl.concat([active, idle], how="diagonal_relaxed").with_columns(
        pl.col("is_idle").fill_null(False)
    )


def proportion_rows(study: Study, view: View) -> pl.DataFrame:
    """Return the configurations of energy proportionality with their shares."""
    shares, knobs = ("rate_share", "peak_w", "power_share"), knob_columns(study.catalogue)
    return study.proportions[0].select(*knobs, *_values("iops"), *_values(view.y), *shares)


def mean_rows(study: Study, view: View) -> pl.DataFrame:
    """Return the cells of a heatmap."""
    cells = means_of(study, view)
    return cells.rows.select(*cells.by, view.y)


def mean_rows_with_depths(study: Study, view: View) -> pl.DataFrame:
    """Return the cells of a heatmap, with its marks."""
    cells = means_with_depths_of(study, view)
    return cells.rows.select(*cells.by, view.y, "is_best", "is_saturated")


def difference_rows(study: Study, view: View) -> pl.DataFrame:
    """Return the cells that reading and writing have."""
    cells = differences_of(study, view)
    return cells.rows.select(*cells.by, pl.col("value").alias(f"{view.y}_write_minus_read"))


def claim_rows(study: Study, _: View | None) -> pl.DataFrame:
    """Return one row per compared pair of means; one row for a claim that compares none."""
    rows = []
    for judged in judged_claims(study):
        row = {
            "claim": judged.claim.text, "source": judged.claim.source,
            "outcome": judged.verdict.outcome_words(study.scene.note),
            "because": judged.verdict.words,
            "rule": judged.claim.rule,
        }  # fmt: skip
        numbers = [
            {"of": c.what, "where": c.where, "metric": c.column, "unit": unit_of(c.column),
             "first": c.pair.means[0], "second": c.pair.means[1], "first_n": c.pair.n[0],
             "second_n": c.pair.n[1], "test": c.test, "p": c.pair.p}
            for c in judged.verdict.comparisons
        ]  # fmt: skip
        rows += [row | each for each in numbers or [{}]]
    return pl.DataFrame(rows, schema_overrides=_CLAIM_NUMBERS, infer_schema_length=None)


def published_rows(study: Study, _: View | None) -> pl.DataFrame:
    """Return every published value beside the measured mean."""
    return pl.DataFrame(
        [
            {"table": name, "source": published_tables()[name].source, "of": line.words,
             "mode": line.mode,
             "metric": line.column, "unit": line.unit, "published": line.value,
             "measured": line.mean, "n": line.n}
            for name, lines in comparisons(study).items()
            for line in lines
        ],
        schema_overrides={"mode": pl.String, "published": pl.Float64, "measured": pl.Float64},
    )  # fmt: skip


def run_rows(study: Study, _: View) -> pl.DataFrame:
    """Return all columns of the filtered runs."""
    return study.view.lake.polars(*runs_of(study))


def written(title: str, sql: str, parameters: list[Any]) -> str:
    return f"{title}:\n\n{statement(sql, parameters)}"


def configurations_at_query(study: Study, selection: Selection) -> str:
    query = storage_query(selection, MAX_ROWS, catalogue=study.catalogue)
    return written("configurations", *query)


def configurations_query(study: Study, _: View) -> str:
    """Write the query of all configurations."""
    return configurations_at_query(study, study.state.selection)


def of_devices_query(study: Study, rows: pl.DataFrame, part: Slice) -> str:
    selection = part.narrow(study.state.selection)
    modes, size = rows["mode"].unique().to_list(), [study.state.at_request]
    drawn: dict[str, Sequence[Any]] = {"rw": study.accesses, "request": size, "mode": modes}
    for name, values in drawn.items():
        facet = study.catalogue.facets[name]
        words = [facet.null_word if value is None else value for value in values]
        selection = selection.with_values(facet, words)
    return configurations_at_query(study, selection)


def cells_query(study: Study, view: View, cells: Cells) -> str:
    own, columns = study.catalogue, cells.columns
    query = storage_cells_query(cells.narrow(study), columns, view.y, MAX_ROWS, catalogue=own)
    return written("cells", *query)


def idle_runs_query(study: Study, _: View) -> str:
    """Write the query of idle power."""
    return written("idle", *idle_of(study))


def idle_of(study: Study) -> tuple[str, list[Any]]:
    """Build the query of idle power."""
    alike = study.idle_part.narrow(Selection())
    return idle_query(study.state.selection, MOST_IDLE, alike, catalogue=study.catalogue)


def functions_query(study: Study, _: View) -> str:
    """Write the query of the functions of all runs at the place."""
    return functions_at_query(study, study.place)


def functions_at_query(study: Study, filters: Selection) -> str:
    query = function_sums_query(filters, MOST_PROFILED, catalogue=study.catalogue)
    return written("loads and stores by run, subsystem and part", *query)


def runs_of(study: Study) -> tuple[str, list[Any]]:
    """Build the query of all columns of the filtered storage runs."""
    # A storage run has a request size.
    selection, own = study.state.selection, study.catalogue
    return runs_query(selection, MAX_ROWS, measured="request_bytes", catalogue=own)
