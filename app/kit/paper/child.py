"""The process that makes one file of a figure: matplotlib is imported here alone.

It is a `Child` (`data/child_process.py`): it reads a line of JSON, answers with one and with the
bytes of the file, and ends.
"""

import io
import json
import os
import resource
import sys
from typing import Any, Final

ADDRESS_SPACE_BYTES: Final = 1536 << 20
CPU_S: Final = 20
# A figure waits for the processor rather than visitors of other pages.
NICENESS: Final = 5


def main() -> None:
    """Make one file; the answer is the only thing written to standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    os.nice(NICENESS)
    question = json.loads(sys.stdin.buffer.readline())
    # Where matplotlib keeps its list of fonts.
    os.environ["MPLCONFIGDIR"] = question["folder"]
    try:
        body = made(question)
        head: dict[str, Any] = {"body_bytes": len(body)}
    except Exception as error:
        from data.errors import WattlasError

        reason = (
            str(error)
            if isinstance(error, WattlasError)
            else f"a part of it cannot be read ({error!r})"
        )
        head, body = {"error": f"this picture cannot be drawn: {reason}"[:500]}, b""
    out = sys.stdout.buffer
    out.write(json.dumps(head).encode() + b"\n" + body)
    out.flush()


def made(question: dict[str, Any]) -> bytes:
    """Return the bytes of a file.

    Args:
        question: `figure`, `size_px`, `options`, `caption` and `version`.

    Raises:
        FigureError: The figure cannot be drawn.
    """
    from app.kit.paper.options import DPI, Options
    from app.kit.paper.pdf import pdf_of
    from app.kit.paper.plan import plan_of
    from app.kit.paper.room import draw
    from app.kit.paper.script import archive_of
    from app.kit.paper.vector import svg_of

    options = Options(**question["options"])
    plan = plan_of(question["figure"], tuple(question["size_px"]), options)
    figure = draw(plan)
    caption, maker = question["caption"], question["maker"]
    title = caption.split("\n")[0]
    if options.format == "script":
        return archive_of(plan, caption)
    if options.format == "svg":
        file_metadata = {"Title": title, "Description": caption, "Creator": maker, "Date": None}
        return svg_of(figure, file_metadata)
    if options.format == "pdf":
        named: dict[str, Any] = {"Title": title, "Subject": caption, "Creator": maker}
        return pdf_of(figure, {**named, "CreationDate": None})
    buffer = io.BytesIO()
    file_metadata = {"Title": title, "Description": caption, "Software": maker}
    figure.savefig(buffer, format="png", dpi=DPI * options.scale, metadata=file_metadata)
    return buffer.getvalue()
