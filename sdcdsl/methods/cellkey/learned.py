"""What readers of noisy counts learn: nothing for certain, and much that is likely.

They know how likely every count is published as it was. With every count as likely as any other beforehand,

    P(n | v) ∝ P(n is published as v)

of a cell. In a group of which all are in one category, R are elsewhere; the key of the group is the sum of the keys of
the category and of the leaves outside it, and

    P(R = r | all published) ∝ Σ_n P(n, r and keys by which n, n + r and the leaves are published as they are)

which is a sum over counts and a circular convolution over keys. (Pairs of keys are independent, and a sum and its parts
together are not: a sum that is published with its parts tells more than three that are drawn one by one.)

A reader may also take differences of published cells: a cell less a part of it is the rest, with two noises in place of
one. Where a cell and its part have the same records they have the same key, and are published alike, which tells that
the rest is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.table import BoundTable
from sdcdsl.methods.cellkey.ptable import PTable
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT

MOST_GROUPS = 200  # are worked out; of more the first
GRID = 1024  # keys of a cell are told apart to so many parts
LIKELY = 0.95
SMALL = 2  # people: who can be told by a difference


@dataclass(frozen=True, eq=False)
class Posterior:
    """Of one published count: the counts that are possible, and how likely each is."""

    counts: np.ndarray
    probability: np.ndarray

    @property
    def best(self) -> float:
        """How often the best guess is right."""
        return float(self.probability.max())

    def interval(self, share: float = LIKELY) -> tuple[int, int]:
        """The shortest range of counts that has at least this probability."""
        total = np.concatenate([[0.0], np.cumsum(self.probability)])
        widths = [
            (j - i, i, j)
            for i in range(len(self.counts))
            for j in range(i, len(self.counts))
            if total[j + 1] - total[i] >= share - 1e-12
        ]
        _, i, j = min(widths)
        return int(self.counts[i]), int(self.counts[j])


def posterior(table: PTable, published: int) -> Posterior:
    """With all counts as likely as each other beforehand."""
    counts, p = table.origins(published)
    return Posterior(counts, p / p.sum())


def of_cells(table: PTable, published: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each count: how often the best guess is right, and the ends of the range that is likely."""
    large = table.last + 2 * table.deviation + 1  # from here on only the distance counts
    seen, at = np.unique(np.minimum(published, large).astype(np.int64), return_inverse=True)
    made = [posterior(table, int(v)) for v in seen]
    ends = np.array([one.interval() for one in made])
    shift = published - seen[at]
    return np.array([one.best for one in made])[at], ends[at, 0] + shift, ends[at, 1] + shift


def elsewhere(table: PTable, group: int, category: int, leaves: np.ndarray) -> np.ndarray:
    """P(R = r) for r = 0, 1, …, of what is published of a group, a category, and the leaves outside it."""
    most = group + table.deviation
    rest = np.zeros((most + 1, GRID), dtype=complex)
    rest[0] = 1.0  # nobody, whose key is zero
    for value in leaves:
        further = np.zeros_like(rest)
        for n, spectrum in _spectra(table, int(value)).items():
            further[n:] += rest[: max(most + 1 - n, 0)] * spectrum
        rest = further
    out = np.zeros(most + 1)
    for n, spectrum in _spectra(table, category).items():
        for r in range(most + 1 - n):
            keys = np.fft.ifft(rest[r] * spectrum).real
            out[r] += keys[_drawn(table, n + r, group)].sum()
    out = np.maximum(out, 0.0)
    return out / out.sum()


def _drawn(table: PTable, count: int, published: int) -> np.ndarray:
    """bool [key]: the keys by which a count is published so."""
    keys = np.arange(GRID, dtype=np.uint64) << np.uint64(64 - GRID.bit_length() + 1)
    return count + table.noise(np.full(GRID, count), keys) == published


def _spectra(table: PTable, published: int) -> dict[int, np.ndarray]:
    """Of every count that may be published so: the Fourier transform of the keys by which it is. A sum of keys modulo
    1 has the product of these transforms."""
    out: dict[int, np.ndarray] = {}
    for n in table.origins(published)[0].astype(int).tolist():
        keys = _drawn(table, n, published) / GRID
        out[n] = np.fft.fft(keys) if n else np.ones(GRID, dtype=complex)
    return out


def learned(problem: TableProblem, released: Pattern, table: PTable, additive: bool) -> tuple[str, ...]:
    """In sentences."""
    if additive:  # the move is no noise of known probability
        return ("values were moved to add up: how likely a count is cannot be said, only what is possible",)
    d = problem.dataset
    sensitive = np.flatnonzero((d["status"].values == "u") & d["published"].values & (released.status != EXACT))
    out: list[str] = []
    if len(sensitive):
        best, low, high = of_cells(table, released.value[sensitive])
        widest = int((high - low).max())
        sure = int((best >= 0.5).sum())
        out.append(
            f"who knows the probabilities guesses a sensitive count right with {100 * best.min():.0f} % to "
            f"{100 * best.max():.0f} %, in {sure:_} of {len(sensitive):_} with 50 % or more; ranges that have "
            f"{100 * LIKELY:.0f} % of it are up to {widest} wide"
        )
    out += _of_groups(problem, released, table)
    return (*out, *_differences(problem))


