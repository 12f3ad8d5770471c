"""PDF with fewer bytes: places have two decimals, cells of one colour are one path."""

import io
from typing import Any, Final

import numpy as np
from matplotlib.backends import backend_pdf
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform

from app.kit.paper.vector import COARSE, merged_cells

# The renderer's own parts are not in matplotlib's types.
_pdf: Final[Any] = backend_pdf
_BaseFile: Final[Any] = _pdf.PdfFile
_BaseRenderer: Final[Any] = _pdf.RendererPdf
_LETTERS: Final = [b"m", b"l", b"", b"c", b"h"]
# Corners from which a line has one decimal.
_LONG: Final = 300
# Hides the seams that readers of PDF show between areas.
_SEAM_PT: Final = 0.1


class CompactFile(_BaseFile):
    """Writes paths with two decimals, matplotlib's have six."""

    @staticmethod
    def pathOperations(  # noqa: N802
        path: Any, transform: Any, clip: Any = None, simplify: Any = None, sketch: Any = None
    ) -> list[Any]:
        """Return a path in the language of PDF."""
        digits = 2 if len(path.vertices) < _LONG else 1
        text = _pdf._path.convert_to_string(
            path, transform, clip, simplify, sketch, digits, _LETTERS, True
        )
        return [_pdf.Verbatim(text)]


class CompactRenderer(_BaseRenderer):
    """Writes cells by their colour."""

    def draw_quad_mesh(
        self, gc: Any, master_transform: Any, meshWidth: int, meshHeight: int,  # noqa: N803
        coordinates: Any, offsets: Any, offsetTrans: Any, facecolors: Any,  # noqa: N803
        antialiased: Any, edgecolors: Any,
    ) -> None:  # fmt: skip
        """Write cells: a path for each colour."""
        if not np.array_equal(facecolors, edgecolors):
            super().draw_quad_mesh(
                gc, master_transform, meshWidth, meshHeight, coordinates, offsets, offsetTrans,
                facecolors, antialiased, edgecolors,
            )  # fmt: skip
            return
        looks: dict[tuple[float, ...], list[tuple[float, float]]] = {}
        cells = merged_cells(master_transform, coordinates, facecolors, 0.0)
        for face, *places in cells:
            left, middle, wide, down = (place / COARSE for place in places)
            # A cell is a line as thick as its row.
            looks.setdefault((*face, down), []).extend([(left, -middle), (left + wide, -middle)])
        inner = self.new_gc()
        inner.copy_properties(gc)
        inner.set_capstyle("butt")
        for (*hue, down), ends in looks.items():
            inner.set_foreground(hue, isRGBA=True)
            inner.set_linewidth(down + _SEAM_PT)
            path = Path(ends, (Path.MOVETO, Path.LINETO) * (len(ends) // 2))
            self.draw_path(inner, path, IdentityTransform())
        inner.restore()


def pdf_of(figure: Figure, metadata: dict[str, Any]) -> bytes:
    """Write a figure as PDF."""
    was = _pdf.PdfFile, _pdf.RendererPdf
    buffer = io.BytesIO()
    _pdf.PdfFile, _pdf.RendererPdf = CompactFile, CompactRenderer
    try:
        figure.savefig(buffer, format="pdf", metadata=metadata)
    finally:
        _pdf.PdfFile, _pdf.RendererPdf = was
    return buffer.getvalue()
