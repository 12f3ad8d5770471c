"""Recompute the numbers of this study from data/runs.parquet. Needs Python 3.10 and DuckDB alone.

    pip install duckdb
    python verify.py

Every mean, deviation and count in tables/ is computed again by SQL, bins and totals of Timeline by
its interrupts, every claim from the runs up: moments of the settings, their shared noise,
best sets, intervals, outcomes. So are effects and shares of knobs, tests of order, maps with
outcomes, leads and level, and curves of models that have a formula. The claims of papers are judged
again by the queries of papers.sql, those on models from the values in data/models.parquet, of which
those with a formula are computed again here. Each number that differs is named. The exit status is
0 if all agree, else 1.

Given, not computed: which setting a claim recommends, the steps of the knobs, which
configurations of storage runs are compared, and the values that only a simulation yields.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

import duckdb

from app.artifact.verify.claims import check_claims
from app.artifact.verify.models import check_models
from app.artifact.verify.papers import check_papers
from app.artifact.verify.report import Report, rows_of
from app.artifact.verify.tables import check_table

FAULTS = (
    OSError, ValueError, LookupError, TypeError, ArithmeticError, StopIteration, duckdb.Error
)  # fmt: skip


def main() -> int:
    os.chdir(Path(__file__).resolve().parent)
    report = Report()
    try:
        check_sums(report)
        checks = json.loads(Path("checks.json").read_text("utf-8"))
        lake = duckdb.connect()
        for view in checks["views"]:
            lake.execute(view)
        settings = rows_of(lake, checks["claims"]["moments"])
        for table in checks["tables"]:
            check_table(lake, table, settings, report)
        check_claims(lake, checks["claims"], settings, report)
        check_papers(lake, checks["papers"], report)
        check_models(lake, report)
    except FAULTS as error:
        report.fault(f"cannot be verified: {error}")
    is_whole = not report.faults and report.agreed == report.numbers
    print(f"{report.agreed} of {report.numbers} numbers agree")
    return 0 if is_whole else 1


def check_sums(report: Report) -> None:
    for line in Path("SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split("  ", 1)
        path = Path(name)
        if not path.is_file():
            report.fault(f"{name}: missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            report.fault(f"{name}: its SHA-256 sum is another than SHA256SUMS has")


if __name__ == "__main__":
    sys.exit(main())
