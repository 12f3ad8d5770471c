"""The published tables beside measured values, and the papers' claims with their verdicts."""

from collections import Counter
from collections.abc import Mapping, Sequence

from dash import html

from app.kit.competitors import mode_label
from app.storage.figures.base import Scene
from app.storage.published import ALONE, Judged, Line, judged_claims
from app.storage.study import Study
from app.storage.views import CLAIMS, VIEW_OF, VIEWS
from data.analysis.verdicts import DOES_NOT, HOLDS, IN_PART, NEARLY, UNDECIDED, Verdict
from data.catalogue import SHIPPED
from data.reference import loads_stores
from data.reference.tables import Paper, PublishedTable, papers, published_tables
from data.units import MISSING, format_digits, format_quantity

_HEADS = ("Quantity", "Published", "Measured here, mean ± {spread}", "Difference")
# Units of columns that `runs` has under another name, or lacks.
_UNITS = {"latency_us": "us", "entry_latency_us": "us", "exit_latency_us": "us"}
# Outcome to its sign and its class.
_LOOKS = {
    HOLDS: ("\N{CHECK MARK}", "holds"), IN_PART: ("\N{WHITE CIRCLE}", "in-part"),
    NEARLY: ("\N{ALMOST EQUAL TO}", "in-part"), DOES_NOT: ("\N{MULTIPLICATION SIGN}", "not"),
    UNDECIDED: ("?", "undecided"),
}  # fmt: skip


def claims_blocks(study: Study) -> dict[str, list]:
    """Lay out the claims by view: each beside its picture, and all of them in short on top.

    Each has its rule and the compared means in a part that unfolds.
    """
    place_text = study.scene.place_words or "no place"
    judged, note = judged_claims(study), study.scene.note
    counts = Counter(claim.verdict.outcome for claim in judged)
    parts = [f"{outcome}: {counts[outcome]}" for outcome in _LOOKS if counts[outcome]]
    sentence = f"{len(judged)} claims of two papers{f' on {note}' if note else ''}. "
    sentence += f"{' · '.join(parts)}."
    basis = (
        f" From the {study.matching:,} storage runs that the filters leave; lines at {place_text}."
    )
    alike = study.words(study.alike(study.here, ("mode", "depth"), is_pooling=False))
    basis += f" Other knobs there: {alike}." if alike else ""
    blocks = {
        view.name: [
            html.Ul([_item(claim, note) for claim in judged if claim.claim.name in view.claims],
                    className="claims")
        ]
        for view in VIEWS
        if view.claims
    }  # fmt: skip
    index = [_index(paper, judged, note) for paper in dict.fromkeys(c.claim.paper for c in judged)]
    return blocks | {CLAIMS.name: [html.P([html.Strong(sentence), basis]), *index]}


def _index(paper: Paper, judged: Sequence[Judged], note: str) -> html.Div:
    """Lay out the claims of a paper in short, and its figures; each shows its picture."""
    claims = [
        html.Li(
            html.Button(
                [f"{judgement.claim.where}: ", _outcome(judgement.verdict, note)],
                className="plain", title=judgement.claim.text,
                **{"data-show": VIEW_OF[judgement.claim.name].name, "type": "button"},
            )
        )
        for judgement in judged
        if judgement.claim.paper == paper
    ]  # fmt: skip
    drawn = [view for view in VIEWS if view.source.startswith(paper.short)]
    drawn.sort(key=lambda view: view.source.replace("figures", "figure"))
    buttons = [
        html.Button(view.source.removeprefix(f"{paper.short}, "), className="plain",
                    title=view.title, **{"data-show": view.name, "type": "button"})
        for view in drawn
    ]  # fmt: skip
    return html.Div(
        [html.H3(paper.short), html.Ul(claims, className="claim-index"),
         html.Div(buttons, className="figure-index")]
    )  # fmt: skip


def _item(judged: Judged, note: str) -> html.Li:
    claim, verdict = judged.claim, judged.verdict
    why = [html.P(claim.rule)]
    if verdict.comparisons:
        tests = " and ".join(dict.fromkeys(each.test for each in verdict.comparisons))
        lines = [html.Li(each.words) for each in verdict.comparisons]
        why += [html.P(f"Means of two modes or accesses, n of each, p of {tests}:"), html.Ul(lines)]
    parts = [html.Li([_outcome(part, note), f": {part.words}"]) for part in verdict.parts]
    return html.Li(
        [
            html.Div([html.Strong(_outcome(verdict, note)), " · ", claim.text, " ",
                      html.Span(claim.source, className="quiet")], className="claim"),
            html.Div(html.Ul(parts) if parts else verdict.words, className="claim-verdict"),
            html.Details([html.Summary("rule and numbers"), *why], className="why"),
        ],
        **{"data-claim": claim.name},
    )  # fmt: skip


def _outcome(verdict: Verdict, note: str) -> html.Span:
    """Lay out an outcome with its sign."""
    sign, look = _LOOKS[verdict.outcome]
    mark = html.Span(sign, **{"aria-hidden": "true"})
    return html.Span([mark, f" {verdict.outcome_words(note)}"], className=look)


