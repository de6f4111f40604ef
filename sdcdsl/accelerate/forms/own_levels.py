"""What levels ask of the value of their own cell, whatever the others do.

A cell that is published as v is known to lie within v ± R, so that it can rise by v - a + R and fall by a - v + R at
most. For its levels that has to be enough:

    UPL - R ≤ v - a ≤ R - LPL,    SPL ≤ 2 R

Of a rounded cell these are bounds on the number of its multiples, and whole ones: with them a relaxation that is whole
by itself, as that of a network is, stays so. A cell that can be published as no such v is at odds with its level.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from sdcdsl.methods.forms.decisions import DecisionProblem
from sdcdsl.methods.forms.forms import Forms
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.result import Clash

ENOUGH = 1e-9  # of a level: how much may lack
NEAR = 1e-6  # of a base: what rounding errors may add to a bound


def within_own_levels(forms: Forms, problem: DecisionProblem) -> DecisionProblem:
    """The same with as many multiples of each rounded cell as its levels allow; none if they are at odds with each
    other."""
    i, at = forms.instance, forms.at
    pairs = np.flatnonzero(_has_level(i) & (at.multiple[i.pair_cell] >= 0))
    cell = i.pair_cell[pairs]
    column, r, R, first = at.multiple[cell], at.base[cell], at.reach[cell], at.first[cell] - i.a[cell]
    least = np.ceil((i.level[UP, pairs] - R - first) / r - NEAR)
    most = np.floor((R - i.level[DOWN, pairs] - first) / r + NEAR)
    lower, upper = problem.lower.copy(), problem.upper.copy()
    np.maximum.at(lower, column, np.where(i.level[UP, pairs] > 0, least, -inf))
    np.minimum.at(upper, column, np.where(i.level[DOWN, pairs] > 0, most, inf))
    return replace(problem, lower=lower, upper=upper)


def own_clashes(forms: Forms, problem: DecisionProblem) -> list[Clash]:
    """Pairs whose own cell cannot be published in any way that keeps their levels."""
    i, at = forms.instance, forms.at
    pairs = np.flatnonzero(_has_level(i) & (at.reach[i.pair_cell] > 0))
    R, lpl, upl, spl = at.reach[i.pair_cell[pairs]], i.level[DOWN, pairs], i.level[UP, pairs], i.slide[pairs]
    t = _nearest(forms, problem, i.pair_cell[pairs], 0.5 * (upl - lpl))
    falls, rises = R - t, R + t
    short = np.maximum(lpl - falls, upl - rises) > ENOUGH * np.maximum(lpl, upl)
    narrow = spl > 2 * R * (1 + ENOUGH)
    out: list[Clash] = []
    for n in np.flatnonzero(narrow | short).tolist():
        if narrow[n]:
            out.append(Clash(int(pairs[n]), None, float(spl[n]), float(2 * R[n])))
        elif upl[n] - rises[n] >= lpl[n] - falls[n]:
            out.append(Clash(int(pairs[n]), UP, float(upl[n]), float(rises[n])))
        else:
            out.append(Clash(int(pairs[n]), DOWN, float(lpl[n]), float(falls[n])))
    return out


def _has_level(i: Instance) -> np.ndarray:
    """bool [pair]: has a level that holds in any case."""
    return ~i.conditional & (np.maximum(i.level.max(axis=0), i.slide) > 0)


def _nearest(forms: Forms, problem: DecisionProblem, cell: np.ndarray, required: np.ndarray) -> np.ndarray:
    """The deviations that cells may have which are nearest to those wanted."""
    i, at, out = forms.instance, forms.at, np.zeros(len(cell))
    some = at.multiple[cell] >= 0
    of, k = cell[some], at.multiple[cell[some]]
    first, r = at.first[of] - i.a[of], at.base[of]
    out[some] = first + r * np.clip(_whole((required[some] - first) / r), problem.lower[k], problem.upper[k])
    of, p, q = cell[~some], at.plus[cell[~some]], at.minus[cell[~some]]
    low, high = problem.lower[p] - problem.upper[q], problem.upper[p] - problem.lower[q]
    at_ends = np.where(required[~some] <= 0.5 * (low + high), low, high)
    between = np.where(at.whole[of], _whole(required[~some]), required[~some])
    out[~some] = np.where(i.sensitive[of], at_ends, np.clip(between, low, high))
    return out


def _whole(x: np.ndarray) -> np.ndarray:
    return np.ceil(x - 0.5)
