"""The list of the papers' claims, each with its verdict and the reason."""

from collections.abc import Sequence

from dash import html

from app.storage.claims import Judged
from app.storage.layout_published import noted
from app.storage.study import Study
from app.storage.views import BY_NAME
from data.analysis.like_with_like import like_with_like
from data.analysis.verdicts import DOES_NOT, HOLDS, IN_PART, NEARLY, UNDECIDED, Verdict
from data.knobs import KNOBS

# Outcome to its sign and its class.
_LOOKS = {
    HOLDS: ("\N{CHECK MARK}", "holds"), IN_PART: ("\N{WHITE CIRCLE}", "in-part"),
    NEARLY: ("\N{ALMOST EQUAL TO}", "in-part"), DOES_NOT: ("\N{MULTIPLICATION SIGN}", "not"),
    UNDECIDED: ("?", "undecided"),
}  # fmt: skip


def claims_block(judged: Sequence[Judged], study: Study) -> list:
    """Lay out all claims; each has its rule and the compared means in a part that unfolds."""
    place = study.scene.place_words or "no place"
    said = f"From the {study.matching:,} storage runs that the filters leave; lines at {place}."
    alike = study.words(like_with_like(study.here, (KNOBS["mode"], KNOBS["depth"])))
    said += f" Other knobs there: {alike}." if alike else ""
    return [
        html.P([said, *noted(study.scene.note)], className="note"),
        html.Ul([_item(one, study.scene.note) for one in judged], className="claims"),
    ]


def _item(one: Judged, note: str) -> html.Li:
    verdict, view = one.verdict, BY_NAME[one.view]
    why = [html.P(one.claim.rule)]
    if verdict.comparisons:
        tests = " and ".join(dict.fromkeys(each.test for each in verdict.comparisons))
        lines = [html.Li(each.words) for each in verdict.comparisons]
        why += [html.P(f"Means of two modes or accesses, n of each, p of {tests}:"), html.Ul(lines)]
    show = html.Button(
        f"show: {view.title}", className="plain", **{"data-show": one.view, "type": "button"}
    )
    parts = [html.Li([_outcome(part, note), f": {part.words}"]) for part in verdict.parts]
    return html.Li(
        [
            html.Div([html.Span(one.claim.text), html.Span(one.claim.source, className="quiet")],
                     className="claim"),
            html.Div([html.Strong(_outcome(verdict, note)),
                      html.Ul(parts) if parts else f": {verdict.words}"],
                     className="claim-verdict"),
            html.Div([html.Details([html.Summary("rule and numbers"), *why]), show],
                     className="why"),
        ],
        **{"data-claim": one.claim.name},
    )  # fmt: skip


def _outcome(verdict: Verdict, note: str) -> html.Span:
    """Lay out an outcome with its sign."""
    sign, look = _LOOKS[verdict.outcome]
    mark = html.Span(sign, **{"aria-hidden": "true"})
    return html.Span([mark, f" {verdict.said(note)}"], className=look)
