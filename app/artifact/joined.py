"""Join the parts of verify.py, which goes into an artifact as one file, to one program."""

import ast
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("verify")
_PACKAGE: Final = "app.artifact.verify"
# Each part uses only those before it.
PARTS: Final = (
    "report", "functions", "noise", "sets", "claims", "effects", "shares", "maps", "papers",
    "models", "tables", "main",
)  # fmt: skip


def joined() -> str:
    """Return the parts as one program: the words of the last one, all imports, then each part."""
    imports: set[str] = set()
    bodies, words = [], ""
    for part in PARTS:
        text = (_FOLDER / f"{part}.py").read_text("utf-8")
        lines, (first, *rest) = text.splitlines(), ast.parse(text).body
        words = ast.get_source_segment(text, first) or ""
        found = [node for node in rest if isinstance(node, ast.Import | ast.ImportFrom)]
        end = found[-1].end_lineno if found else first.end_lineno
        for node in found:
            if not (isinstance(node, ast.ImportFrom) and str(node.module).startswith(_PACKAGE)):
                imports.add(ast.unparse(node))
        body = "\n".join(lines[end:]).strip("\n")
        bodies.append(f"# {words.strip(chr(34))}\n\n{body}" if part != PARTS[-1] else body)
    ours = [line for line in sorted(imports) if "duckdb" not in line]
    return "\n\n\n".join([f"{words}\n\n" + "\n".join([*ours, "", "import duckdb"]), *bodies]) + "\n"
