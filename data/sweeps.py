"""Which knobs matter in a sweep, and what each of them does.

from data.connection import open_lake
from data.decisions import Choice
from data.sweeps import knob_effect, knob_shares

with open_lake("lake") as lake:
    tuned = Choice(workload="memcached", load_qps=400_000, system="linux_tuned",
                   objective="energy_j")
    knob_shares(lake, tuned).sentence
    knob_effect(lake, tuned, "itr_us", by="dvfs_ghz")
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from data.analysis.best_set import quantile
from data.analysis.coded_rows import Part
from data.analysis.importance import DRAWS, importance
from data.analysis.replicates import unlike_words
from data.catalogue import Catalogue
from data.choices import Choice, Study, log_moments, study_of
from data.errors import DataError
from data.knobs import POLICIES, Knob
from data.queries.claims import sweeps_query
from data.selection import Selection
from data.units import counted, format_digits

if TYPE_CHECKING:
    from data.connection import Lake

# Error of the set of settings within a limit, and of intervals.
ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one knob, or of knobs that were set together.

    Attributes:
        low, high: Its interval of 95 %; None without one.
        local: Its share in being among the best tenth; None with too few settings.
    """

    name: str
    share: float
    low: float | None
    high: float | None
    local: float | None


@dataclass(frozen=True, slots=True)
class KnobShares:
    """What the variance of one run of a sweep is made of; all shares sum to 1.

    Attributes:
        settings, runs: Numbers of them, without those of the default's policies.
        mains: Of the knobs, largest first.
        pairs: Of pairs of knobs beyond their own shares, largest first; empty where too little of
            the grid was measured.
        rest: What settings differ by beyond knobs and pairs.
        noise: Between runs of one setting.
        fixed: Knobs with one level.
        together: Pairs of knobs that were set together: their shares cannot be told apart.
        is_overlapping: Holes in the grid let pairs share variance, so they were scaled.
        grid_share: Share of all combinations of levels that was measured.
    """

    metric: str
    system: str
    settings: int
    runs: int
    mains: tuple[Share, ...]
    pairs: tuple[tuple[str, float], ...]
    rest: float
    noise: float
    fixed: tuple[str, ...]
    together: tuple[str, ...]
    is_overlapping: bool
    grid_share: float

    @property
    def is_noise_known(self) -> bool:
        """Whether some setting was measured twice."""
        return self.runs > self.settings

    @property
    def noise_words(self) -> str:
        """`noise 0.50 %`; not known where no setting was measured twice."""
        if not self.is_noise_known:
            return "noise not known: no setting was measured twice"
        return f"noise {share_words(self.noise)} %"

    @property
    def sentence(self) -> str:
        """`ITR 40 % [40, 41], DVFS 38 % [38, 38], ITR x DVFS 21 %, noise 0.50 %`, with n."""
        parts = [
            f"{one.name} {share_words(one.share)} %"
            + (
                ""
                if one.low is None
                else f" [{share_words(one.low)}, {share_words(one.high or 0.0)}]"
            )
            for one in self.mains
        ]
        parts += [f"{name} {share_words(share)} %" for name, share in self.pairs if share >= 0.001]
        parts += [self.noise_words]
        text = (
            f"{', '.join(parts)} ({counted(self.settings, 'setting')}, {counted(self.runs, 'run')})"
        )
        if self.together:
            text += f"; set together: {', '.join(self.together)}"
        if self.is_overlapping:
            text += "; pairs overlap"
        return text


def sweeps_of(
    lake: "Lake", selection: Selection, metric: str, limit: tuple[str, float] | None = None
) -> list[Choice]:
    """Return the choices that the filters leave, each of one system with two settings or more.

    The default is none of the settings. Sorted by falling number of settings, then by columns.
    """
    rows = lake.polars(*sweeps_query(selection, metric, lake.catalogue))
    choices = []
    for row in rows.iter_rows(named=True):
        scope = {name: row[name] for name in lake.catalogue.choice_columns if name != "system"}
        own = {name: scope.pop(name) for name in ("workload", "dataset", "machine", "work")}
        load, size = scope.pop("load_qps"), scope.pop("message_bytes")
        where = {name: value for name, value in scope.items() if value is not None}
        choices.append(
            Choice(
                system=row["system"],
                objective=metric,
                limit=limit,
                load_qps=load,
                message_bytes=size,
                where=where,
                **own,
            )
        )
    return choices


