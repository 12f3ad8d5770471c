"""SVG with fewer bytes: all points of one look are one path, places have one decimal.

matplotlib writes an element for each point, 130 bytes; here a point takes about 20.
"""

import io
import itertools
import re
from collections.abc import Iterator
from statistics import mode
from typing import Any, Final, TypeAlias

import numpy as np
from matplotlib.backends import backend_svg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.path import Path

# Places are tenths of a point.
_PARTS: Final = 10
_CIRCLE_CORNERS: Final = 26
# Corners or marks from which they are on a grid of fifths of a point, 360 dots an inch.
_LONG: Final = 300
# Corners from which a line is written by steps.
_STEPPED: Final = 8
COARSE: Final = 5
_GROUPS: Final = ("figure", "axes", "legend")
# What matplotlib writes of a text that is not turned.
_NOT_TURNED: Final = re.compile(r' transform="rotate\(-0 [^()"]*\)"')


# The renderer's own parts are not in matplotlib's types.
_svg: Final[Any] = backend_svg
# Fill and stroke; place in tenths of a point and the outline relative to it.
Look: TypeAlias = tuple[tuple[str, str], ...]
Mark: TypeAlias = tuple[int, int, str]
# As `merged_cells` yields it.
Cell: TypeAlias = tuple[tuple[float, float, float, float], int, float, int, int]
_Base: Final[Any] = _svg.RendererSVG