def _of_groups(problem: TableProblem, released: Pattern, table: PTable) -> list[str]:
    found: list[float] = []
    local = [_numbers(view.cells, problem.n) for view in problem.views[: len(problem.tables)]]
    for union, group, category in groups(problem)[:MOST_GROUPS]:
        d = problem.dataset
        coalition = int(d["a"].values[union] + d["needed_upper"].values[union]) - 1
        leaves = _outside(problem, local, group, category)
        if leaves is None or np.isnan(released.value[[group, category, *leaves]]).any():
            continue
        p = elsewhere(table, int(released.value[group]), int(released.value[category]), released.value[leaves])
        found.append(float(p[: coalition + 1].sum()))
    if not found:
        return []
    return [
        f"of {len(found):_} group{'s' if len(found) > 1 else ''} with nearly all in one category, that it is so has a "
        f"probability of {100 * min(found):.0f} % to {100 * max(found):.0f} % for who reads its row"
    ]


def groups(problem: TableProblem) -> list[tuple[int, int, int]]:
    """Unions that are a group without a category, the group and the category."""
    d = problem.dataset
    published, cell, equation = d["published"].values, d["cell_of"].values, d["equation_of"].values
    about_unions = np.zeros(problem.m, dtype=bool)
    about_unions[equation[~published[cell]]] = True
    entries = np.flatnonzero(about_unions[equation])
    entries = entries[np.argsort(equation[entries], kind="stable")]
    out = []
    for at in np.split(entries, 1 + np.flatnonzero(np.diff(equation[entries]))):
        unions, members = at[~published[cell[at]]], at[published[cell[at]]]
        if len(unions) != 1 or len(members) != 2:
            continue
        sign = -np.sign(d["coefficient"].values[unions[0]]) * d["coefficient"].values[members]
        if sorted(sign) == [-1.0, 1.0]:
            plus, minus = members[np.argmax(sign)], members[np.argmin(sign)]
            out.append((int(cell[unions[0]]), int(cell[plus]), int(cell[minus])))
    return out


def _numbers(cells: np.ndarray, n: int) -> np.ndarray:
    """The local number of every cell of a table, -1 for others."""
    out = np.full(n, -1, dtype=np.int64)
    out[cells] = np.arange(len(cells))
    return out


def _outside(problem: TableProblem, local: list[np.ndarray], group: int, category: int) -> np.ndarray | None:
    """Cells of the group with a leaf of the attribute that is not part of the category."""
    for table, view, number in zip(problem.tables, problem.views, local, strict=False):
        if table.attributes and table.lattice is not None and min(number[group], number[category]) >= 0:
            return view.cells[_leaves(table, int(number[group]), int(number[category]))]
    return None


def _leaves(table: BoundTable, group: int, category: int) -> np.ndarray:
    lattice = table.lattice
    assert lattice is not None
    cells, inside = np.array([group]), np.array([True])
    for d, dimension in enumerate(lattice.dimensions):
        if dimension.name not in table.attributes:
            continue
        composition = lattice.compositions[d]
        leaves = np.flatnonzero(composition.is_leaf)
        code = int(lattice.codes_at(np.array([category]), d)[0])
        own = composition.leaves_of[code]
        steps = (leaves - int(lattice.codes_at(np.array([group]), d)[0])) * lattice.stride[d]
        cells = np.add.outer(cells, steps).ravel()
        inside = np.logical_and.outer(inside, np.isin(leaves, list(own))).ravel()
    return cells[~inside]


def _differences(problem: TableProblem) -> list[str]:
    """Cells less one of their parts, which readers can take: how many of them are of very few people."""
    d = problem.dataset
    cell, equation, sign = d["cell_of"].values, d["equation_of"].values, d["coefficient"].values
    total = np.full(problem.m, -1, dtype=np.int64)
    total[equation[sign < 0]] = cell[sign < 0]
    part = np.flatnonzero((sign > 0) & d["published"].values[cell] & (total[equation] >= 0))
    whole, rest = total[equation[part]], d["a"].values[total[equation[part]]] - d["a"].values[cell[part]]
    seen = d["published"].values[whole] & (d["a"].values[cell[part]] > 0)
    few, none = int((seen & (rest > 0) & (rest <= SMALL)).sum()), int((seen & (rest == 0)).sum())
    if not few and not none:
        return []
    return [
        f"differences between a cell and a part of it: {few:_} of one or two people, with the noise of both; {none:_} "
        "of nobody, which are published alike because they have one key"
    ]
