"""SVG with fewer bytes: all points of one look are one path, places have one decimal.

matplotlib writes an element for each point, 130 bytes; here a point takes about 20.
"""

import io
import itertools
from typing import Any, Final, TypeAlias

import numpy as np
from matplotlib.backends import backend_svg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path

# Places are tenths of a point.
_PARTS: Final = 10
_CIRCLE_CORNERS: Final = 26
# Corners from which a line has one decimal.
_LONG: Final = 300


# The renderer's own parts are not in matplotlib's types.
_svg: Final[Any] = backend_svg
# Fill and stroke; place in tenths of a point and the outline relative to it.
Look: TypeAlias = tuple[tuple[str, str], ...]
Mark: TypeAlias = tuple[int, int, str]
_Base: Final[Any] = _svg.RendererSVG


class CompactRenderer(_Base):
    """Writes points and cells by their look."""

    def draw_path_collection(
        self, gc: Any, master_transform: Any, paths: Any, all_transforms: Any, offsets: Any,
        offset_trans: Any, facecolors: Any, edgecolors: Any, linewidths: Any, linestyles: Any,
        antialiaseds: Any, urls: Any, offset_position: Any, *, hatchcolors: Any = None,
    ) -> None:  # fmt: skip
        """Write a collection: a path for each look, in the order of their first items."""
        del offset_position
        shapes = list(self._iter_collection_raw_paths(master_transform, paths, all_transforms))
        if not shapes:
            return
        glyphs: dict[int, tuple[np.ndarray, str]] = {}
        looks: dict[Look, list[Mark]] = {}
        for x, y, at, inner, face in self._iter_collection(
            gc, range(len(shapes)), offsets, offset_trans, facecolors, edgecolors, linewidths,
            linestyles, antialiaseds, urls, "screen",
            hatchcolors=[] if hatchcolors is None else hatchcolors,
        ):  # fmt: skip
            if at not in glyphs:
                path, transform = shapes[at]
                glyphs[at] = _glyph(path.transformed(transform))
            looks.setdefault(_look(inner, face), []).append(self._mark(x, y, *glyphs[at]))
        self._write(gc, looks)

    def draw_markers(
        self, gc: Any, marker_path: Any, marker_trans: Any, path: Any, trans: Any,
        rgbFace: Any = None,  # noqa: N803
    ) -> None:  # fmt: skip
        """Write the markers of a line, or a collection of one look, as one path."""
        glyph = _glyph(marker_path.transformed(marker_trans))
        places = [corners[-2:] for corners, _ in path.iter_segments(trans, simplify=False)]
        marks = [self._mark(x, y, *glyph) for x, y in places if np.isfinite(x + y)]
        self._write(gc, {_look(gc, rgbFace): marks})

    def draw_quad_mesh(
        self, gc: Any, master_transform: Any, meshWidth: int, meshHeight: int,  # noqa: N803
        coordinates: Any, offsets: Any, offsetTrans: Any, facecolors: Any,  # noqa: N803
        antialiased: Any, edgecolors: Any,
    ) -> None:  # fmt: skip
        """Write cells: neighbours of one colour in a row as one; edges are shared exactly."""
        if not np.array_equal(facecolors, edgecolors):
            super().draw_quad_mesh(
                gc, master_transform, meshWidth, meshHeight, coordinates, offsets, offsetTrans,
                facecolors, antialiased, edgecolors,
            )  # fmt: skip
            return
        corners = master_transform.transform(np.asarray(coordinates).reshape(-1, 2))
        places = corners.reshape(meshHeight + 1, meshWidth + 1, 2)
        x = np.round(_PARTS * places[0, :, 0]).astype(int).tolist()
        y = np.round(_PARTS * (self.height - places[:, 0, 1])).astype(int).tolist()
        looks: dict[Look, list[Mark]] = {}
        for row, faces in enumerate(np.asarray(facecolors).reshape(meshHeight, meshWidth, 4)):
            starts = [0, *(1 + np.flatnonzero((faces[1:] != faces[:-1]).any(axis=1))), meshWidth]
            for left, right in itertools.pairwise(starts):
                if faces[left][3]:
                    look = (*_filled(faces[left]), ("shape-rendering", "crispEdges"))
                    wide, down = x[right] - x[left], y[row + 1] - y[row]
                    mark = x[left], y[row], f"h{wide}v{down}h{-wide}z"
                    looks.setdefault(look, []).append(mark)
        self._write(gc, looks)

    def _mark(self, x: float, y: float, start: np.ndarray, glyph: str) -> Mark:
        left, down = _PARTS * (x + start[0]), _PARTS * (self.height - y - start[1])
        return round(left), round(down), glyph

    def _write(self, gc: Any, looks: dict[Look, list[Mark]]) -> None:
        self.writer.start("g", **self._get_clip_attrs(gc))
        self.writer.start("g", transform=f"scale({1 / _PARTS})")
        for look, marks in looks.items():
            if marks:
                self.writer.element("path", d=_path_of(marks), **dict(look))
        self.writer.end("g")
        self.writer.end("g")

    def _convert_path(
        self, path: Any, transform: Any = None, clip: Any = None, simplify: Any = None,
        sketch: Any = None,
    ) -> str:  # fmt: skip
        box = (0.0, 0.0, self.width, self.height) if clip else None
        digits = 2 if len(path.vertices) < _LONG else 1
        letters = [b"M", b"L", b"Q", b"C", b"z"]
        text = _svg._path.convert_to_string(
            path, transform, box, simplify, sketch, digits, letters, False
        )
        return str(text.decode("ascii"))


