"""The claims as a document: of the lake, decided ones first, and of the papers."""

from collections.abc import Sequence
from math import expm1, log, log1p
from typing import Final
from urllib.parse import urlencode

from dash import html

from app.findings.answer import claims_of, no_claim_words, published_of
from app.findings.state import FindingsState
from app.kit.clause import write_knobs
from app.kit.encodings import without_marks
from app.kit.lake_view import LakeView
from app.kit.links import address
from app.kit.url_state import LINK_VERSION
from app.kit.url_values import write_value
from app.kit.words import empty_lake, guessed_words
from app.kit.work_words import work_words
from data.analysis.verdicts import DOES_NOT, HOLDS, IN_PART, NEARLY, UNDECIDED
from data.findings import Claim
from data.published import PublishedClaim
from data.queries.claims import REFERENCE, SUBJECT
from data.units import counted, format_digits

# Claims of a group that are listed before the rest unfolds.
SHOWN: Final = 12
_SHOWN_OF_PAPER: Final = 6
# Outcome or verdict to its sign and its class.
# Of the Tab key (`assets/_kit/tools.js`).
_ONE_STOP: Final = {"data-one-stop": "1"}
_SIGNS: Final = {
    "a_better": ("\N{CHECK MARK}", "holds"), "b_better": ("\N{CHECK MARK}", "holds"),
    "equivalent": ("\N{ALMOST EQUAL TO}", "equal"), "undecided": ("?", "undecided"),
    HOLDS: ("\N{CHECK MARK}", "holds"), IN_PART: ("\N{WHITE CIRCLE}", "in-part"),
    NEARLY: ("\N{ALMOST EQUAL TO}", "in-part"), DOES_NOT: ("\N{MULTIPLICATION SIGN}", "not"),
    UNDECIDED: ("?", "undecided"),
}  # fmt: skip
# Half the width of the scale of intervals: the factor of the furthest effect, within these.
_LEAST_FACTOR: Final = 1.25
_MOST_FACTOR: Final = 100.0
_MARGIN: Final = 2.0


def claims_block(view: LakeView, state: FindingsState, has_links: bool = True) -> list:
    """Lay out the claims that the filters leave."""
    if not view.runs:
        return [html.P(without_marks(empty_lake(view)), className="note")]
    claims = claims_of(view, state)
    if not claims:
        return [html.P(no_claim_words(view, state), className="note")]
    decided = [claim for claim in claims if claim.outcome != "undecided"]
    still_open = [claim for claim in claims if claim.outcome == "undecided"]
    alone = sum(claim.holds_alone for claim in decided)
    total = claims[0].adjusted.removeprefix("1 of ")
    guessed = guessed_words(view, state.selection)
    one = " and may be quoted alone" if alone == 1 else " and may be quoted one by one"
    quoted = "" if guessed or not alone else one
    was = "was" if total == "1 claim" else "were"
    verb = "is" if 1 in (len(decided), len(claims)) else "are"
    sentence = (
        f"{len(decided):,} of {counted(len(claims), 'claim')} {verb} decided "
        f"({total} {was} judged together; at most 5 % of the decided ones are expected to be "
        f"wrong). {alone:,} {'holds' if alone == 1 else 'hold'} alone{quoted}. "
        f"{len(still_open):,} {_is(len(still_open))} open."
    )
    notes = [sentence, guessed, work_words(view, state.selection)]
    # The scale of intervals ends at the logarithm of a factor.
    effects = [abs(_log(claim.effect)) for claim in claims if claim.effect is not None]
    half = min(max(1.05 * max(effects, default=0), log(_LEAST_FACTOR)), log(_MOST_FACTOR))
    return [
        html.P(" ".join(filter(None, notes)), className="note"),
        *_group("Decided, largest effects first", decided, half, view, state, has_links),
        *_group("Open, and what would decide", still_open, half, view, state, has_links),
    ]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _group(
    title: str,
    claims: Sequence[Claim],
    half: float,
    view: LakeView,
    state: FindingsState,
    has_links: bool,
) -> list:
    low, high = (format_digits(100 * expm1(end), 2) for end in (-half, half))
    scale = [html.Span(text) for text in (f"{low} %", "0", f"+{high} %")]
    rows = [_claim_row(view, state, one, half, has_links) for one in claims]
    head = [html.H3(title), html.Span(scale, className="scale", title="change of the metric")]
    return [
        html.Div(head if claims else head[:1], className="findings-head"),
        *_listed(rows, "no claim"),
    ]


