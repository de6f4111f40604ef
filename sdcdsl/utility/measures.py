"""Measures of what a release leaves to its readers, from the problem and the pattern alone.

    for every method           cells touched, their share, their cost Σ w and their share of the value
    where figures changed      |v_i - a_i| and |v_i - a_i| / |a_i|: mean, sd, maximum and 2-norm, for all cells, for
                               the sensitive (P) and for the others, as in Table 3 of paper 004
    where ranges are told      how wide they are, and how far their middle is from the truth
    after an audit             how wide the attackers' intervals are

The sd is that of a sample (n - 1 below the line): the printed digits of paper 004 say so. Relative measures leave out
cells whose true value is zero. Sums that nobody publishes are not counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN, INTERVAL

CENTRED = 1e-6  # of the width: nearer than this the middle is the truth


@dataclass(frozen=True)
class Spread:
    mean: float
    sd: float
    maximum: float


@dataclass(frozen=True)
class DeviationMeasures:
    """Of the published figures of some cells; `relative` in per cent."""

    cells: int
    absolute: Spread
    relative: Spread
    two_norm: float


@dataclass(frozen=True)
class Widths:
    """Of the ranges that the release tells about cells; shares of the true value in per cent."""

    cells: int
    total: float
    relative: Spread
    middle_error: Spread  # |middle - a| / |a|
    centred: int  # ranges whose middle is the truth


@dataclass(frozen=True)
class Measures:
    cells: int
    sensitive: int
    hidden: int
    intervals: int
    changed: int
    touched_share: float  # per cent of the cells
    others_touched: int  # touched and not sensitive
    cost: float  # Σ w over the cells touched
    value_touched: float  # per cent of Σ |a|
    value_hidden: float
    all_cells: DeviationMeasures | None = None  # None: no figure was changed
    sensitive_cells: DeviationMeasures | None = None
    other_cells: DeviationMeasures | None = None
    widths: Widths | None = None  # None: the release tells no ranges
    attacker_width: Spread | None = None  # per cent of the true value; None: not audited, or nothing is bounded
    attacker_unbounded: int | None = None  # audited cells without an end on one side

    @property
    def touched(self) -> int:
        return self.hidden + self.intervals + self.changed

    def rows(self) -> list[tuple[str, str]]:
        """Name and figures of every measure there is, for people."""
        out = [
            ("cells", f"{self.cells}, {self.sensitive} of them sensitive"),
            ("touched", f"{self.touched}, {_figure(self.touched_share)} % of the cells; {self._kinds()}"),
            ("not sensitive", f"{self.others_touched} of the cells touched"),
            ("cost", f"{_figure(self.cost)}, the weights of the cells touched"),
            ("value", f"{_figure(self.value_touched)} % in cells touched, {_figure(self.value_hidden)} % hidden"),
        ]
        named = (("all", self.all_cells), ("sensitive", self.sensitive_cells), ("others", self.other_cells))
        for name, d in named:
            if d is not None and d.cells:
                absolute, relative = _spread(d.absolute), _spread(d.relative, " %")
                out.append((f"deviation, {name}", f"{absolute}; relative {relative}; 2-norm {_figure(d.two_norm)}"))
        if self.widths is not None:
            w = self.widths
            out.append(("width", f"{_figure(w.total)} in all, {w.cells} cells; relative {_spread(w.relative, ' %')}"))
            out.append(("middle", f"off by {_spread(w.middle_error, ' %')}; {w.centred} ranges centred on the truth"))
        if self.attacker_width is not None:
            out.append(("attackers", f"intervals {_spread(self.attacker_width, ' %')} of the value"))
        return out

    def _kinds(self) -> str:
        counts = ((self.hidden, "hidden"), (self.intervals, "intervals"), (self.changed, "changed"))
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "all published as they are"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "touched": self.touched}


def measure(
    problem: TableProblem, pattern: Pattern, audit_low_high: tuple[np.ndarray, np.ndarray] | None = None
) -> Measures:
    """`audit_low_high` [cell]: what attackers can tell of the cells, nan where nobody looked; against several attackers
    the narrowest."""
    d = problem.dataset
    published, a, w = d["published"].values, d["a"].values, d["w"].values
    status = pattern.status
    sensitive = (d["status"].values == "u") & published
    touched = (status != EXACT) & published
    hidden = (status == HIDDEN) & published
    size = np.abs(a)
    of_value = 100 / max(float(size[published].sum()), np.finfo(float).tiny)
    changed = (status == CHANGED) & published
    groups: list[DeviationMeasures | None] = [None, None, None]
    if changed.any():
        printed = published & ~np.isnan(pattern.value)
        groups = [_deviations(pattern.value, a, printed & some) for some in (published, sensitive, ~sensitive)]
    attacker_width, unbounded = None, None
    if audit_low_high is not None:
        attacker_width, unbounded = _attackers(*audit_low_high, size, published)
    return Measures(
        cells=int(published.sum()),
        sensitive=int(sensitive.sum()),
        hidden=int(hidden.sum()),
        intervals=int(((status == INTERVAL) & published).sum()),
        changed=int(changed.sum()),
        touched_share=100 * float(touched.sum()) / max(int(published.sum()), 1),
        others_touched=int((touched & ~sensitive).sum()),
        cost=float(w[touched].sum()),
        value_touched=of_value * float(size[touched].sum()),
        value_hidden=of_value * float(size[hidden].sum()),
        all_cells=groups[0],
        sensitive_cells=groups[1],
        other_cells=groups[2],
        widths=_widths(pattern, a, touched),
        attacker_width=attacker_width,
        attacker_unbounded=unbounded,
    )


def _deviations(v: np.ndarray, a: np.ndarray, some: np.ndarray) -> DeviationMeasures:
    off, size = np.abs(v - a)[some], np.abs(a)[some]
    return DeviationMeasures(int(some.sum()), _of(off), _relative(off, size), float(np.linalg.norm(off)))


def _widths(pattern: Pattern, a: np.ndarray, touched: np.ndarray) -> Widths | None:
    with np.errstate(invalid="ignore"):
        width, middle = pattern.high - pattern.low, (pattern.high + pattern.low) / 2
    shown = touched & np.isfinite(width)
    if not shown.any():
        return None
    width, off, size = width[shown], np.abs(middle - a)[shown], np.abs(a)[shown]
    centred = int((off <= CENTRED * width).sum())
    return Widths(len(width), float(width.sum()), _relative(width, size), _relative(off, size), centred)


def _attackers(low: np.ndarray, high: np.ndarray, size: np.ndarray, published: np.ndarray) -> tuple[Spread | None, int]:
    looked = published & ~np.isnan(low) & ~np.isnan(high)
    with np.errstate(invalid="ignore"):
        width = high - low
    bounded = looked & np.isfinite(width)
    return (_relative(width[bounded], size[bounded]) if bounded.any() else None), int((looked & ~bounded).sum())


def _relative(amounts: np.ndarray, size: np.ndarray) -> Spread:
    some = size > 0
    return _of(100 * amounts[some] / size[some])


def _of(x: np.ndarray) -> Spread:
    if not len(x):
        return Spread(0.0, 0.0, 0.0)
    return Spread(float(x.mean()), float(x.std(ddof=1)) if len(x) > 1 else 0.0, float(x.max()))


def _spread(x: Spread, unit: str = "") -> str:
    return f"mean {_figure(x.mean)}{unit}, sd {_figure(x.sd)}{unit}, at most {_figure(x.maximum)}{unit}"


def _figure(x: float) -> str:
    """Four digits are enough to compare methods by; whole numbers keep all of theirs."""
    return f"{x:.0f}" if abs(x) >= 1000 or x == int(x) else f"{x:.4g}"
