"""What no adjusted table can give, told before anything is solved, and which requirements clash."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.settings import Settings
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.result import Clash, Result
from sdcdsl.status import INFEASIBLE

WITHIN = 1e-9  # of a level: what whole numbers and audits overlook


def sliding(problem: TableProblem) -> Result | None:
    """An adjusted table gives attackers no interval, so nothing can be said about how wide it is."""
    d = problem.dataset
    wide = d["spl"].values > d["lpl"].values + d["upl"].values
    if not wide.any():
        return None
    note = (
        "sliding levels ask how wide an attacker's interval stays; an adjusted table publishes none. Ask for lpl "
        "and upl, or take a method with intervals: csp, ip, ecta"
    )
    return Result(INFEASIBLE, clashes=(), notes=(note,))


def nowhere_to_go(problem: TableProblem, of: Settings) -> Result | None:
    """Cells whose bounds or senses leave no direction in which a level can be kept."""
    stuck = np.flatnonzero(~of.of.open.any(axis=1))
    if not len(stuck):
        return None
    return Result(INFEASIBLE, clashes=tuple(clashes(problem, of, stuck, None)), notes=_no_level(problem, of, stuck))


def _no_level(problem: TableProblem, of: Settings, stuck: np.ndarray) -> tuple[str, ...]:
    """Cells whose sense leads where no level requires anything: being zero away from the truth protects nothing."""
    a, out = of.of, []
    for sense, level, name in ((1, a.upl, "upl"), (-1, a.lpl, "lpl")):
        bare = a.cells[stuck[(a.sense[stuck] == sense) & np.isinf(level[stuck])]]
        if len(bare):
            way = "up" if sense > 0 else "down"
            where = first_cells(bare, problem.label)
            out.append(f"`sense {way}` moves {cells(bare)} {way}, and no `{name}` says how far: {where}")
    return tuple(out)


def clashes(problem: TableProblem, of: Settings, which: np.ndarray, lacking: np.ndarray | None) -> list[Clash]:
    """Requirements of these cells, with what they need and what can be had."""
    a, d = of.of, problem.dataset
    cell, levels = d["cell_at"].values, {DOWN: d["lpl"].values, UP: d["upl"].values}
    at = {int(a.cells[i]): i for i in which.tolist()}
    out = []
    for pair in np.flatnonzero(np.isin(cell, list(at))).tolist():
        i = at[int(cell[pair])]
        nearest = DOWN if a.lpl[i] <= a.upl[i] else UP
        for side, slack in ((DOWN, -a.low), (UP, a.high)):
            need = float(levels[side][pair])
            if need <= 0 or (a.sense[i] > 0 and side == DOWN) or (a.sense[i] < 0 and side == UP):
                continue
            if lacking is not None and a.sense[i] == 0 and side != nearest:
                continue  # what is lacking is known of the nearer side
            reach = float(slack[cell[pair]]) if lacking is None else need - float(lacking[i])
            if reach < need:
                out.append(Clash(pair, side, need, max(reach, 0.0) + 0.0))  # no minus before a zero
    return out


def decimals(problem: TableProblem, of: Settings, z: np.ndarray) -> tuple[str, ...]:
    """Whole figures that are not whole any more are seen to have moved."""
    a = of.of.a
    shown = problem.dataset["published"].values
    if (a[shown] != np.round(a[shown])).any() or (z[shown] == np.round(z[shown])).all():
        return ()
    return ("decimals show which of the whole figures moved: `integer` publishes whole ones",)


def far_enough(of: Settings, z: np.ndarray) -> bool:
    """Whether every level is kept, as the published figures will say it."""
    a = of.of
    own = (a.a + z)[a.cells] - a.a[a.cells]
    slack = 1e-10 * np.abs(a.a[a.cells])
    up, down = (np.minimum(level - slack, level * (1 - WITHIN)) for level in (a.upl, a.lpl))
    return bool(((own >= up) | (-own >= down)).all())