def claims_status(view: LakeView, state: FindingsState) -> str:
    """Return the status line: how many claims are decided, and of how many runs."""
    if not view.runs:
        return "no runs"
    found = claims_of(view, state)
    decided = sum(claim.outcome != "undecided" for claim in found)
    runs = counted(view.matching(state.selection), "run")
    return f"{decided:,} of {counted(len(found), 'claim')} decided · {runs}"


def open_questions(view: LakeView, state: FindingsState) -> list[str]:
    """Return the sentences of what stayed open, for the end of a report."""
    claims = claims_of(view, state) if view.runs else []
    open_here = [claim.sentence for claim in claims if claim.outcome == "undecided"]
    theirs = [
        f"{one.id} ({one.paper}): {one.reason}." for one in published_of(view)
        if one.verdict == UNDECIDED
    ]  # fmt: skip
    return [*open_here, *theirs]


def _listed(rows: list[html.Li], nothing: str, shown: int = SHOWN) -> list:
    """Lay out a list of which the first rows are open, the rest unfolds."""
    if not rows:
        return [html.P(nothing, className="note")]
    parts: list = [html.Ul(rows[:shown], className="findings-claims", **_ONE_STOP)]
    if more := rows[shown:]:
        summary = html.Summary(f"{len(more):,} more")
        parts.append(
            html.Details([summary, html.Ul(more, className="findings-claims", **_ONE_STOP)])
        )
    return parts


def _claim_row(
    view: LakeView, state: FindingsState, claim: Claim, half: float, has_links: bool
) -> html.Li:
    sign, look = _SIGNS[claim.outcome]
    note = [html.Span("synthetic", className="badge")] if claim.is_synthetic else []
    links = [html.A("show", href=_link(view, state, claim), className="plain")] if has_links else []
    return html.Li(
        [
            html.Span(sign, className=f"sign {look}", **{"aria-hidden": "true"}),
            html.Span([claim.sentence, " ", *note], className="sentence"),
            _interval(claim, half),
            html.Span(links, className="show"),
        ],
        className=look,
        **{"data-claim": claim.id, "data-sel": _selection(claim)},
    )


def _selection(claim: Claim) -> str:
    """Return the clause of the settings of a claim's subject; empty for a whole system."""
    subject = [member for member in claim.settings if member.side == SUBJECT]
    if claim.kind == "tuned to tuned" or len(subject) != 1:
        return ""
    knobs = {name: value for name, value in subject[0].values.items() if value is not None}
    return write_knobs([{n: v for n, v in knobs.items() if not n.endswith("_policy")}])


def _levels(view: LakeView, claim: Claim) -> list[tuple[str, str]]:
    """Return the filters on the two levels that a claim of a knob compares."""
    if claim.kind != "knob":
        return []
    sides = [
        [member.values for member in claim.settings if member.side == side]
        for side in (SUBJECT, REFERENCE)
    ]
    for name, knob in view.catalogue.knob_of_column.items():
        levels = [{values.get(name) for values in side} for side in sides]
        if levels[0] != levels[1] and all(len(level) == 1 for level in levels):
            values = [value for level in levels for value in level]
            words = [knob.facet.null_word if v is None else write_value(v) for v in values]
            return [(knob.name, word) for word in words]
    return []


def _link(view: LakeView, state: FindingsState, claim: Claim) -> str:
    """Return the address of Explore with the runs of a claim, its limit and its setting."""
    knobs = view.catalogue.knob_of_column
    scope = [(knobs[name].name, write_value(value)) for name, value in claim.scope.items()]
    systems = dict.fromkeys(str(member.values["system"]) for member in claim.settings)
    pairs = [("v", str(LINK_VERSION)), *scope, *(("system", name) for name in systems)]
    if "<=" in claim.scope_words or claim.kind == "limit met":
        pairs += [("limit", write_value(state.bound[1])), ("by", state.bound[0])]
    if sel := _selection(claim):
        pairs.append(("sel", sel))
    else:
        pairs += _levels(view, claim)
    pairs += [("lake", str(state.lake_version))] if state.lake_version is not None else []
    return f"{address('/')}?{urlencode(pairs)}"


