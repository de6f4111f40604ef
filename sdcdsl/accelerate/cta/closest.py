"""The closest table for given senses: the norm decides which solver of `nearest` runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import Settings
from sdcdsl.numerics.nearest import l1, l2
from sdcdsl.numerics.nearest.l1l2 import mixed
from sdcdsl.numerics.nearest.linf import linf
from sdcdsl.numerics.nearest.solved import Solved

SAME = 1e-9  # relative: maxima that are the same but for rounding


def closest(of: Settings, sense: np.ndarray, deadline: Deadline) -> Solved:
    l, u = of.of.box(sense)
    M = of.of.M
    match of.norm:
        case "L2":
            return l2.L2(M).solve(of.w_square, l, u, deadline)
        case "Linf":
            return linf(M, of.w, l, u, of.sensitive, deadline)
        case "L1L2":
            return mixed(M, of.w_down, of.w_up, of.w_square, l, u, deadline)
    return l1.L1(M).solve(of.w_down, of.w_up, l, u, deadline)


def in_l1(of: Settings, sense: np.ndarray, deadline: Deadline) -> np.ndarray | None:
    """Where the solvers of other norms give up, on tables with figures from 1 to 10¹⁰: a linear program still gives a
    table that is far enough from the truth and close to it, though in L1."""
    return closest(replace(of, norm="L1"), sense, deadline).z


def nearer(of: Settings, sense: np.ndarray, z: np.ndarray, deadline: Deadline) -> np.ndarray:
    """Of all tables with the largest deviations of z the one that is closest in L1: maxima leave most cells free to be
    anywhere below them."""
    inside, w = of.sensitive, of.w
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(w > 0, np.where(inside, *(_largest(w, z, cells) for cells in (inside, ~inside))) / w, np.inf)
    l, u = of.of.box(sense)
    l, u = np.maximum(l, -np.maximum(most, np.abs(z))), np.minimum(u, np.maximum(most, np.abs(z)))
    solved = l1.L1(of.of.M).solve(of.of.w_down, of.of.w_up, l, u, deadline)
    if solved.z is None or of.objective(solved.z) > of.objective(z) * (1 + SAME):
        return z
    return solved.z


def _largest(w: np.ndarray, z: np.ndarray, cells: np.ndarray) -> float:
    return float((w * np.abs(z))[cells].max(initial=0.0))


def level_multipliers(of: Settings, sense: np.ndarray, solved: Solved) -> np.ndarray | None:
    """μ [p]: what the objective grows by when the level of a cell does (004 (8))."""
    if solved.mu_low is None or solved.mu_high is None:
        return None
    cells = of.of.cells
    return np.where(sense > 0, solved.mu_low[cells], solved.mu_high[cells])
