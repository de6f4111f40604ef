"""What a release says about every cell, whatever method made it.

A pattern is a box: cell i lies in [low_i, high_i]. The attackers of paper 003 (sections 3 to 6) all look for tables y
with

    M y = b,    lb_i^k ≤ y_i ≤ ub_i^k  (what attacker k knows beforehand),    low_i ≤ y_i ≤ high_i  (what is released)

and the methods differ only in the box. An adjusted table about which nothing else is published has no box at all:
nothing follows from it with certainty, so there is no attacker problem to solve, and an audit must not pretend that
there was one (`claims` is False).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

EXACT, HIDDEN, INTERVAL, CHANGED = ".", "x", "i", "v"


@dataclass(frozen=True, eq=False)
class Pattern:
    low: np.ndarray  # what the release alone says: -inf where it says nothing
    high: np.ndarray
    value: np.ndarray  # the figure that is printed; nan where none is
    status: np.ndarray  # . as it is · x hidden · i an interval · v a changed, rounded or perturbed value
    claims: bool = True  # False: values were changed and nothing is said about by how much
    about: tuple[str, ...] = ()  # what is published beside the table, in words: "base 10", "α 0.3"
    random: bool = False  # values are drawn: what is possible is not all that readers know of it

    @property
    def n(self) -> int:
        return len(self.low)

    def seen(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The box of an attacker who knows beforehand that cells lie between `low` and `high`."""
        return np.maximum(self.low, low), np.minimum(self.high, high)


def misstated(pattern: Pattern) -> dict[str, np.ndarray]:
    """Cells whose parts contradict each other, by what is wrong with them.

    The audit attacks the box, readers see the figure: a cell that is called hidden and has a figure, or has a figure
    that its box does not know of, would be found protected and give its value away.
    """
    low, high, value, status = pattern.low, pattern.high, pattern.value, pattern.status
    none, nowhere = np.isnan(value), np.isneginf(low) & np.isposinf(high)
    known = np.isin(status, (EXACT, HIDDEN, INTERVAL, CHANGED))
    with np.errstate(invalid="ignore"):
        ordered = low <= high  # False where an end is no number
        inside = (low <= value) & (value <= high)
    finite = np.isfinite(value)
    as_told = {
        HIDDEN: none & nowhere,
        EXACT: finite & ((low == value) & (high == value) | (nowhere & (not pattern.claims))),
        INTERVAL: none & ~nowhere,
        CHANGED: finite & inside,
    }
    wrong = ~known
    for kind, right in as_told.items():
        wrong |= (status == kind) & ~right
    return {
        "between ends that are no numbers, or upside down": ~ordered,
        "whose figure is not what its status says": wrong & ordered,
    }


def hidden(a: np.ndarray, cells: np.ndarray) -> Pattern:
    """Cell suppression (003 §3): y_i = a_i if i ∉ SUP, nothing is said of i ∈ SUP. `cells` marks SUP."""
    return Pattern(
        np.where(cells, -np.inf, a),
        np.where(cells, np.inf, a),
        np.where(cells, np.nan, a),
        np.where(cells, HIDDEN, EXACT),
    )


def intervals(low: np.ndarray, high: np.ndarray) -> Pattern:
    """Interval publication (003 §4): low_i = a_i - z_i⁻ ≤ y_i ≤ a_i + z_i⁺ = high_i; open on both sides is hidden."""
    status = np.where(low == high, EXACT, INTERVAL)
    status[np.isneginf(low) & np.isposinf(high)] = HIDDEN
    return Pattern(low, high, np.where(low == high, low, np.nan), status)


def rounded(v: np.ndarray, r: np.ndarray) -> Pattern:
    """Controlled rounding (003 §5): v_i - r_i ≤ y_i ≤ v_i + r_i, with r_i the base of cell i, 0 if not rounded."""
    return Pattern(v - r, v + r, v, np.where(r > 0, CHANGED, EXACT), about=(_named("base", r),))


def perturbed(v: np.ndarray, r: np.ndarray) -> Pattern:
    """Cell perturbation (003 §6), and any table published with its largest deviations: |y_i - v_i| ≤ r_i."""
    return Pattern(v - r, v + r, v, np.where(r > 0, CHANGED, EXACT), about=(_named("deviation at most", r),))


def ecta(v: np.ndarray, sensitive: np.ndarray, alpha: float, beta: float) -> Pattern:
    """Enhanced CTA as a reader sees it: v is published, with the promise that no sensitive cell was moved by more than
    the share α of its true value and no other by more than β. From |v_i - y_i| ≤ s |y_i| follows, for v_i ≥ 0,

        v_i / (1 + s) ≤ y_i ≤ v_i / (1 - s)    (no upper end for s ≥ 1)

    and the mirror image for v_i < 0. A table that keeps the promise always contains the truth, which the formula of the
    paper (`ecta_of_the_paper`) does by construction but no reader could write down.
    """
    s = np.where(sensitive, alpha, beta)
    size = np.abs(v)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(s < 1, size / (1 - s), np.inf)
    # From s > 1 on even a true value of the other sign keeps the promise: y = -v / (s - 1) and beyond.
    either_sign = (s > 1) | ((s == 1) & (size == 0))
    least = np.where(either_sign, -np.inf, size / (1 + s))
    low, high = np.where(v >= 0, least, -most), np.where(v >= 0, most, -least)
    return Pattern(low, high, v, _changed(s), about=(f"α {alpha:g}", f"β {beta:g}"))


def ecta_of_the_paper(a: np.ndarray, v: np.ndarray, sensitive: np.ndarray, alpha: float, beta: float) -> Pattern:
    """The region of paper 001 ¶23, centred on the true values: (1 - s) a_i ≤ x_i ≤ (1 + s) a_i, s = α or β.

    For reproducing the paper's figures only: no attacker knows the truth it is centred on.
    """
    s = np.where(sensitive, alpha, beta)
    return Pattern(a - s * np.abs(a), a + s * np.abs(a), v, _changed(s), about=(f"α {alpha:g}", f"β {beta:g}"))


def adjusted(v: np.ndarray, changed: np.ndarray) -> Pattern:
    """Controlled tabular adjustment (004, 001 §II): another table is published, and nothing about how it was made."""
    open_ended = np.full(len(v), np.inf)
    return Pattern(-open_ended, open_ended, v, np.where(changed, CHANGED, EXACT), claims=False)


def combined(parts: Sequence[tuple[np.ndarray, Pattern]]) -> Pattern:
    """Several forms of publication in one table; of each pattern the cells that its mask marks."""
    first = parts[0][1]
    low, high, value, status = (x.copy() for x in (first.low, first.high, first.value, first.status))
    for mask, part in parts:
        low[mask], high[mask], value[mask], status[mask] = (
            part.low[mask],
            part.high[mask],
            part.value[mask],
            part.status[mask],
        )
    about = tuple(dict.fromkeys(word for _, part in parts for word in part.about))
    return Pattern(low, high, value, status, claims=all(part.claims for _, part in parts), about=about)


def _changed(share: np.ndarray) -> np.ndarray:
    return np.where(share > 0, CHANGED, EXACT)


def _named(what: str, amounts: np.ndarray) -> str:
    """`base 10`, or the range where cells differ."""
    some = amounts[amounts > 0]
    if not len(some):
        return f"{what} 0"
    least, most = some.min(), some.max()
    return f"{what} {least:g}" if least == most else f"{what} {least:g} to {most:g}"