def knob_shares(lake: "Lake", choice: Choice, draws: int = DRAWS) -> KnobShares:
    """Rank the knobs of one choice.

    Args:
        draws: Draws for the intervals; 0 for none.

    Raises:
        DataError: As `decide`, or fewer than three settings or no knob with two levels, or the runs
            of most settings are no replicates.
    """
    own, _ = study_of(lake, choice, ALPHA)
    unlike = int(own.cost.is_unlike.sum())
    if 2 * unlike > int((own.cost.n > 1).sum()):
        raise DataError(unlike_words(unlike))
    rows, knobs = _swept(own, lake.catalogue)
    varying = [knob for knob in knobs if rows[knob.column].n_unique() > 1]
    if len(rows) < 3 or not varying:
        raise DataError(f"{len(rows)} settings and {len(varying)} knobs with two values: no sweep")
    places = rows["place"].to_numpy()
    codes = np.column_stack([rows[k.column].rank("dense").to_numpy() - 1 for k in varying])
    cost = own.cost.at(places)
    raw = log_moments(Part.of(rows), choice.objective, own.step).variance
    allowed = ~own.best.is_outside[places] if choice.limit is not None else None
    seed = zlib.crc32(cost.mean.tobytes())
    shares = importance(codes.astype(np.int64), cost, raw, seed, draws, allowed)
    names = [knob.noun for knob in varying]
    mains = [
        Share(name, float(shares.mains[k]), _known(shares.low[k]), _known(shares.high[k]),
              _known(shares.local[k]))
        for k, name in enumerate(names)
    ]  # fmt: skip
    pairs = [(f"{names[k]} x {names[m]}", share) for (k, m), share in shares.pairs.items()]
    return KnobShares(
        metric=choice.objective,
        system=choice.system,
        settings=len(rows),
        runs=int(rows["runs"].sum()),
        mains=tuple(sorted(mains, key=lambda one: -one.share)),
        pairs=tuple(sorted(pairs, key=lambda pair: -pair[1])),
        rest=shares.rest,
        noise=shares.noise,
        fixed=tuple(knob.noun for knob in knobs if knob not in varying),
        together=tuple(f"{names[k]} + {names[m]}" for k, m in shares.aliased),
        is_overlapping=shares.is_overlapping,
        grid_share=shares.grid_share,
    )


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of a metric at one level of a knob, and of another.

    Attributes:
        mean: At the average of the other knobs, in the metric's unit.
        low, high: Interval of 95 % over replicates; None where a setting has no noise to go by.
        settings, runs: At this level.
    """

    level: Any
    other: Any
    mean: float
    low: float | None
    high: float | None
    settings: int
    runs: int


def knob_effect(
    lake: "Lake", choice: Choice, knob: str, by: str | None = None, alpha: float = ALPHA
) -> list[Level]:
    """Return the means of the objective by level of a knob, and by the levels of another.

    Holes in the grid make levels unlike, so the means are those of least squares: of the levels,
    and of the other knobs added to them, each setting with the same weight.

    Args:
        knob, by: Columns of `runs`.

    Raises:
        DataError: As `decide`, or a column that is no knob of the sweep.
    """
    own, _ = study_of(lake, choice, alpha)
    rows, knobs = _swept(own, lake.catalogue)
    columns = [one.column for one in knobs]
    for name in (knob, by):
        if name is not None and name not in columns:
            raise DataError(f"{name} is no knob of this sweep; it has {', '.join(columns)}")
    keys = [knob] if by is None else [knob, by]
    others = [name for name in columns if name not in keys]
    cells = rows.group_by(keys).agg(settings=pl.len(), runs=pl.col("runs").sum()).sort(keys)
    place = rows.join(cells.with_row_index("cell"), on=keys, maintain_order="left")["cell"]
    weights = _adjusted(place.to_numpy(), rows.select(others))
    cost = own.cost.at(rows["place"].to_numpy())
    means, errors = weights @ cost.mean, np.sqrt(weights**2 @ cost.variance)
    widths = errors * quantile(alpha / 2, np.array(cost.df.min()))
    sign = lake.catalogue.metric(choice.objective).sign
    levels = []
    for i, cell in enumerate(cells.iter_rows(named=True)):
        ends = sorted(float(np.exp(sign * (means[i] + w))) for w in (-widths[i], widths[i]))
        is_known = bool(np.isfinite(widths[i]))
        levels.append(
            Level(
                cell[knob],
                None if by is None else cell[by],
                float(np.exp(sign * means[i])),
                ends[0] if is_known else None,
                ends[1] if is_known else None,
                cell["settings"],
                cell["runs"],
            )
        )
    return levels


def _adjusted(cell: np.ndarray, others: pl.DataFrame) -> np.ndarray:
    """Return the weights of settings in the mean of each cell at the average of other knobs.

    Args:
        cell: Number of each setting's cell, 0 to k - 1, shape (settings,).

    Returns:
        Shape (k, settings).
    """
    columns = [np.eye(int(cell.max()) + 1)[cell]]
    for name in others.columns:
        codes = others[name].rank("dense").to_numpy().astype(np.int64) - 1
        dummies = np.eye(int(codes.max()) + 1)[codes][:, 1:]
        columns.append(dummies - dummies.mean(axis=0))
    return np.asarray(np.linalg.pinv(np.column_stack(columns))[: columns[0].shape[1]])


def _swept(own: Study, catalogue: Catalogue) -> tuple[pl.DataFrame, list[Knob]]:
    """Return the settings whose knobs all have numbers or words, and these knobs.

    A policy, as the driver's own delay, is no level of a ladder. `runs` are those with a value.
    """
    columns = [name for name in own.knobs if name not in POLICIES.values()]
    counted = own.rows.with_columns(runs=pl.Series(own.cost.n, dtype=pl.Int64))
    rows = counted.with_row_index("place").drop_nulls(columns)
    return rows, [catalogue.knob_of_column[name] for name in columns]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def share_words(share: float) -> str:
    """Return a share in percent: two digits, or those that tell it from all."""
    texts = (format_digits(100 * share, digits) for digits in (2, 3, 4))
    return next((text for text in texts if float(text) < 100), "100")


def scope_words(choice: Choice, catalogue: Catalogue, labels: Mapping[str, str]) -> str:
    """Return `Linux tuned, memcached, 400k QPS`: a choice without its dataset, each name once."""
    scope = choice.scope()
    scope.pop("dataset", None)
    words = [catalogue.knob_of_column[name].words(value) for name, value in scope.items()]
    return ", ".join(dict.fromkeys([labels.get(choice.system, choice.system), *words]))
