"""Probabilities of noise by count, as tables of the R package ptable have them: made here, or read from its files.

For every count n ≥ 1 the noise v has the distribution of most entropy with

    Σ p_v = 1,   Σ v p_v = 0,   Σ v² p_v = V,   |v| ≤ D,   n + v = 0 or n + v ≥ smallest

which is a convex program. Its dual has two variables: p_v ∝ exp(λ v + μ v²) with (λ, μ) at the least of the convex
function log Σ exp(λ v + μ (v² - V)), found by Newton steps. From n = D + smallest on the distribution stays the same.
Zero stays zero: nobody is in the cell, so it has no key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

EXACT = 1e-12  # of a mean or a variance
STEPS = 500
SUM = 1e-6  # files have that many digits
COLUMNS = {"i": ("i",), "j": ("j",), "p": ("p",), "v": ("v", "diff"), "upper": ("p_int_ub", "kum_p_o", "kum_p_u")}


class NoPTable(ValueError):
    """There is no such table. The text says why."""


@dataclass(frozen=True)
class PTable:
    """`rows[n]`: the noise of a count n and its probabilities, in the order in which keys are looked up. The last row
    is of all larger counts."""

    rows: tuple[tuple[tuple[int, ...], tuple[float, ...]], ...]

    @property
    def last(self) -> int:
        return len(self.rows) - 1

    @cached_property
    def deviation(self) -> int:
        return max(abs(v) for noise, p in self.rows for v, share in zip(noise, p, strict=True) if share > 0)

    def noise(self, counts: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Of every count by its key, uint64: the noise whose interval of cumulated probabilities has the key."""
        share = (keys >> np.uint64(11)).astype(float) * 2.0**-53
        row = np.minimum(counts, self.last).astype(np.int64)
        out = np.zeros(len(counts), dtype=np.int64)
        for n, (noise, p) in enumerate(self.rows):
            here = np.flatnonzero(row == n) if n else row[:0]
            if len(here):
                ends = np.cumsum(p)
                ends[-1] = np.inf
                out[here] = np.array(noise)[np.searchsorted(ends, share[here], side="right")]
        return out

    def probability(self, count: int, published: int) -> float:
        """That a count is published so."""
        noise, p = self.rows[min(count, self.last)]
        return sum(share for v, share in zip(noise, p, strict=True) if v == published - count)

    def origins(self, published: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts that may be published so, and with which probability each is."""
        counts = np.arange(max(published - self.deviation, 0), published + self.deviation + 1)
        p = np.array([self.probability(int(n), published) for n in counts])
        return counts[p > 0], p[p > 0]

    def ends(self, published: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the largest count that may be published so."""
        large = self.last + 2 * self.deviation + 1  # from here on only the last row matters
        value = np.minimum(published, large).astype(np.int64)
        low, high = np.zeros(large + 1), np.zeros(large + 1)
        for one in np.unique(value):
            counts, _ = self.origins(int(one))
            if not len(counts):
                raise NoPTable(f"no count is published as {one}")
            low[one], high[one] = counts[0], counts[-1]
        return low[value] + (published - value), high[value] + (published - value)


def made(deviation: int, variance: float, smallest: int = 1) -> PTable:
    rows: list[tuple[tuple[int, ...], tuple[float, ...]]] = [((0,), (1.0,))]
    last = deviation if smallest == 1 else deviation + smallest
    for n in range(1, last + 1):
        noise = [v for v in range(-deviation, deviation + 1) if n + v == 0 or n + v >= smallest]
        rows.append((tuple(noise), tuple(most_entropy(np.array(noise), variance, n).tolist())))
    return PTable(tuple(rows))


def most_entropy(noise: np.ndarray, variance: float, count: int) -> np.ndarray:
    """The distribution over `noise` of mean zero and this variance that has the most entropy."""
    least, most = spread(noise)
    if not least < variance < most:
        between = f"more than {least:g} and less than {most:g}"
        raise NoPTable(f"the noise of a count of {count} has a variance of {between} there, and not {variance:g}")
    scale = float(np.abs(noise).max())
    features = np.stack([noise / scale, (noise**2 - variance) / scale**2])
    at, p, gradient = np.zeros(2), np.zeros(len(noise)), np.ones(2)

    def value(at: np.ndarray) -> float:
        exponent = at @ features
        return float(exponent.max() + np.log(np.exp(exponent - exponent.max()).sum()))

    for _ in range(STEPS):
        exponent = at @ features
        p = np.exp(exponent - exponent.max())
        p /= p.sum()
        gradient = features @ p
        if np.abs(gradient).max() < EXACT:
            break
        hessian = (features * p) @ features.T - np.outer(gradient, gradient)
        step = np.linalg.lstsq(hessian, -gradient, rcond=1e-15)[0]
        length, now = 1.0, value(at)
        while length > 1e-12 and value(at + length * step) > now + 0.25 * length * float(gradient @ step):
            length /= 2
        at = at + length * step
    if np.abs(gradient).max() > 1e-9:
        raise NoPTable(f"no distribution of the noise of a count of {count} was found")
    return p


def spread(noise: np.ndarray) -> tuple[float, float]:
    """The least and the largest variance of noise of mean zero: at two points around zero, as near or as far as can be.
    Both zero where the mean cannot be zero in another way than with no noise at all."""
    below, above = noise[noise < 0], noise[noise > 0]
    if not len(below) or not len(above):
        return 0.0, 0.0
    return (0.0 if (noise == 0).any() else -float(below.max() * above.min())), -float(below.min() * above.max())


def read(path: Path) -> PTable:
    """A file that ptable wrote, with a header, or without one the columns i, j, p, v, lower and upper end."""
    table = _columns(path)
    rows: list[tuple[tuple[int, ...], tuple[float, ...]]] = []
    for n in range(int(table["i"].max()) + 1):
        mine = np.flatnonzero(table["i"] == n)
        if "upper" in table:
            mine = mine[np.argsort(table["upper"][mine], kind="stable")]
        noise, p = table["j"][mine] - n, table["p"][mine]
        if not len(mine) or abs(p.sum() - 1) > SUM:
            raise NoPTable(f"the probabilities of count {n} add up to {p.sum():g}")
        if (p < 0).any() or (table["j"][mine] < 0).any():
            raise NoPTable(f"count {n} has a probability or a published count below zero")
        if "upper" in table and np.abs(np.cumsum(p) - table["upper"][mine]).max() > SUM:
            raise NoPTable(f"the intervals of count {n} are not as long as its probabilities")
        rows.append((tuple(int(v) for v in noise), tuple((p / p.sum()).tolist())))
    if rows[0][0] != (0,):
        raise NoPTable("a count of zero is published as something else, and nobody is there to have a key")
    if len(rows) < 2:
        raise NoPTable("it has no count but zero")
    return PTable(tuple(rows))


def _columns(path: Path) -> dict[str, np.ndarray]:
    lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    if not lines:
        raise NoPTable("it is empty")
    sign = next((one for one in (";", "\t", ",") if one in lines[0]), None)
    cells = [[cell.strip().strip('"') for cell in line.split(sign)] for line in lines]
    head = [name.lower() for name in cells[0]]
    if "i" not in head:
        head, cells = ["i", "j", "p", "v", "p_int_lb", "p_int_ub"][: len(cells[0])], [[], *cells]
    at = {what: next((head.index(n) for n in names if n in head), None) for what, names in COLUMNS.items()}
    missing = [name for name in ("i", "j", "p") if at[name] is None]
    if missing:
        raise NoPTable(f"it has no column {missing[0]}")
    shift = len(cells[1]) - len(head) if len(cells) > 1 else 0  # R writes row names without a name for them
    out: dict[str, np.ndarray] = {}
    for what, column in at.items():
        if column is None:
            continue
        try:
            out[what] = np.array([float(row[column + shift].replace(",", ".")) for row in cells[1:]])
        except (ValueError, IndexError) as error:
            raise NoPTable(f"a row has no number in column {head[column]}") from error
    for what in ("i", "j"):
        if (out[what] != np.round(out[what])).any() or (out[what] < 0).any():
            raise NoPTable(f"column {what} has something else than counts")
    if "v" in out and (out["v"] != out["j"] - out["i"]).any():
        raise NoPTable("column v is not j - i")
    return {what: (column.astype(np.int64) if what in ("i", "j") else column) for what, column in out.items()}