def _log(percent: float) -> float:
    return log1p(max(percent, -99.9) / 100)


def _interval(claim: Claim, half: float) -> html.Span:
    """Draw the interval on a scale of factors, with the margin of 2 %."""
    low, high, effect = (
        None if x is None else 50 + 50 * min(max(_log(x) / half, -1.0), 1.0)
        for x in (claim.low, claim.high, claim.effect)
    )
    left, right = 0.0 if low is None else low, 100.0 if high is None else high
    ends = " ".join(name for name, end in (("from-below", low), ("beyond", high)) if end is None)
    margin = min(50 * _log(_MARGIN) / half, 50)
    parts = [
        html.Span(
            className="margin", style={"left": f"{50 - margin:.2f}%", "width": f"{2 * margin:.2f}%"}
        ),
        html.Span(className="zero"),
        html.Span(
            className=f"bar {ends}".strip(),
            style={"left": f"{left:.2f}%", "width": f"{max(right - left, 0.6):.2f}%"},
        ),
    ]
    if effect is not None:
        parts.append(html.Span(className="dot", style={"left": f"{effect:.2f}%"}))
    label = f"interval {claim.interval_words} percent"
    return html.Span(parts, className="interval", title=label, role="img", **{"aria-label": label})


def published_block(view: LakeView) -> list:
    """Lay out the papers' claims, one group a paper, decided ones first.

    They are folded where no run of the lake decides one: models and printed tables decide the rest.
    """
    published = published_of(view)
    by_paper: dict[str, list[PublishedClaim]] = {}
    for claim in published:
        by_paper.setdefault(claim.source.paper.citation, []).append(claim)
    parts: list = []
    for citation, own in by_paper.items():
        counts = {v: sum(claim_of_paper.verdict == v for claim_of_paper in own) for v in _ORDER}
        counted = "; ".join(f"{verdict}: {count}" for verdict, count in counts.items() if count)
        own.sort(key=lambda claim_of_paper: _ORDER.index(claim_of_paper.verdict))
        parts += [
            html.H3(citation),
            html.P(counted, className="note"),
            *_listed(
                [_published_row(claim_of_paper) for claim_of_paper in own], "", _SHOWN_OF_PAPER
            ),
        ]
    if any(claim.n for claim in published):
        return parts
    return [html.Details([html.Summary(_NONE_OF_THIS_LAKE), *parts])]


_NONE_OF_THIS_LAKE: Final = "No run of this lake decides a claim of the papers"
_ORDER: Final = (HOLDS, IN_PART, NEARLY, DOES_NOT, UNDECIDED)


def _published_row(claim: PublishedClaim) -> html.Li:
    sign, look = _SIGNS[claim.verdict]
    # A verdict on synthetic runs never stands without that word in its line.
    note = " (synthetic data)" if claim.is_synthetic and claim.verdict != UNDECIDED else ""
    n = f"n = {', '.join(f'{k:,}' for k in claim.n[:6])}" if claim.n else "no runs"
    if claim.n[6:]:
        n += f" and {len(claim.n) - 6} more"
    if not claim.n and claim.verdict != UNDECIDED:
        n = "model output" if claim.id.startswith("002") else "printed values"
    parts = [
        html.Li([html.Strong(f"{part.outcome}{note}"), f": {part.words}"]) for part in claim.parts
    ]
    return html.Li(
        [
            html.Span(sign, className=f"sign {look}", **{"aria-hidden": "true"}),
            html.Span(
                [
                    html.Strong(claim.id), f" {claim.statement} ",
                    html.Span(f"{claim.where}; printed: {claim.printed}", className="quiet"),
                    html.Br(),
                    html.Strong(f"{claim.verdict}{note}", className=look),
                    html.Ul(parts) if parts else f": {claim.reason}",
                    html.Details([html.Summary("rule"), html.P(claim.rule)]),
                ],
                className="sentence wide",
            ),
            html.Span(n, className="n"),
        ],
        className=look,
        **{"data-claim": claim.id},
    )  # fmt: skip
