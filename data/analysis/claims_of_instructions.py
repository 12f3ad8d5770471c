"""The claims of the network study on instructions and interrupts, as rules.

claims.toml has them in words.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from data.analysis.claims_of_tuning import Rule
from data.analysis.network_runs import (
    CLOSED,
    LIBRARY,
    LINUX,
    MEMCACHED,
    NETPIPE,
    NODEJS,
    SILO,
    TUNED,
    NetworkRuns,
    Panel,
)
from data.analysis.verdicts import Verdict, plain, share_outcome, size_outcome


def _fewest_instructions(panel: Panel) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        runs.need([panel], TUNED)
        linux, library = (
            runs.runs_at(panel, s)["instructions"].drop_nulls().to_numpy() for s in (LINUX, LIBRARY)
        )
        ratio = float(np.median(linux) / np.median(library))
        reason = f"{panel.name}: tuned Linux {ratio:.2f} times as many, by the medians"
        if library.max() > linux.min():
            reason += "; some settings of the library OS exceed Linux's least"
        is_less = bool(ratio > 1 and library.min() < linux.min())
        return plain(is_less, reason, (), ratio, (len(linux), len(library)))

    return rule


def _interrupts_cut(panel: Panel) -> Rule:
    """Build the rule of interrupts that a slow clock cuts by 90 %, at each delay."""

    def rule(runs: NetworkRuns) -> Verdict:
        means = runs.at(panel, LIBRARY).group_by("itr", "ghz").agg(pl.col("interrupts").mean())
        cuts, is_slower = [], []
        for delay in means.partition_by("itr"):
            ordered = delay.sort("interrupts")
            least, most = ordered.row(0, named=True), ordered.row(-1, named=True)
            cuts.append(1 - least["interrupts"] / most["interrupts"])
            is_slower.append(least["ghz"] < most["ghz"])
        right = sum(cut >= 0.85 and slower for cut, slower in zip(cuts, is_slower, strict=True))
        reason = (
            f"{panel.name}: {100 * np.median(cuts):.1f} % fewer, at {right} of {len(cuts)} ITRs"
        )
        n = int(runs.at(panel, LIBRARY)["n"].sum())
        return Verdict(
            share_outcome(right, len(cuts)), reason, effect=float(np.median(cuts)), n=(n,)
        )

    return rule


def _like_settings(
    runs: NetworkRuns, panels: Sequence[Panel]
) -> tuple[list[pl.DataFrame], tuple[int, int]]:
    """Return the settings that both tuned systems ran in each panel, and the runs of each system.

    Linux's columns and runs come first; the library OS's columns end in `_e`.
    """
    runs.need(panels, TUNED)
    pairs = [
        runs.at(panel, LINUX).join(runs.at(panel, LIBRARY), on=["itr", "ghz", "rapl"], suffix="_e")
        for panel in panels
    ]
    linux, library = (int(sum(pair[name].sum() for pair in pairs)) for name in ("n", "n_e"))
    return pairs, (linux, library)


def _instruction_ratios(pairs: Sequence[pl.DataFrame]) -> list[float]:
    """Return the instructions of tuned Linux over the library OS's, a panel."""
    return [float((p["instructions"] / p["instructions_e"]).mean()) for p in pairs]  # type: ignore[arg-type]


def _fewer_instructions(panels: Sequence[Panel], printed: float) -> Rule:
    def rule(runs: NetworkRuns) -> Verdict:
        pairs, n = _like_settings(runs, panels)
        ratios = _instruction_ratios(pairs)
        mean = float(np.mean(ratios))
        listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        reason = (
            f"instructions of tuned Linux over the library OS's, like settings: x{mean:.2f} "
            f"({listed}; {', '.join(str(len(p)) for p in pairs)} pairs), x{printed:g} printed"
        )
        outcome = size_outcome(float(np.log(mean) / np.log(printed)))
        return Verdict(outcome, reason, effect=mean, n=n)

    return rule


def _ipc(panels: Sequence[Panel], is_less: bool) -> Rule:
    """Build the rule of the library OS's instructions a cycle against tuned Linux's."""

    def rule(runs: NetworkRuns) -> Verdict:
        pairs, n = _like_settings(runs, panels)
        means = [(float(p["ipc_e"].mean()), float(p["ipc"].mean())) for p in pairs]  # type: ignore[arg-type]
        right = sum((own < other) == is_less for own, other in means)
        listed = ", ".join(f"{own:.2f}/{other:.2f}" for own, other in means)
        reason = f"IPC of the library OS over tuned Linux's: {listed}"
        effect = means[0][0] / means[0][1]
        return Verdict(share_outcome(right, len(panels)), reason, effect=effect, n=n[::-1])

    return rule


def _like_instructions(runs: NetworkRuns) -> Verdict:
    pairs, n = _like_settings(runs, SILO)
    ratios = _instruction_ratios(pairs)
    right = sum(0.8 <= ratio <= 1.25 for ratio in ratios)
    listed = ", ".join(f"x{ratio:.2f}" for ratio in ratios)
    reason = f"instructions of tuned Linux over the library OS's: {listed}"
    return Verdict(share_outcome(right, len(SILO)), reason, effect=ratios[0], n=n)


RULES_OF_INSTRUCTIONS: Final[dict[str, tuple[Rule, ...]]] = {
    "003-C17": tuple(_fewest_instructions(panel) for panel in CLOSED),
    "003-C22": (_interrupts_cut(NODEJS), _interrupts_cut(NETPIPE[0])),
    "003-C23": (_fewer_instructions(MEMCACHED, 2.5), _ipc(MEMCACHED, is_less=True)),
    "003-C37": (_like_instructions, _ipc(SILO, is_less=False)),
}  # fmt: skip
