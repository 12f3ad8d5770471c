"""The list of the papers' claims, each with its verdict and the reason."""

from collections.abc import Sequence

from dash import html

from app.storage.layout_published import noted
from app.storage.study import Study
from app.storage.verdict import DOES_NOT, HOLDS, UNDECIDED, Judged
from app.storage.views import BY_NAME

_MARKS = {HOLDS: "\N{CHECK MARK}", DOES_NOT: "\N{MULTIPLICATION SIGN}", UNDECIDED: "?"}
_CLASSES = {HOLDS: "holds", DOES_NOT: "not", UNDECIDED: "undecided"}


def claims_block(judged: Sequence[Judged], study: Study) -> list:
    """Lay out all claims; each has its rule and the compared means in a part that unfolds."""
    place = study.scene.place_words or "no place"
    said = f"From the {study.matching:,} storage runs that the filters leave; lines at {place}."
    return [
        html.P([said, *noted(study.scene.note)], className="note"),
        html.Ul([_item(one) for one in judged], className="claims"),
    ]


def _item(one: Judged) -> html.Li:
    verdict, view = one.verdict, BY_NAME[one.rule.view]
    mark = html.Span(_MARKS[verdict.outcome], **{"aria-hidden": "true"})
    outcome = html.Strong([mark, f" {verdict.outcome}"], className=_CLASSES[verdict.outcome])
    why = [html.P(one.rule.words)]
    if verdict.comparisons:
        tests = " and ".join(dict.fromkeys(each.test for each in verdict.comparisons))
        lines = [html.Li(each.words) for each in verdict.comparisons]
        why += [html.P(f"Means of two modes or accesses, n of each, p of {tests}:"), html.Ul(lines)]
    show = html.Button(
        f"show: {view.title}", className="plain", **{"data-show": one.rule.view, "type": "button"}
    )
    return html.Li(
        [
            html.Div([html.Span(one.claim.text), html.Span(one.claim.source, className="quiet")],
                     className="claim"),
            html.Div([outcome, html.Span(f": {verdict.words}")], className="claim-verdict"),
            html.Div([html.Details([html.Summary("rule and numbers"), *why]), show],
                     className="why"),
        ],
        **{"data-claim": one.claim.name},
    )  # fmt: skip