def published_tables_block(lines: Mapping[str, Sequence[Line]], scene: Scene) -> list:
    """Lay out the compared tables, the other tables, and what is missing."""
    spread = scene.spread_words
    tables = published_tables()
    compared = [
        _matrix(tables[name], own)
        if name == loads_stores.NAME
        else _compared(tables[name], own, spread)
        for name, own in lines.items()
    ]
    alone = [_alone(tables[name]) for name in ALONE]
    note = [html.P(noted(scene.note), className="note")] if scene.note else []
    missing = [
        html.P(
            [
                html.A(paper.citation, href=paper.url, target="_blank", rel="noreferrer"), ". ",
                paper.missing,
            ]
        )
        for paper in papers()
    ]  # fmt: skip
    return [
        *note,
        html.Div([*compared, *alone], className="published-tables"),
        html.Div(missing, className="note"),
    ]


def noted(note: str) -> list:
    """Lay out the warning for all measured values, such as synthetic data; empty without one."""
    return [html.Strong(f" Measured here: {note}.")] if note else []


def _compared(table: PublishedTable, lines: Sequence[Line], spread: str) -> html.Figure:
    heads = [words.format(spread=spread) for words in _HEADS]
    body = [
        html.Tr(
            [
                html.Th(line.words, scope="row"),
                html.Td(line.published, className="number"),
                html.Td(line.measured, className="number measured"),
                html.Td(line.change, className="number"),
            ],
            **{"data-rows": " ".join(map(str, line.rows))},
        )
        for line in lines
    ]
    return _figure(table, heads, ["", *["number"] * 3], body)


def _matrix(table: PublishedTable, lines: Sequence[Line]) -> html.Figure:
    """Lay out one row per source or part, with three columns per mode."""
    modes = list(dict.fromkeys(line.mode for line in lines))
    runs = {line.mode: line.n for line in lines}
    heads = ["Millions a second"]
    for mode in modes:
        label = mode_label(str(mode))
        heads += [f"{label}, published", f"measured here, n = {runs[mode]}", "difference"]
    body = []
    for what in dict.fromkeys(line.what for line in lines):
        by_mode = {line.mode: line for line in lines if line.what == what}
        _, _, part = what.partition("/ ")
        cells = [html.Th(part or what, scope="row", className="part" if part else "")]
        for line in (by_mode[mode] for mode in modes):
            cells += [
                html.Td(_millions(line.value), className="number"),
                html.Td(_millions(line.mean), className="number", title=line.measured),
                html.Td(line.change, className="number"),
            ]
        rows = {row for line in by_mode.values() for row in line.rows}
        body.append(html.Tr(cells, **{"data-rows": " ".join(map(str, sorted(rows)))}))
    found = _figure(table, heads, ["", *["number"] * (3 * len(modes))], body)
    found.className = "wide"
    return found


def _millions(per_s: float | None) -> str:
    return MISSING if per_s is None else f"{per_s / 1e6:,.0f}"


def _alone(table: PublishedTable) -> html.Figure:
    columns = [name for name in table.columns if not name.endswith("_pattern")]
    kinds = ["number" if table.columns[name] == "number" else "" for name in columns]
    body = [
        html.Tr(
            [
                html.Td(_cell(name, row[name]), className=kind)
                for name, kind in zip(columns, kinds, strict=True)
            ]
        )
        for row in table.rows
    ]
    return _figure(table, [_title(name) for name in columns], kinds, body)


def _figure(
    table: PublishedTable, heads: list[str], kinds: list[str], body: list[html.Tr]
) -> html.Figure:
    caption = [table.source, html.Br(), f"read from {table.read_from}."]
    caption += [html.Br(), table.note] if table.note else []
    pairs = zip(heads, kinds, strict=True)
    head = html.Tr([html.Th(words, scope="col", className=kind) for words, kind in pairs])
    return html.Figure(
        [
            html.Figcaption([html.Strong(table.title), html.Br(), *caption]),
            html.Table([html.Thead(head), html.Tbody(body)], className="best published-rows"),
        ]
    )


def _title(name: str) -> str:
    known = SHIPPED.metrics.get(name)
    if known:
        return known.title
    words = name.removeprefix("is_") if name.startswith("is_") else name
    return words.removesuffix("_us").removesuffix("_gb").replace("_", " ").capitalize()


def _cell(name: str, cell: str | float | None) -> str:
    if cell is None:
        return MISSING
    if isinstance(cell, str):
        return cell
    if name.startswith("is_"):
        return "yes" if cell else "no"
    if name == "capacity_gb":
        return f"{cell:g} GB" if cell < 1000 else f"{cell / 1000:g} TB"
    unit = SHIPPED.metrics[name].unit if name in SHIPPED.metrics else _UNITS.get(name, "")
    return format_quantity(cell, unit) if unit else format_digits(cell) if cell % 1 else f"{cell:g}"
