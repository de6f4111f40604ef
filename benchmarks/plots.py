"""Drawings of results: curves on logarithmic axes with a fitted power, and where true values lie in their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

import numpy as np

from sdcdsl.report.risk_utility_shapes import SHAPES, outline
from sdcdsl.report.svg_frame import colour, drawing, upright

WIDTH, HIGH, LEFT, TOP, ROW = 900, 400.0, 80.0, 66.0, 22.0
LEGEND = 250.0  # of the width, right of the chart
Points = Sequence[tuple[float, float]]


def fitted(points: Points) -> tuple[float, float] | None:
    """c and e of c · n^e, by least squares of the logarithms; None with fewer than three sizes."""
    if len({n for n, _ in points}) < 3:
        return None
    n, value = (np.log([point[at] for point in points]) for at in (0, 1))
    exponent, constant = np.polyfit(n, value, 1)
    return float(np.exp(constant)), float(exponent)


def curves(title: str, across: str, up: str, series: Mapping[str, Points], fit_from: Mapping[str, float]) -> str:
    """Marks joined by lines; the legend has the fitted exponent, of sizes from `fit_from` on."""
    chart = _Chart(title, across, up, {name: sorted(points) for name, points in series.items() if points}, fit_from)
    return drawing(title, chart.description(), (WIDTH, int(TOP + HIGH + 70)), chart.body())


class _Chart:
    def __init__(
        self,
        title: str,
        across: str,
        up: str,
        series: dict[str, list[tuple[float, float]]],
        fit_from: Mapping[str, float],
    ):
        self.title, self.across, self.up, self.series = title, across, up, series
        every = [point for points in series.values() for point in points]
        self.x, self.y = (_decades([point[at] for point in every]) for at in (0, 1))
        self.right, self.floor = WIDTH - LEGEND, TOP + HIGH
        self.fits = {
            name: fitted([p for p in points if p[0] >= fit_from.get(name, 0.0)]) for name, points in series.items()
        }

    def at(self, n: float, value: float) -> tuple[float, float]:
        across = (math.log10(n) - self.x[0]) / (self.x[-1] - self.x[0])
        up = (math.log10(value) - self.y[0]) / (self.y[-1] - self.y[0])
        return LEFT + across * (self.right - LEFT), self.floor - up * HIGH

    def description(self) -> str:
        told = [
            f"{self._name(name)}: " + ", ".join(f"{v:.3g} at {n:.0f}" for n, v in p) for name, p in self.series.items()
        ]
        return f"{self.up} against {self.across}. " + ". ".join(told) + "."

    def _name(self, name: str) -> str:
        fit = self.fits[name]
        return name if fit is None else f"{name}: n^{fit[1]:.2f}"

    def body(self) -> Iterator[str]:
        yield f'<text class="title" x="24" y="30">{escape(self.title)}</text>'
        yield '<text class="about" x="24" y="50">both axes logarithmic; the legend has the fitted exponent</text>'
        yield from self._axes()
        for i, (name, points) in enumerate(self.series.items()):
            at = [self.at(*point) for point in points]
            way = " L".join(f"{x:.1f} {y:.1f}" for x, y in at)
            yield f'<path class="path {colour(i)}" style="fill:none;stroke:currentColor" d="M{way}"/>'
            shape = SHAPES[i % len(SHAPES)]
            for (x, y), (n, value) in zip(at, points, strict=True):
                told = f"<title>{escape(name)}: {value:.3g} at {n:.0f}</title>"
                yield f'<path class="mark {colour(i)}" d="{outline(shape, x, y)}">{told}</path>'
            y = TOP + 10 + ROW * i
            yield f'<path class="mark {colour(i)}" d="{outline(shape, self.right + 24, y)}"/>'
            yield f'<text class="label" x="{self.right + 36:.1f}" y="{y + 4:.1f}">{escape(self._name(name))}</text>'

    def _axes(self) -> Iterator[str]:
        for power in self.x:
            x, _ = self.at(10.0**power, 10.0 ** self.y[0])
            yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{self.floor}"/>'
            yield f'<text class="tick middle" x="{x:.1f}" y="{self.floor + 17}">{_power(power)}</text>'
        for power in self.y:
            _, y = self.at(10.0 ** self.x[0], 10.0**power)
            yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}"/>'
            yield f'<text class="tick end" x="{LEFT - 8}" y="{y + 4:.1f}">{_power(power)}</text>'
        yield f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{self.right - LEFT}" height="{HIGH}"/>'
        middle = (LEFT + self.right) / 2
        yield f'<text class="axis middle" x="{middle:.1f}" y="{self.floor + 40}">{escape(self.across)}</text>'
        yield upright(escape(self.up), 24, TOP + HIGH / 2)


def _decades(values: Sequence[float]) -> list[int]:
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return list(range(first, max(last, first + 1) + 1))


def _power(power: int) -> str:
    return f"{10**power:,}".replace(",", " ") if power >= 0 else f"{10.0**power:g}"


def intervals(title: str, halves: Mapping[str, Points]) -> str:
    """Paper 000, Figure 1: every interval as a line, of width 100, seen from the true value at 0; ranked."""
    gap, body = 40.0, [f'<text class="title" x="24" y="30">{escape(title)}</text>']
    about = "intervals of width 100, ranked by where they begin; 0 is the true value"
    body.append(f'<text class="about" x="24" y="50">{about}</text>')
    wide = (WIDTH - LEFT - 24 - gap * (len(halves) - 1)) / len(halves)
    for i, (name, lines) in enumerate(halves.items()):
        left, ranked = LEFT + i * (wide + gap), sorted(lines)
        step = wide / max(len(ranked), 1)
        way = " ".join(
            f"M{left + (k + 0.5) * step:.1f} {_depth(low):.1f} V{_depth(high):.1f}"
            for k, (low, high) in enumerate(ranked)
        )
        body.append(f'<path class="{colour(i)}" style="fill:none;stroke:currentColor;stroke-width:0.8" d="{way}"/>')
        for value in (-100, -50, 0, 50, 100):
            y = _depth(value)
            body.append(f'<line class="grid" x1="{left:.1f}" y1="{y:.1f}" x2="{left + wide:.1f}" y2="{y:.1f}"/>')
            body.append(f'<text class="tick end" x="{left - 6:.1f}" y="{y + 4:.1f}">{value}</text>')
        body.append(f'<rect class="frame" x="{left:.1f}" y="{TOP}" width="{wide:.1f}" height="{HIGH}"/>')
        told = f"{name}, {len(ranked)} intervals"
        body.append(f'<text class="axis middle" x="{left + wide / 2:.1f}" y="{TOP + HIGH + 22}">{escape(told)}</text>')
    said = "; ".join(f"{name}: {len(lines)} intervals" for name, lines in halves.items())
    return drawing(title, said, (WIDTH, int(TOP + HIGH + 40)), body)


def _depth(value: float) -> float:
    return TOP + HIGH * (100 - value) / 200
