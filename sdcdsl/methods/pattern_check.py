"""How far attackers get with given cells open: which requirements a set of hidden cells leaves short, by the engines of
the attack. Used to check a pattern before it is handed on, and to say why there is none."""

from __future__ import annotations

import numpy as np

from sdcdsl.attack.reduction import ReducedRelations, Reduction
from sdcdsl.attack.survey import settle
from sdcdsl.attack.task import AttackTask, OwnKnowledge, TaskPairs
from sdcdsl.methods.clashes import clashes
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Clash

FAR = 1e4  # nothing has to move so many times as far as the largest level asks; engines lose sight of moves beside 1e12


def falling_short(instance: Instance, hidden: np.ndarray, *, exact: bool = False) -> list[Clash]:
    """Requirements, and pairs with a sliding level, that do not get what they need when `hidden` cells are open."""
    open_ended = np.where(hidden, np.inf, 0.0)
    return exposed(instance, instance.a - open_ended, instance.a + open_ended, exact=exact)


def exposed(instance: Instance, low: np.ndarray, high: np.ndarray, *, exact: bool = False) -> list[Clash]:
    """The same of any release that tells readers low ≤ y ≤ high, which holds the truth.

    Whether there are any is certain; only `exact` tells how far they get, and leaves out the good requirement of a bad
    pair.
    """
    down, up = np.maximum(instance.a - low, 0.0), np.maximum(high - instance.a, 0.0)
    far = FAR * max(instance.level.max(initial=0.0), instance.slide.max(initial=0.0))
    LB, UB = np.minimum(instance.LB, far), np.minimum(instance.UB, far)
    reached = np.zeros((2, instance.pairs))
    view_of = instance.view_of[instance.pair_attacker] if instance.pairs else np.zeros(0, dtype=np.int64)
    view_of = np.where((instance.level > 0).any(axis=0) | (instance.slide > 0), view_of, -1)  # who requires nothing
    d = instance.problem.dataset
    relations = ReducedRelations(
        d["coefficient"].values.astype(float),
        d["cell_of"].values.astype(np.int64),
        d["equation_of"].values.astype(np.int64),
        instance.n,
        instance.m,
    )
    for view in np.unique(view_of[view_of >= 0]):
        l, u = -np.minimum(LB[view], down), np.minimum(UB[view], up)
        reduction = Reduction(relations, l, u)
        mine = np.flatnonzero(view_of == view)
        at = reduction.of[instance.pair_cell[mine]]
        for number in np.unique(at[at >= 0]):
            pairs = mine[at == number]
            component = reduction.component(int(number))
            attackers, attacker = np.unique(instance.pair_attacker[pairs], return_inverse=True)
            local = TaskPairs(
                np.searchsorted(component.cells, instance.pair_cell[pairs]),
                attacker,
                instance.level[:, pairs],
                instance.slide[pairs],
            )
            known = _known(instance, attackers, component.cells)
            reached[:, pairs] = settle(AttackTask(component, local, known, len(attackers), exact=exact)).reached
    return clashes(instance, reached)


def _known(instance: Instance, attackers: np.ndarray, cells: np.ndarray) -> OwnKnowledge:
    parts = [instance.known(int(k)) for k in attackers]
    who = np.repeat(np.arange(len(attackers)), [len(p[0]) for p in parts])
    about, LB, UB = (np.concatenate([p[i] for p in parts]) for i in range(3))
    at = np.minimum(np.searchsorted(cells, about), len(cells) - 1)
    here = cells[at] == about
    return OwnKnowledge(who[here], at[here], -LB[here], UB[here])
