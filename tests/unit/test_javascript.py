"""What `make lint` holds JavaScript to: the linter's rules, and the length of a line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_LINE = 110
SCRIPTS = sorted(
    path for room in ("assets", "bench", "tests") for path in (ROOT / room).rglob("*.js")
)
FOLDERS = sorted({path.parent.relative_to(ROOT) for path in SCRIPTS})
OXLINT = shutil.which("oxlint", path=str(Path(sys.executable).parent))


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_no_line_of_javascript_is_too_long(folder: Path) -> None:
    too_long = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in SCRIPTS
        if path.parent == ROOT / folder
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert not too_long, "\n".join(too_long)


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("const unused = 1;", "no-unused-vars"),
        ("plotly.react();", "no-undef"),
        ("let once = wattlas.plots; Plotly.react(once);", "prefer-const"),
        ("wattlas.shared = 1; undeclared = 2;", "no-undef"),
        ("if (wattlas.count == 1) dash_clientside.set_props('a', {});", "eqeqeq"),
    ],
)
def test_linter_refuses(tmp_path: Path, script: str, rule: str) -> None:
    assert OXLINT, "oxlint is missing: run `make lint`"
    (tmp_path / "page.js").write_text(f'(function () {{\n  "use strict";\n  {script}\n}})();\n')
    command = [OXLINT, "--config", str(ROOT / ".oxlintrc.json"), str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert f"({rule})" in answer.stdout
