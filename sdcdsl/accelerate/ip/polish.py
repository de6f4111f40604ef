"""From a solution within a solver's tolerance to intervals that hold by arithmetic.

For every requirement a move is found within the intervals (a hair wider, where the attacker's own slack allows) that
takes its class to its level, and is made a combination of the null space of its own support: then M D = 0 up to the
last digits, whatever error the solver left. The least intervals that hold all of these moves are published.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.cutting.attacks import AttackAnswer
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.numerics.null_space import RelationMatrix, echelon, null_space

DUST = 1e-10  # of the level: parts of a move that are left out of it
DIGITS = 1e-10  # of the level: what a move may be beyond a viewer's slack; an audit allows ten times as much
CRUMB = 1e-7  # of the lowest level: widths that are a solver's rounding errors
ALMOST = 1 - 2e-10  # an audit allows 1e-9
SAME = 2e-7  # numbers that differ by no more of them are taken to mean the same
MARGIN = 1 + 2e-7  # for whoever has to find a move anew, in other arithmetic


def tight(
    separation: Separation,
    z: np.ndarray,
    few_digits: bool = False,
    widest: np.ndarray | None = None,
    over: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, np.ndarray]:
    """The least (down, up) within about z that hold a move for every level; and the levels without one.
    `few_digits`: where the best is not near anyway they cost little, and are easier to prove things with. `widest`: of
    each class; what has an end there gets no hair beyond it. When it is `over`, the levels that are left have none."""
    demands, n = separation.demands, separation.demands.classes.count
    levels = separation.levels
    least = np.zeros(2 * n)
    open_levels = np.ones(len(levels), dtype=bool)
    loose = np.ones(2 * n, dtype=bool) if widest is None else np.tile(np.isinf(widest), 2)
    z = np.where(z > CRUMB * levels.need.min(initial=np.inf), z, 0.0)
    for wider, beyond in [*((wider, 0.0) for wider in TUNING.wider), *((wider, DIGITS) for wider in TUNING.wider)]:
        hair = wider * np.where((z > 0) & np.isfinite(z) & loose, z + demands.unit, 0.0)
        capacities = Capacities(demands, (z + hair)[:n], (z + hair)[n:])
        for s in np.flatnonzero(open_levels):
            if over():
                return least, open_levels
            # A hair less than the viewer's slack first, so that cleaning a move does not take it beyond.
            moves = None
            for share in (1 - 1e-10, 1.0):
                moves = moves or _moves(separation, capacities, int(s), share, beyond)
            if moves is None:
                continue
            open_levels[s] = False
            for moved, move in moves:
                np.maximum.at(least, np.where(move > 0, n, 0) + moved, np.abs(move))
        if not open_levels.any():
            break
    if not open_levels.any():
        least = coarse(separation, least) if few_digits or over() else _round(separation, least)
    return least, open_levels


def coarse(separation: Separation, z: np.ndarray) -> np.ndarray:
    """Never inwards, not even by a rounding error: widths are many times the levels of others."""
    digit = 10.0 ** (np.floor(np.log10(separation.levels.need.min())) - 3)
    return np.ceil(z * MARGIN / digit) * digit


def _round(separation: Separation, z: np.ndarray) -> np.ndarray:
    """Numbers with few digits, where they do as well: 8 for 8.00000002."""
    demands, n = separation.demands, separation.demands.classes.count
    digit = 10.0 ** (np.floor(np.log10(separation.levels.need.min())) - 5) / 60  # thirds and quarters count as well
    near = np.rint(z / digit)
    simplest = near * digit
    for times in (10.0, 100.0, 1000.0):  # the fewest digits that mean the same number
        fewer = np.rint(z / (times * digit)) * times * digit
        means = np.abs(fewer - z) <= SAME * np.maximum(z, separation.levels.need.min())
        simplest = np.where((z > 0) & means & (fewer > 0), fewer, simplest)
    for widths in (simplest, near * digit, np.where(np.abs(z / digit - near) < 0.1, near, np.ceil(z / digit)) * digit):
        point = Capacities(demands, widths[:n], widths[n:])
        if not separation.round(point, tolerance=1 - ALMOST, repairing=False).short.any() and _hold(separation, point):
            return widths
    return z * MARGIN


def _hold(separation: Separation, widths: Capacities) -> bool:
    """Whether moves within these widths reach all levels by arithmetic. A linear program that says so may err in the
    seventh digit; flows are not, and of very many levels not all are asked twice."""
    levels, demands = separation.levels, separation.demands
    if demands.classes.network is not None or len(levels) * demands.classes.count > TUNING.many_moves:
        return True
    for s in range(len(levels)):
        moves = _moves(separation, widths, s, 1.0, DIGITS)
        if moves is None:
            return False
        for moved, move in moves:
            slack = np.where(move > 0, widths.up[moved], widths.down[moved])
            if (np.abs(move) > slack + DIGITS * levels.need[s]).any():
                return False
    return True


def _moves(
    separation: Separation, capacities: Capacities, s: int, share: float, beyond: float
) -> list[tuple[np.ndarray, np.ndarray]] | None:
    levels = separation.levels
    cell, viewer, need = int(levels.cell[s]), int(levels.viewer[s]), float(levels.need[s])
    signs = [int(levels.sign[s])] if s < separation.requirements else [1, -1]
    out, reached = [], 0.0
    for sign in signs:
        needed = need if s < separation.requirements else need - reached
        if needed <= 0:
            break
        down, up = capacities.at(viewer, needed)
        if separation.demands.classes.network is None:
            down, up = down * share, up * share
        answer = separation.attacks.ask(cell, sign, needed, down, up)
        move = clean(separation.demands, answer, needed)
        if move is None:
            continue
        goal = needed if answer.reached >= needed * (1 - 1e-8) else answer.reached
        moved, d, got = _fitting(separation.demands, viewer, cell, *move, goal, beyond)
        reached += got
        out.append((moved, d))
    if reached < need * ALMOST:
        return None
    return [(moved, d * max(need / reached, 1.0)) for moved, d in out]


def clean(demands: CutRequirements, answer: AttackAnswer, need: float) -> tuple[np.ndarray, np.ndarray] | None:
    """The move as a combination of the null space of its support."""
    if answer.reached <= 0:
        return None
    if demands.classes.network is not None:
        return answer.moved, answer.move
    big = np.abs(answer.move) > DUST * need
    moved, move = answer.moved[big], answer.move[big]
    if not len(moved):
        return None
    rows = demands.classes.matrix.sparse.tocsc()[:, moved].tocsr()
    rows = rows[np.diff(rows.indptr) > 0]
    matrix = RelationMatrix.of(rows)
    found = echelon(matrix)
    if found is None:
        return moved, move
    return moved, null_space(matrix, found) @ move[found.free]


def _fitting(
    demands: CutRequirements,
    viewer: int,
    cell: int,
    moved: np.ndarray,
    move: np.ndarray,
    needed: float,
    beyond: float,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Stretched to what is wanted, but by no more than `beyond` out of what the viewer leaves: where other cells are
    many times larger than a slack, the last digits of a move are more than nothing to it, and nothing to the level."""
    at = np.flatnonzero(moved == cell)
    if not len(at) or move[at[0]] == 0:
        return moved[:0], move[:0], 0.0
    low, high = (slack + beyond * needed for slack in demands.slack(viewer))
    with np.errstate(divide="ignore", invalid="ignore"):
        most = float(np.where(move > 0, high[moved] / move, np.where(move < 0, low[moved] / -move, np.inf)).min())
    step = min(needed / abs(float(move[at[0]])), most)
    return moved, move * step, step * abs(float(move[at[0]]))
