"""The layout of the page Lake: datasets, questions, coverage, problems.

A dataset describes itself in Markdown; HTML in that is text.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl
from dash import html
from dash.development.base_component import Component
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from app.kit import ids
from app.kit.encodings import without_marks
from app.kit.export import ExportedPage, how_computed, render
from app.kit.lake_view import LakeView
from app.kit.page_layout import page_layout, panel, state_stores, status_line, view_menu
from app.kit.words import EMPTY_LAKE_PLAIN, empty_lake, knob_words, load_words, workload_title
from app.lake.answer import (
    coverage,
    datasets_of,
    explain,
    flags_of,
    knob_ranges,
    nothing_asked,
    problems_of,
    questions_of,
    small_coverage,
)
from app.lake.state import LakePageState
from data.units import counted, format_quantity

IDS: Final = ids.PageIds("lake")
SECTIONS: Final = {
    "questions": "Questions that this lake can answer", "datasets": "Datasets",
    "coverage": "Coverage", "problems": "Problems",
}  # fmt: skip
_SHOWN_KNOBS: Final = 8
_SHOWN_PROBLEMS: Final = 12
# Markdown without HTML and pictures; links lead to addresses of these schemes only.
_READER: Final = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_SCHEMES: Final = ("http://", "https://", "mailto:")
_TAGS: Final = {
    "paragraph": html.P, "strong": html.Strong, "em": html.Em, "blockquote": html.Blockquote,
    "bullet_list": html.Ul, "ordered_list": html.Ol, "list_item": html.Li, "heading": html.H4,
    "thead": html.Thead, "tbody": html.Tbody, "tr": html.Tr,
}  # fmt: skip
_TEXTS: Final = {"code_inline": html.Code, "fence": html.Pre, "code_block": html.Pre}
_PLAIN: Final = {"text": None, "softbreak": " ", "hardbreak": "\n"}


def lake_layout(view: LakeView, state: LakePageState, notice: str) -> html.Main:
    """Lay out the page; the answers to questions come by a callback."""
    stores = state_stores(IDS.page, view, state, [IDS("questions-html")])
    status = [html.Span(status_words(view)), html.Span(id="status-selection")]
    # The frame expects a sidebar, which this page does not need.
    sidebar = html.Aside(id="sidebar", className="sidebar", hidden=True)
    return page_layout(
        IDS.page, stores, notice, sidebar, first_sections(view, has_menus=True),
        status_line(IDS, components=status),
    )  # fmt: skip


def first_sections(view: LakeView, has_menus: bool = False) -> list[Component]:
    """Lay out the sections, without the answers to questions."""
    made = blocks(view)
    bodies = {name: [html.Div(made[name], className="lake-body")] for name in made}
    bodies["questions"] = [html.Div(id=IDS("questions"), className="lake-body pending")]
    return _sections(bodies, has_menus)


def status_words(view: LakeView) -> str:
    """Count datasets and runs."""
    if not view.runs:
        return ""
    return f"{counted(len(datasets_of(view)), 'dataset')}, {counted(view.runs, 'run')}"


def _sections(bodies: dict[str, list], has_menus: bool = True) -> list[Component]:
    return [
        panel(
            name, title, [html.H2(title), *([view_menu(name, title)] if has_menus else [])],
            bodies[name], f"lake-section panel-{name}",
        )
        for name, title in SECTIONS.items()
    ]  # fmt: skip


def blocks(view: LakeView) -> dict[str, list]:
    """Lay out the blocks that are there at once, by view."""
    if not view.runs:
        words = html.P(EMPTY_LAKE_PLAIN)
        return {"datasets": [words], "coverage": [words], "problems": _problems(view)}
    return {
        "datasets": [_dataset(view, row) for row in datasets_of(view).iter_rows(named=True)],
        "coverage": _coverage(view),
        "problems": _problems(view),
    }


def questions_block(view: LakeView) -> list:
    """Lay out the questions: each a link with its answer in a sentence."""
    questions = questions_of(view)
    if not questions:
        words = nothing_asked(view) if view.runs else without_marks(empty_lake(view))
        return [html.P(words, className="note")]
    return [
        html.Dl(
            [
                part
                for one in questions
                for part in (html.Dt(html.A(one.title, href=one.link(view))), html.Dd(one.answer))
            ]
        )
    ]


def _dataset(view: LakeView, row: dict[str, Any]) -> html.Section:
    """Lay out what one dataset holds."""
    synthetic = [html.Strong("synthetic", className="badge")] if row["is_synthetic"] else []
    about = view.lake.about.get(row["dataset"], {})
    url = about.get("url", "")
    is_own = pl.col("dataset").eq_missing(pl.lit(row["dataset"]))
    flags = flags_of(view).filter(is_own).drop("dataset").rows()
    by_severity = problems_of(view).filter(is_own).group_by("severity", maintain_order=True)
    problems = by_severity.agg(pl.col("count").sum()).rows()
    facts = {
        "citation": about.get("citation"),
        "licence": about.get("licence"),
        "address": web_link(url, [url]) if url else "",
        "runs": f"{row['runs']:,} in {counted(row['configurations'], 'configuration')}; n at least "
        f"{row['least_n']:,}, median {row['median_n']:g}",
        "workloads": _listed([workload_title(n) for n in row["workloads"] or ()]),
        "systems": _listed(row["systems"]),
        "machines": _listed(row["machines"]),
        "devices": _listed(row["devices"]),
        "knobs": _knobs(view, row["dataset"]),
        "time": _span(row["first_s"], row["last_s"]),
        "source": f"{_listed(row['sources'])}; {counted(row['raw_files'] or 0, 'file')}, "
        f"{format_quantity(row['raw_bytes'], 'B')}",
        "logs": _logs(row["with_interrupts"], row["logged"] - row["with_interrupts"]),
        "in the lake": format_quantity(row["lake_bytes"], "B") if row["lake_bytes"] else "",
        "flags": "; ".join(
            f"{flag}: {counted(runs, 'run')}" for flag, runs in flags
        ),
        "problems": "; ".join(f"{severity}: {count:,}" for severity, count in problems),
        "missing": row["missing"],
    }  # fmt: skip
    rows = [
        html.Tr([html.Th(name, scope="row"), html.Td(words)])
        for name, words in facts.items()
        if words
    ]
    return html.Section(
        [
            html.H3([row["dataset"] or "without a name", *synthetic]),
            *([readme(about["description"])] if "description" in about else []),
            html.Table(html.Tbody(rows)),
        ],
        className="lake-dataset",
    )


def _listed(names: Sequence[str] | None) -> str:
    return ", ".join(names or [])


def _knobs(view: LakeView, dataset: str | None) -> str:
    rows = knob_ranges(view).filter(pl.col("dataset").eq_missing(pl.lit(dataset)))
    items = []
    for row in rows.iter_rows(named=True):
        knob, count = view.catalogue.knob_of_column[row["knob"]], row["count"]
        # A run that was given nothing is no level; a knob that was not set is.
        unset = "" if knob.is_given or not row["unset"] else f" or {knob.label(None)}"
        if count == 1 and not unset:
            continue
        if not knob.facet.is_number:
            shown = ", ".join(row["names"]) + (" ..." if count > len(row["names"]) else "")
        else:
            ends = [
                knob.words(float(row[end])).removeprefix(knob.before) for end in ("low", "high")
            ]
            shown = " to ".join(dict.fromkeys(ends))
        counted = f" ({count} values)" if count > 1 else ""
        items.append(f"{knob.noun}: {shown}{unset}{counted}")
    more = [f"{len(items) - _SHOWN_KNOBS} more"] if len(items) > _SHOWN_KNOBS else []
    return "; ".join([*items[:_SHOWN_KNOBS], *more])


def _logs(interrupts: int, samples: int) -> str:
    """Return of how many runs the lake has each interrupt, or samples over time."""
    of_each = [(interrupts, "with every interrupt"), (samples, "with samples over time")]
    return "; ".join(f"{counted(n, 'run')} {words}" for n, words in of_each if n) or "none"


def _span(first_s: float | None, last_s: float | None) -> str:
    if first_s is None or last_s is None:
        return ""
    first, last = (
        datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M") for when in (first_s, last_s)
    )
    return f"{first} to {last} UTC"


def _coverage(view: LakeView) -> list:
    """Lay out a matrix a dataset: places down, systems across; a cell has runs and settings."""
    rows, parts = coverage(view), []
    for dataset in datasets_of(view)["dataset"]:
        every = rows.filter(pl.col("dataset").eq_missing(pl.lit(dataset)))
        own, over = small_coverage(every, view.catalogue)
        systems = own.select("system", "system_label").unique("system", maintain_order=True)
        places: dict[str, dict[str, str]] = {}
        for row in own.iter_rows(named=True):
            cell = f"{row['runs']:,} in {row['configurations']:,}"
            places.setdefault(_place(view, row), {})[row["system"]] = cell
        head = [html.Th("place", scope="col")]
        head += [html.Th(label or name or "system not named", scope="col")
                 for name, label in systems.rows()]  # fmt: skip
        body = [
            html.Tr([html.Th(place_text, scope="row"), *[
                html.Td(cells.get(name, "\N{EN DASH}"), className="" if name in cells else "none")
                for name in systems["system"]
            ]])
            for place_text, cells in places.items()
        ]  # fmt: skip
        table = html.Table([html.Thead(html.Tr(head)), html.Tbody(body)], className="lake-matrix")
        note = [html.P(f"Over all values of {', '.join(over)}.", className="note")] if over else []
        frame = html.Div(table, className="table-frame")
        parts.append(html.Section([html.H3(dataset or "without a name"), *note, frame]))
    words = html.P("Runs in configurations, by place and system.", className="note")
    return [words, html.Div(parts, className="lake-columns")]


def _place(view: LakeView, row: dict[str, Any]) -> str:
    load = load_words(row.get("load_qps"), row.get("message_bytes"))
    shown = {"dataset", "system", "load_qps", "message_bytes", "workload"}
    others = [
        knob_words(view.catalogue.knob_of_column[name], row[name])
        for name in view.catalogue.choice_columns
        if name not in shown and row.get(name) is not None
    ]
    workload = workload_title(row["workload"])
    return " \N{MIDDLE DOT} ".join(filter(None, [workload, load, *others]))


def _problems(view: LakeView) -> list:
    rows = problems_of(view)
    if not len(rows):
        return [html.P("Nothing was refused, repaired or doubted.", className="note")]
    head = ("", "what", "where", "reason", "times")
    made = [
        html.Tr([html.Td(words, **{"data-label": label}) for label, words in zip(head, (
            row["severity"], row["kind"],
            f"{row['dataset'] or ''} {row['path'] or ''}"
            + ("" if row["line"] is None else f", line {row['line']:,}"),
            row["detail"], f"{row['count']:,}",
        ), strict=True)])
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    heading = html.Thead(html.Tr([html.Th(word or "severity", scope="col") for word in head]))
    parts: list = [html.Table([heading, html.Tbody(made[:_SHOWN_PROBLEMS])], className="lake-list")]
    if more := made[_SHOWN_PROBLEMS:]:
        rest = html.Table([heading, html.Tbody(more)], className="lake-list")
        parts.append(html.Details([html.Summary(f"{len(more):,} more"), rest]))
    return [html.Div(parts, className="table-frame")]


def export_page(view: LakeView, state: LakePageState) -> ExportedPage:
    """Build the page for an export: all blocks, without a server."""
    bodies = {name: [html.Div(body, className="lake-body")] for name, body in blocks(view).items()}
    bodies["questions"] = [html.Div(questions_block(view), className="lake-body")]
    how = how_computed("\n\n".join(explain(view, state, name) for name in SECTIONS))
    main = html.Main(
        [html.H2(f"Lake {view.lake.path.name}"), html.P(status_words(view)),
         html.Div(_sections(bodies, has_menus=False), className="views"), how],
        className="lake lake-export",
    )  # fmt: skip
    return ExportedPage(f"Lake {view.lake.path.name}", render(main), {}, view.is_synthetic)


def readme(text: str) -> html.Div:
    """Lay out a text in Markdown."""
    root = SyntaxTreeNode(_READER.parse(text))
    return html.Div(_laid_out(root.children), className="lake-readme")


def web_link(href: str, parts: Sequence[Component | str]) -> html.A | html.Span:
    """Lay out a link; its text alone where the address is none of the web."""
    if not href.lower().startswith(_SCHEMES):
        return html.Span(parts)
    return html.A(parts, href=href, rel="noopener noreferrer nofollow")


def _laid_out(nodes: Sequence[SyntaxTreeNode]) -> list[Component | str]:
    parts: list[Component | str] = []
    for node in nodes:
        if node.type in _PLAIN:
            parts.append(_PLAIN[node.type] or node.content)
        elif node.type in _TEXTS:
            parts.append(_TEXTS[node.type](node.content))
        elif node.type == "link":
            parts.append(web_link(str(node.attrs["href"]), _laid_out(node.children)))
        elif node.type == "table":
            # What is wider than its dataset scrolls, also by keys.
            box = {"tabIndex": 0, "role": "group", "aria-label": "table"}
            rows = html.Table(_laid_out(node.children))
            parts.append(html.Div(rows, className="lake-wide", **box))
        elif node.type in ("th", "td"):
            cell = html.Th if node.type == "th" else html.Td
            side = str(node.attrs.get("style", "")).removeprefix("text-align:")
            parts.append(cell(_laid_out(node.children), className=side or "left"))
        elif node.type in _TAGS:
            parts.append(_TAGS[node.type](_laid_out(node.children)))
        elif node.type == "hr":
            parts.append(html.Hr())
        else:
            parts += _laid_out(node.children)
    return parts