class CompactRenderer(_Base):
    """Writes points and cells by their look."""

    def draw_path_collection(
        self, gc: Any, master_transform: Any, paths: Any, all_transforms: Any, offsets: Any,
        offset_trans: Any, facecolors: Any, edgecolors: Any, linewidths: Any, linestyles: Any,
        antialiaseds: Any, urls: Any, offset_position: Any, *, hatchcolors: Any = None,
    ) -> None:  # fmt: skip
        """Write a collection: a path for each look, in the order of their first items."""
        shapes = list(self._iter_collection_raw_paths(master_transform, paths, all_transforms))
        if not shapes:
            return
        del offset_position
        parts = COARSE if len(offsets) >= _LONG else _PARTS
        glyphs: dict[int, tuple[np.ndarray, str]] = {}
        looks: dict[Look, list[Mark]] = {}
        for x, y, at, inner, face in self._iter_collection(
            gc, range(len(shapes)), offsets, offset_trans, facecolors, edgecolors, linewidths,
            linestyles, antialiaseds, urls, "screen",
            hatchcolors=[] if hatchcolors is None else hatchcolors,
        ):  # fmt: skip
            if at not in glyphs:
                path, transform = shapes[at]
                glyphs[at] = _glyph(path.transformed(transform), parts)
            look = _look(inner, face, parts)
            looks.setdefault(look, []).append(self._mark(x, y, *glyphs[at], parts))
        self._write(gc, looks, parts)

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Open a group: of a figure or a panel; those of single lines and texts are left out."""
        if s in _GROUPS:
            super().open_group(s, gid)

    def close_group(self, s: str) -> None:
        """Close what `open_group` opened."""
        if s in _GROUPS:
            super().close_group(s)

    def draw_markers(
        self, gc: Any, marker_path: Any, marker_trans: Any, path: Any, trans: Any,
        rgbFace: Any = None,  # noqa: N803
    ) -> None:  # fmt: skip
        """Write the markers of a line, or a collection of one look, as one path."""
        if len(marker_path.vertices) >= _LONG and len(path.vertices) == 1:
            place = trans.transform(path.vertices[0])
            self.draw_path(gc, marker_path, marker_trans.translate(*place), rgbFace)
            return
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
        cells = [*merged_cells(master_transform, coordinates, facecolors, self.height)]
        # A cell is a line as thick as its row: a third of the bytes of its four corners.
        thick = mode([down for *_, down in cells] or [0])
        common = {"fill": "none", "stroke-width": str(thick), "shape-rendering": "crispEdges"}
        for layer in _layers(cells):
            looks: dict[Look, str] = {}
            ends: dict[Look, tuple[int, float]] = {}
            for face, x, y, wide, down in layer:
                look = (
                    ("stroke", to_hex(face[:3])),
                    *((("stroke-width", str(down)),) if down != thick else ()),
                    *((("stroke-opacity", f"{face[3]:.2f}"),) if face[3] < 1 else ()),
                )  # fmt: skip
                left, top = ends.get(look, (0, 0.0))
                step = f"m{x - left} {y - top:g}" if look in ends else f"M{x} {y:g}"
                looks[look] = looks.get(look, "") + f"{step.replace(' -', '-')}h{wide}"
                ends[look] = x + wide, y
            self._write_paths(gc, looks, COARSE, common)

    def _mark(self, x: float, y: float, start: np.ndarray, glyph: str, parts: int = _PARTS) -> Mark:
        left, down = parts * (x + start[0]), parts * (self.height - y - start[1])
        return round(left), round(down), glyph

    def _write(self, gc: Any, looks: dict[Look, list[Mark]], parts: int = _PARTS) -> None:
        self._write_paths(gc, {look: _path_of(marks) for look, marks in looks.items()}, parts)

    def _write_paths(
        self, gc: Any, looks: dict[Look, str], parts: int, common: dict[str, str] | None = None
    ) -> None:
        clip, scale = self._get_clip_attrs(gc), {"transform": f"scale({1 / parts})"}
        looks = {look: d for look, d in looks.items() if d}
        if clip:
            self.writer.start("g", **clip)
        if len(looks) == 1:
            ((look, d),) = looks.items()
            self.writer.element("path", d=d, **(common or {}), **dict(look), **scale)
        elif looks:
            # What all looks have is written once.
            shared = set.intersection(*map(set, looks))
            self.writer.start("g", **scale, **(common or {}), **dict(sorted(shared)))
            for look, d in looks.items():
                own = {name: value for name, value in look if (name, value) not in shared}
                self.writer.element("path", d=d, **own)
            self.writer.end("g")
        if clip:
            self.writer.end("g")

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:  # noqa: N803
        """Write a line; a solid one of many corners by steps."""
        is_plain = gc.get_dashes()[1] is None and not gc.get_hatch() and not gc.get_sketch_params()
        steps = (Path.MOVETO, Path.LINETO, Path.CLOSEPOLY, Path.STOP)
        is_plain = is_plain and (path.codes is None or bool(np.isin(path.codes, steps).all()))
        if len(path.vertices) < _STEPPED or not is_plain:
            super().draw_path(gc, path, transform, rgbFace)
            return
        parts = COARSE if len(path.vertices) >= _LONG else _PARTS
        box = None if rgbFace is not None else (0.0, 0.0, self.width, self.height)
        flipped = path.cleaned(self._make_flip_transform(transform), True, box)
        self._write(gc, {_look(gc, rgbFace, parts): [(0, 0, _steps(flipped, parts))]}, parts)

    def _convert_path(
        self, path: Any, transform: Any = None, clip: Any = None, simplify: Any = None,
        sketch: Any = None,
    ) -> str:  # fmt: skip
        box = (0.0, 0.0, self.width, self.height) if clip else None
        letters = [b"M", b"L", b"Q", b"C", b"z"]
        text = _svg._path.convert_to_string(
            path, transform, box, simplify, sketch, 2, letters, False
        )
        return str(text.decode("ascii"))


def _steps(path: Path, parts: int) -> str:
    """Write a path by steps on a grid; corners between steps of one direction go."""
    codes, corners = np.asarray(path.codes), np.asarray(path.vertices)
    path_parts: list[str] = []
    at, last = np.zeros(2, int), (0, 0)
    kept = np.isin(codes, (Path.MOVETO, Path.LINETO))
    places = np.round(parts * corners[kept]).astype(int)
    for is_move, place in zip((codes[kept] == Path.MOVETO).tolist(), places, strict=True):
        x, y = (place - at).tolist()
        at = place
        if is_move:
            path_parts.append(f"m{x} {y}l")
            last = 0, 0
        elif x or y:
            if x * last[1] == y * last[0] and x * last[0] + y * last[1] > 0:
                path_parts.pop()
                x, y = x + last[0], y + last[1]
            path_parts.append(f"{x} {y}" if path_parts[-1].endswith("l") else f" {x} {y}")
            last = x, y
    return "".join(path_parts).replace(" -", "-").replace("lm", "m").removesuffix("l")


def merged_cells(transform: Any, coordinates: Any, faces: Any, height: float) -> Iterator[Cell]:
    """Yield lines of cells that are seen, neighbours of one colour in a row as one.

    Returns:
        Colour; left end, middle from above, length and thickness in steps of the coarse grid. Ends
        are shared exactly.
    """
    down, across = (side - 1 for side in np.shape(coordinates)[:2])
    places = transform.transform(np.asarray(coordinates).reshape(-1, 2)).reshape(down + 1, -1, 2)
    x = np.round(COARSE * places[0, :, 0]).astype(int).tolist()
    y = np.round(COARSE * (height - places[:, 0, 1])).astype(int).tolist()
    for row, hues in enumerate(np.asarray(faces).reshape(down, across, 4)):
        top, bottom = sorted((y[row], y[row + 1]))
        starts = [0, *(1 + np.flatnonzero((hues[1:] != hues[:-1]).any(axis=1))), across]
        for left, right in itertools.pairwise(starts):
            if hues[left][3]:
                first, last = sorted((x[left], x[right]))
                red, green, blue, alpha = hues[left].tolist()
                middle = (top + bottom) / 2
                yield (red, green, blue, alpha), first, middle, last - first, bottom - top


def _layers(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Yield cells to be drawn below and above: of a whole row the commonest colour is one line."""
    below, above = [], []
    for y, group in itertools.groupby(cells, key=lambda cell: cell[2]):
        row = list(group)
        left, right = min(cell[1] for cell in row), max(cell[1] + cell[3] for cell in row)
        if sum(cell[3] for cell in row) == right - left and all(cell[0][3] == 1 for cell in row):
            hue = mode(cell[0] for cell in row)
            below.append((hue, left, y, right - left, row[0][4]))
            row = [cell for cell in row if cell[0] != hue]
        above += row
    yield from filter(None, (below, above))


