"""Why no release of these forms can keep the levels: what can be told without searching.

A cell that is published as a value v is known to lie within v ± R, so that it can rise by v - a + R and fall by
a - v + R at most, whatever the other cells do. If there is no v it may be published as for which both are enough, its
form, base or range is at odds with the level; so it is where a cell is published as it is.

Where a table is rounded, what must be published as it is has to fit the base: a relation between rounded cells and
others holds only if those others add up to a multiple.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.bind.naming import first_cells
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.mixed.decisions import Problem
from sdcdsl.methods.mixed.forms import Forms
from sdcdsl.methods.result import Clash

ENOUGH = 1e-9
ROUNDING = 1e-6


def own_clashes(forms: Forms, problem: Problem) -> list[Clash]:
    """Pairs whose own cell cannot be published in any way that keeps their levels."""
    i, at = forms.instance, forms.at
    out: list[Clash] = []
    for pair, cell in enumerate(i.pair_cell.tolist()):
        lpl, upl, spl = float(i.level[DOWN, pair]), float(i.level[UP, pair]), float(i.slide[pair])
        if i.conditional[pair] or max(lpl, upl, spl) <= 0:
            continue
        if at.multiple[cell] >= 0:
            column, r = at.multiple[cell], at.base[cell]
            k = np.arange(float(problem.lower[column]), float(problem.upper[column]) + 0.5)
            t = at.first[cell] + r * k - i.a[cell]
        elif at.reach[cell] > 0:
            p, q = at.plus[cell], at.minus[cell]
            ends = (problem.lower[p] - problem.upper[q], problem.upper[p] - problem.lower[q])
            R = float(at.reach[cell])
            within = np.clip([upl - R, R - lpl, 0.0], *ends)
            within = np.concatenate([np.floor(within), np.ceil(within)]) if at.whole[cell] else within
            t = np.array(ends) if i.sensitive[cell] else np.array([*ends, *within])
        else:
            continue
        R = at.reach[cell]
        down, up = R - t, R + t
        short = np.maximum(lpl - down, upl - up)
        if spl > 2 * R * (1 + ENOUGH):
            out.append(Clash(pair, None, spl, float(2 * R)))
        elif short.min() > ENOUGH * max(lpl, upl):
            best = int(np.argmin(short))
            side = UP if upl - up[best] >= lpl - down[best] else DOWN
            reach = (down if side == DOWN else up)[best]
            out.append(Clash(pair, side, (lpl, upl)[side], float(reach)))
    return out


def misfits(forms: Forms) -> list[str]:
    """Cells that no table of multiples fits, in sentences."""
    i, at = forms.instance, forms.at
    rounded = at.base > 0
    bases = np.unique(at.base[rounded])
    if len(bases) != 1:
        return []
    r = float(bases[0])
    settled = ~rounded & ~forms.open
    M = csr_array(i.M)
    loose = np.flatnonzero(~rounded & ~settled)
    held = np.ones(i.m, dtype=bool)
    held[np.unique(csc_array(M)[:, loose].indices)] = False
    whole = np.abs(np.mod(M.data, 1.0)) == 0
    held &= np.bincount(np.repeat(np.arange(i.m), np.diff(M.indptr)), weights=~whole, minlength=i.m) == 0
    with_rounded = (abs(M) @ rounded.astype(float)) > 0
    left = i.problem.dataset["b"].values - M @ np.where(settled, i.a, 0.0)
    off = np.abs(left / r - np.round(left / r)) > ROUNDING
    rows = np.flatnonzero(held & with_rounded & off)
    if not len(rows):
        return []
    cells = np.unique(M[rows].indices)
    cells = cells[settled[cells]]
    if not len(cells):
        return [f"relations that do not add up to multiples of {r:g}: {len(rows):,}"]
    names = first_cells(cells, i.problem.label)
    return [f"{names}: published as they are, and no multiples of {r:g} add up with them"]
