"""The claims of papers."""

import re
from pathlib import Path
from typing import Any

import duckdb

from app.artifact.verify.claims import check_listed
from app.artifact.verify.functions import quantile
from app.artifact.verify.report import CLAIM_TOLERANCE, Report, Row

UNDECIDED = "cannot be decided"
UNDECIDED_PART: dict[str, Any] = {"outcome": UNDECIDED, "effect": None, "n": []}


def check_papers(lake: duckdb.DuckDBPyConnection, papers: dict[str, Any], report: Report) -> None:
    """Judge each claim of a paper by its query, and compare verdict, effects and counts."""
    queries = read_rules(Path("papers.sql"))
    for name, before in papers["inputs"].items():
        for sql in [*before, queries[name]]:
            lake.execute(sql)
        if name == "storage":
            fill_student(lake)
    for claim in papers["list"]:
        rows = lake.execute(queries[claim["id"]]).fetchall() if claim["has_runs"] else []
        computed = verdict_of(rows)
        parts = computed.pop("parts")
        name = f"claim {claim['id']}"
        for column, value in computed.items():
            report.compare(f"{name}: {column}", claim["numbers"][column], value, CLAIM_TOLERANCE)
        for number in range(max(len(parts), len(claim["parts"]))):
            shown, again = (
                (each[number : number + 1] or [UNDECIDED_PART])[0]
                for each in (claim["parts"], parts)
            )
            for column, value in again.items():
                report.compare(
                    f"{name}, part {number + 1}: {column}", shown[column], value, CLAIM_TOLERANCE
                )
    check_listed(lake, "tables/findings-published.parquet", papers["list"], report)


def fill_student(lake: duckdb.DuckDBPyConnection) -> None:
    """Make the table `student` of the limits of t at 5 %, for all pairs of counts."""
    lake.execute("CREATE TABLE student (freedom BIGINT, two_sided DOUBLE, one_sided DOUBLE)")
    pairs = lake.execute("SELECT DISTINCT a.n + b.n - 2 FROM counts a, counts b").fetchall()
    for (df,) in pairs:
        limits = [df, quantile(0.025, df), quantile(0.05, df)]
        lake.execute("INSERT INTO student VALUES (?, ?, ?)", limits)


def read_rules(path: Path) -> dict[str, str]:
    """Return the statements below each line `---- NAME` of a file, by name."""
    text = path.read_text("utf-8")
    return dict(re.findall(r"^---- (\S+)\n(.*?)(?=^---- |\Z)", text, re.DOTALL | re.MULTILINE))


def verdict_of(rows: list[tuple[Row | None]]) -> Row:
    """Return verdict, effect, n and decided parts of a claim; its number is its first part's."""
    parts = [part or UNDECIDED_PART for (part,) in rows or [(None,)]]
    outcomes = {part["outcome"] for part in parts}
    first = next((part for part in parts if part["effect"] is not None), parts[0])
    n = first["n"]
    if len(parts) > 1 and first["effect"] is None:
        n = list(dict.fromkeys(k for part in parts for k in part["n"]))
    verdict = "holds in part"
    if len(outcomes) == 1:
        (verdict,) = outcomes
    elif outcomes == {"holds", "nearly"}:
        verdict = "nearly"
    elif outcomes == {"does not hold", UNDECIDED}:
        verdict = "does not hold"
    return {
        "verdict": verdict, "effect": first["effect"], "n": ", ".join(map(str, n)),
        "parts": [
            part | {"n": ", ".join(map(str, part["n"]))} for part in parts
            if part["outcome"] != UNDECIDED or part["effect"] is not None
        ],
    }  # fmt: skip