def _path_of(marks: list[Mark]) -> str:
    """Return one path of all marks: of equal looks no order shows, so each is near the last."""
    words: list[str] = []
    at = (0, 0)
    for x, y, glyph in sorted(marks):
        is_near = words and words[-1].endswith("z")
        move = f"m{x - at[0]} {y - at[1]}" if is_near else f"M{x} {y}"
        words.append(move.replace(" -", "-") + glyph)
        at = x, y
    return "".join(words)


def _filled(face: Any) -> Look:
    if face is None or not face[3]:
        return (("fill", "none"),)
    fill = ("fill", to_hex(face[:3]))
    return (fill,) if face[3] == 1 else (fill, ("fill-opacity", f"{face[3]:.2f}"))


def _look(gc: Any, face: Any) -> Look:
    found = dict(_filled(face))
    width = gc.get_linewidth()
    rgb = gc.get_rgb()
    if width and rgb[3]:
        found |= {"stroke": to_hex(rgb[:3]), "stroke-width": f"{_PARTS * width:.1f}"}
        if rgb[3] < 1:
            found["stroke-opacity"] = f"{rgb[3]:.2f}"
    return tuple(found.items())


def _glyph(path: Path) -> tuple[np.ndarray, str]:
    """Return where a shape begins, points, and the rest of it relative to that."""
    corners = np.asarray(path.vertices, float)
    codes = [] if path.codes is None else np.asarray(path.codes).tolist()
    if len(corners) == _CIRCLE_CORNERS and Path.CURVE4 in codes:
        low, high = corners.min(axis=0), corners.max(axis=0)
        radius = _PARTS * (high[0] - low[0]) / 2
        start = np.array([low[0], (low[1] + high[1]) / 2])
        # All but a tenth of a point of the circle, and a line to close it.
        return start, f"a{radius:.0f} {radius:.0f} 0 1 1 0 1z"
    words: list[str] = []
    at, start = np.zeros(2), corners[0]
    for points, code in path.iter_segments(curves=True, simplify=False):
        ends = np.round(_PARTS * (np.asarray(points).reshape(-1, 2) - start) * (1, -1))
        if code == Path.MOVETO and not words:
            words.append("")
        elif code == Path.CLOSEPOLY:
            words.append("z")
            continue
        else:
            letter = {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c"}[code]
            steps = [f"{step + 0.0:.0f}" for step in (ends - at).ravel()]
            if letter == "l" and "0" in steps:
                words.append(f"v{steps[1]}" if steps[0] == "0" else f"h{steps[0]}")
            else:
                letter = " " if letter == "l" and words[-1].startswith(("l", " ")) else letter
                words.append((letter + " ".join(steps)).replace(" -", "-"))
        at = ends[-1]
    if len(words) > 2 and words[-1] != "z" and not at.any():
        words[-1] = "z"
    return start, "".join(words)


def svg_of(figure: Figure, metadata: dict[str, str | None]) -> bytes:
    """Write a figure as SVG."""
    was = _svg.RendererSVG, _svg._short_float_fmt
    buffer = io.StringIO()
    _svg.RendererSVG = CompactRenderer
    _svg._short_float_fmt = _short
    try:
        figure.savefig(buffer, format="svg", metadata=metadata)
    finally:
        _svg.RendererSVG, _svg._short_float_fmt = was
    return buffer.getvalue().encode()


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
