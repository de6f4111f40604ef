"""The risk–utility map: every release of a comparison as a point, what it takes from readers against what it leaves to
attackers. One SVG file that needs nothing else; colours follow the reader's light or dark scheme, and every method has
a shape of its own, so that nobody has to tell colours apart.

Releases of which no risk is known (an adjusted table says nothing about its changes) stand in a strip below the map, at
their loss; runs without a release are listed below that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from sdcdsl.report.risk_utility_labels import Box, Line, box_of, placed, width_of
from sdcdsl.report.risk_utility_scale import NOTHING, Scale
from sdcdsl.report.risk_utility_shapes import RADIUS, SHAPES, outline
from sdcdsl.report.svg_frame import colour, drawing, upright

WIDTH = 900
_LEFT, _RIGHT, _HIGH = 72.0, 74.0, 380.0  # room left and right of the map, and its height
_ROW, _STRIP_ROW, _STRIP_HEAD = 24.0, 34.0, 22.0  # of the legend, and of the strips below the map
_EDGE = 14.0  # a label may stand this far outside the frame
_RATIOS = ((0.0, "0 ×"), (0.25, "¼ ×"), (0.5, "½ ×"), (1.0, "1 ×"), (2.0, "2 ×"), (4.0, "4 ×"), (math.inf, "∞"))


@dataclass(frozen=True)
class ReleasePoint:
    """One run. `loss` and `risk` in per cent; no loss: no release, and `note` says why; no risk: not to be measured."""

    series: str
    level: float
    loss: float | None
    risk: float | None
    worst: float | None = None
    note: str = ""

    @property
    def factor(self) -> str:
        return f"×{self.level:g}"


@dataclass(frozen=True)
class _At:
    point: ReleasePoint
    x: float
    y: float


def risk_utility_map(title: str, points: Sequence[ReleasePoint]) -> str:
    """The same text for the same points, always."""
    return _Map(title, points).text()


class _Map:
    def __init__(self, title: str, points: Sequence[ReleasePoint]) -> None:
        self.title, self.points = title, list(points)
        self.series = list(dict.fromkeys(point.series for point in self.points))
        self.single = len({point.level for point in self.points}) <= 1
        self.charted = [p for p in self.points if _is_figure(p.loss) and _is_figure(p.risk)]
        self.unmeasured = [p for p in self.points if _is_figure(p.loss) and not _is_figure(p.risk)]
        self.failed = [p for p in self.points if not _is_figure(p.loss)]
        finite = [p.loss for p in self.points if p.loss is not None and math.isfinite(p.loss)]
        self.scale = Scale.of(finite)
        self.legend = list(_flow([(name, width_of(name, 11) + 30) for name in self.series], 0.0, WIDTH - 2 * 24.0))
        self.top = 64.0 + _ROW * (1 + max((row for _, _, row in self.legend), default=0)) + 6
        self.floor = self.top + _HIGH
        self.right = WIDTH - _RIGHT

    # ---- where things are ------------------------------------------------------------------------------

    def x(self, loss: float) -> float:
        return _LEFT + (self.right - _LEFT) * self.scale.share(loss)

    def y(self, risk: float) -> float:
        return self.floor - _HIGH * min(max(risk, 0.0), 100.0) / 100

    def text(self) -> str:
        body = [*self._heading(), *self._axes(), *self._charted()]
        below = self.floor + 52
        strip, below = self._strip(below)
        missing, below = self._missing(below)
        height = math.ceil(below + 10)
        title = f"{self.title}: risk–utility map"
        return drawing(title, self._description(), (WIDTH, height), [*body, *strip, *missing])

    def _description(self) -> str:
        points = [f"{_name(p)}: {_point_text(p)}" for p in self.points]
        return "Loss to readers against risk from attackers; lower left is better. " + ". ".join(points) + "."

    # ---- what stands around -------------------------------------------------------------------------------

    def _heading(self) -> Iterator[str]:
        yield f'<text class="title" x="24" y="30">{escape(_cut(self.title, 16, WIDTH - 48, bold=True))}</text>'
        said = "Each mark is one release, better towards the lower left"
        said += "" if self.single else "; × is the factor of the policy's levels"
        said += "; thin lines reach up to the worst cell" if any(_is_figure(p.worst) for p in self.charted) else ""
        yield f'<text class="about" x="24" y="50">{said}</text>'
        for name, x, row in self.legend:
            at = 70.0 + _ROW * row
            yield self._mark(name, 24 + x + 6, at)
            yield f'<text class="label" x="{24 + x + 17:.1f}" y="{at + 4:.1f}">{escape(name)}</text>'

    def _axes(self) -> Iterator[str]:
        left, right, top, floor = _LEFT, self.right, self.top, self.floor
        for loss in self.scale.ticks:
            x = self.x(loss)
            yield f'<line class="grid" x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{floor:.1f}"/>'
            yield f'<text class="tick middle" x="{x:.1f}" y="{floor + 17:.1f}">{loss:.6g} %</text>'
        for risk in (0, 25, 50, 75, 100):
            y = self.y(risk)
            yield f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
            yield f'<text class="tick end" x="{left - 8}" y="{y + 4:.1f}">{risk} %</text>'
        for ratio, said in _RATIOS:
            y = self.y(100 / (1 + ratio))
            yield f'<line class="frame" x1="{right}" y1="{y:.1f}" x2="{right + 4}" y2="{y:.1f}"/>'
            yield f'<text class="tick" x="{right + 8}" y="{y + 4:.1f}">{said}</text>'
        yield f'<rect class="frame" x="{left}" y="{top:.1f}" width="{right - left:.1f}" height="{_HIGH:.1f}"/>'
        yield f'<line class="reference" x1="{left}" y1="{self.y(50):.1f}" x2="{right}" y2="{self.y(50):.1f}"/>'
        middle = top + _HIGH / 2
        across = "loss to readers, per cent of the value of the table"
        across += ", on a logarithmic scale" if self.scale.logarithmic else ""
        yield f'<text class="axis middle" x="{(left + right) / 2:.1f}" y="{floor + 38:.1f}">{across}</text>'
        yield upright("risk from attackers, median sensitive cell", 22, middle)
        yield upright("interval left to attackers ÷ required", WIDTH - 20, middle)

    # ---- marks --------------------------------------------------------------------------------------------

    def _charted(self) -> Iterator[str]:
        at = _side_by_side([_At(p, self.x(p.loss or 0.0), self.y(p.risk or 0.0)) for p in self.charted])
        said = "the policy's levels"
        x, y = self.right - 8 - width_of(said, 11), self.y(50) - 6
        frame = Box(_LEFT + 2, self.top - _EDGE, self.right - 2, self.floor - 2)
        reference = (_LEFT, self.y(50), self.right, self.y(50))
        yield f'<text class="about" x="{x:.1f}" y="{y:.1f}">{said}</text>'
        yield from self._paths(at)
        yield from self._worst(at)
        taken = [box_of(said, x, y, 11), *(_around(one) for one in at)]
        yield from self._labels(at, frame, taken, [reference, *self._lines(at)])
        yield from (self._mark(one.point.series, one.x, one.y, one.point) for one in at)

    def _lines(self, at: Sequence[_At]) -> Iterator[Line]:
        for mine in self._joined(at):
            yield from ((one.x, one.y, two.x, two.y) for one, two in pairwise(mine))
        yield from ((one.x, one.y, one.x, self._worst_at(one)) for one in at)

    def _joined(self, at: Sequence[_At]) -> Iterator[list[_At]]:
        for name in self.series:
            mine = sorted((one for one in at if one.point.series == name), key=lambda one: one.point.level)
            if len(mine) > 1:
                yield mine

    def _worst_at(self, one: _At) -> float:
        """How high the line to the worst cell reaches."""
        worst = one.point.worst
        return min(self.y(worst), one.y) if worst is not None and _is_figure(worst) else one.y

    def _paths(self, at: Sequence[_At]) -> Iterator[str]:
        for mine in self._joined(at):
            way = " L".join(f"{one.x:.1f} {one.y:.1f}" for one in mine)
            mine_in = self._colour(mine[0].point.series)
            yield f'<path class="path {mine_in}" style="fill:none;stroke:currentColor" d="M{way}"/>'

    def _worst(self, at: Sequence[_At]) -> Iterator[str]:
        for one in at:
            y = self._worst_at(one)
            if y < one.y - 2:
                way = f"M{one.x:.1f} {one.y:.1f} V{y:.1f} M{one.x - 3:.1f} {y:.1f} h6"
                style = 'style="fill:none;stroke:currentColor"'
                yield f'<path class="worst {self._colour(one.point.series)}" {style} d="{way}"/>'

    def _labels(self, at: Sequence[_At], frame: Box, taken: Sequence[Box], lines: Sequence[Line]) -> Iterator[str]:
        """One label for all marks of a series that share a place."""
        shared: dict[tuple[str, float, float], list[_At]] = {}
        for one in at:
            shared.setdefault((one.point.series, round(one.x), round(one.y)), []).append(one)
        groups = list(shared.values())
        labels = [(self._said(group), group[0].x, group[0].y) for group in groups]
        for group, label in zip(groups, placed(labels, 11, RADIUS, frame, taken, lines), strict=True):
            if label is None:
                continue  # the mark still tells its name to whoever points at it
            if label.far:
                x = min(max(group[0].x, label.box.left), label.box.right)
                y = min(max(group[0].y, label.box.top), label.box.bottom)
                yield f'<line class="leader" x1="{group[0].x:.1f}" y1="{group[0].y:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>'
            yield f'<text class="label" x="{label.x:.1f}" y="{label.y:.1f}">{escape(label.text)}</text>'

    def _said(self, group: Sequence[_At]) -> str:
        beyond = any(math.isinf(one.point.loss or 0.0) for one in group)
        said = group[0].point.series if self.single else ", ".join(one.point.factor for one in group)
        nothing = self.scale.logarithmic and (group[0].point.loss or 0.0) <= NOTHING
        return said + (" → ∞" if beyond else " (no loss)" if nothing else "")

    def _strip(self, top: float) -> tuple[list[str], float]:
        """Releases whose risk nobody can measure: one row for each method, at its loss."""
        names = [name for name in self.series if any(p.series == name for p in self.unmeasured)]
        if not names:
            return [], top
        said = "no attacker to measure, nothing is said about the changes: only the loss is known"
        out = [f'<text class="about" x="{_LEFT}" y="{top + 14:.1f}">{said}</text>']
        top += _STRIP_HEAD
        for name in names:
            y = top + _STRIP_ROW - 9
            line = (_LEFT, y, self.right, y)
            out.append(f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}"/>')
            at = [_At(p, self.x(p.loss or 0.0), y) for p in self.unmeasured if p.series == name]
            frame = Box(_LEFT - 40, top, WIDTH - 2, top + _STRIP_ROW)  # never in another row
            out += [*self._paths(at), *self._labels(at, frame, [_around(one) for one in at], [line])]
            out += [self._mark(name, one.x, one.y, one.point) for one in at]
            top += _STRIP_ROW
        return out, top + 10

    def _missing(self, top: float) -> tuple[list[str], float]:
        """Runs without a release."""
        if not self.failed:
            return [], top
        out = [f'<text class="about" x="{_LEFT}" y="{top + 14:.1f}">no release</text>']
        top += _STRIP_HEAD
        room = self.right - _LEFT
        said = [_cut(_name(p) + (f": {p.note}" if p.note else ""), 11, room - 36) for p in self.failed]
        row = 0
        places = _flow([(text, width_of(text, 11) + 30) for text in said], 0, room)
        for (text, x, row), point in zip(places, self.failed, strict=True):
            y = top + _ROW * row + _ROW / 2
            out.append(self._mark(point.series, _LEFT + x + 6, y, point))
            out.append(f'<text class="label" x="{_LEFT + x + 17:.1f}" y="{y + 4:.1f}">{escape(text)}</text>')
        return out, top + _ROW * (row + 1)

    def _colour(self, name: str) -> str:
        return colour(self.series.index(name))

    def _mark(self, name: str, x: float, y: float, point: ReleasePoint | None = None) -> str:
        shape = SHAPES[self.series.index(name) % len(SHAPES)]
        title = f"<title>{escape(_name(point))}: {escape(_point_text(point))}</title>" if point is not None else ""
        run = f' data-run="{escape(_name(point))}"' if point is not None else ""
        return f'<path class="mark {self._colour(name)}"{run} d="{outline(shape, x, y)}">{title}</path>'


# ---- pieces ---------------------------------------------------------------------------------------------


def _is_figure(x: float | None) -> bool:
    return x is not None and not math.isnan(x)


def _name(point: ReleasePoint) -> str:
    return f"{point.series} {point.factor}"


def _point_text(point: ReleasePoint) -> str:
    if not _is_figure(point.loss):
        return f"no release{', ' + point.note if point.note else ''}"
    risk = f"risk {point.risk:.3g} %" if _is_figure(point.risk) else "risk not measured"
    worst = f", worst cell {point.worst:.3g} %" if _is_figure(point.worst) else ""
    return f"loss {point.loss:.3g} %, {risk}{worst}"


def _flow(parts: Sequence[tuple[str, float]], start: float, room: float) -> Iterator[tuple[str, float, int]]:
    """Text after text, as many in a row as have room."""
    x, row = start, 0
    for text, wide in parts:
        if x > start and x + wide > room:
            x, row = start, row + 1
        yield text, x, row
        x += wide


def _cut(text: str, size: float, room: float, bold: bool = False) -> str:
    if width_of(text, size, bold) <= room:
        return text
    return text[: max(int(room / width_of("x", size, bold)) - 1, 1)].rstrip() + "…"


def _side_by_side(at: Sequence[_At]) -> list[_At]:
    """Marks of several methods in one place stand beside each other."""
    there: dict[tuple[float, float], list[str]] = {}
    for one in at:
        names = there.setdefault((round(one.x), round(one.y)), [])
        if one.point.series not in names:
            names.append(one.point.series)
    out = []
    for one in at:
        names = there[round(one.x), round(one.y)]
        shift = (names.index(one.point.series) - (len(names) - 1) / 2) * 2 * RADIUS
        out.append(_At(one.point, one.x + shift, one.y))
    return out


def _around(one: _At) -> Box:
    return Box(one.x - RADIUS - 1, one.y - RADIUS - 1, one.x + RADIUS + 1, one.y + RADIUS + 1)
