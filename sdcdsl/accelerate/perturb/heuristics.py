"""First releases of perturbed tables: sensitive cells stand at one end of their range or the other, the rest follows at
the least cost, which is a closest table with free senses (paper 004 (3)) whose levels are the ends.

Levels against attackers are looked at afterwards; they are mostly kept, since ranges are known to all and wide. The
bound of that search leaves them out, so that it holds here too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.cta.senses.search import SenseSearch as Senses
from sdcdsl.accelerate.forms.search import FormsSearch
from sdcdsl.accelerate.perturb.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.forms.forms import Forms
from sdcdsl.methods.result import Progress


class PerturbationHeuristic:
    def __init__(self, forms: Forms, ends: np.ndarray):
        """`ends` int8 [cell]: of sensitive cells, -1 the lower one, 1 the upper one, 0 either."""
        self.forms, self.ends = forms, ends

    def first(self, search: FormsSearch, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> bool:
        at = self.forms.at
        moving = at.plus >= 0
        if at.whole.any() or search.hidden.any() or moving.sum() < TUNING.adjusted_from:
            return False
        left = deadline.remaining if np.isfinite(deadline.remaining) else TUNING.long
        part = deadline.within(TUNING.adjusting * left)
        i = self.forms.instance
        senses = Senses(self._adjustment(moving), i.w_down, i.w_up, gap, part)
        if len(senses.groups.hopeless):
            return False
        last = np.inf

        def shown(objective: float, table: Callable[[], np.ndarray]) -> None:
            nonlocal last
            if objective < last * (1 - TUNING.gain) and not search.over(part):
                last = objective
                search.settle(self._columns(search, table()))
                tell(Progress("closest tables", search.objective, search.bound))

        senses.shown = shown
        made = senses.run(tell=lambda said: search.raise_bound(said.bound if said.bound is not None else -np.inf))
        if made.z is not None and (search.best is None or made.objective is None or made.objective < last):
            search.settle(self._columns(search, made.z))
        tell(Progress("closest tables", search.objective, search.bound))
        return False

    def __call__(self, search: FormsSearch, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        """All that is known is found at first."""

    def _adjustment(self, moving: np.ndarray) -> Adjustment:
        at, i = self.forms.at, self.forms.instance
        cells = np.flatnonzero(moving & i.sensitive)
        return Adjustment(
            i.M,
            i.a,
            i.w_down,
            i.w_up,
            np.where(moving, -at.down, 0.0),
            np.where(moving, at.up, 0.0),
            cells,
            at.down[cells],
            at.up[cells],
            self.ends[cells].astype(np.int8),
        )

    def _columns(self, search: FormsSearch, z: np.ndarray) -> np.ndarray:
        at = self.forms.at
        u = np.zeros(len(search.problem.cost))
        moving, chosen, used = (np.flatnonzero(kind >= 0) for kind in (at.plus, at.upper, at.used))
        u[at.plus[moving]], u[at.minus[moving]] = np.maximum(z, 0.0)[moving], np.maximum(-z, 0.0)[moving]
        u[at.upper[chosen]] = z[chosen] > 0
        u[at.used[used]] = z[used] != 0
        return u / search.problem.unit