def _path_of(marks: list[Mark]) -> str:
    """Return one path of all marks: of equal looks no order shows, so each is near the last."""
    path_parts: list[str] = []
    at = (0, 0)
    for x, y, glyph in sorted(marks):
        is_near = path_parts and path_parts[-1].endswith("z")
        move = f"m{x - at[0]} {y - at[1]}" if is_near else f"M{x} {y}"
        path_parts.append(move.replace(" -", "-") + glyph)
        at = x, y
    return "".join(path_parts)


def _filled(face: Any) -> Look:
    if face is None or not face[3]:
        return (("fill", "none"),)
    fill = ("fill", to_hex(face[:3]))
    return (fill,) if face[3] == 1 else (fill, ("fill-opacity", f"{face[3]:.2f}"))


def _look(gc: Any, face: Any, parts: int = _PARTS) -> Look:
    style = dict(_filled(face))
    width = gc.get_linewidth()
    rgb = gc.get_rgb()
    if width and rgb[3]:
        style |= {"stroke": to_hex(rgb[:3]), "stroke-width": f"{parts * width:.1f}"}
        if rgb[3] < 1:
            style["stroke-opacity"] = f"{rgb[3]:.2f}"
    return tuple(style.items())


def _glyph(path: Path, parts: int = _PARTS) -> tuple[np.ndarray, str]:
    """Return where a shape begins, points, and the rest of it relative to that."""
    corners = np.asarray(path.vertices, float)
    codes = [] if path.codes is None else np.asarray(path.codes).tolist()
    if len(corners) == _CIRCLE_CORNERS and Path.CURVE4 in codes:
        low, high = corners.min(axis=0), corners.max(axis=0)
        radius = parts * (high[0] - low[0]) / 2
        start = np.array([low[0], (low[1] + high[1]) / 2])
        # All but a tenth of a point of the circle, and a line to close it.
        return start, f"a{radius:.0f} {radius:.0f} 0 110 1z"
    path_parts: list[str] = []
    at, start = np.zeros(2), corners[0]
    for points, code in path.iter_segments(curves=True, simplify=False):
        ends = np.round(parts * (np.asarray(points).reshape(-1, 2) - start) * (1, -1))
        if code == Path.MOVETO and not path_parts:
            path_parts.append("")
        elif code == Path.CLOSEPOLY:
            path_parts.append("z")
            continue
        else:
            letter = {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c"}[code]
            steps = [f"{step + 0.0:.0f}" for step in (ends - at).ravel()]
            if letter == "l" and "0" in steps:
                way, step = ("v", steps[1]) if steps[0] == "0" else ("h", steps[0])
                last = path_parts[-1]
                if last.startswith(way) and last.startswith("-", 1) == step.startswith("-"):
                    path_parts[-1] = f"{way}{int(last[1:]) + int(step)}"
                elif step != "0":
                    path_parts.append(way + step)
            else:
                letter = " " if letter == "l" and path_parts[-1].startswith(("l", " ")) else letter
                path_parts.append((letter + " ".join(steps)).replace(" -", "-"))
        at = ends[-1]
    if len(path_parts) > 2 and path_parts[-1] != "z" and not at.any():
        path_parts[-1] = "z"
    return start, "".join(path_parts)


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
    return _NOT_TURNED.sub("", buffer.getvalue()).encode()


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
