"""The releases that a search has in hand: what remains of one that does not come back.

A search offers every better release it comes to, as a function that makes it: publishing costs time, and mostly only
the last one is required. What is offered does not change any more, since another thread may require it while the
search goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from sdcdsl.status import FEASIBLE

if TYPE_CHECKING:
    from sdcdsl.methods.result import Result

KEPT = 3  # releases: an audit that refuses one has those before it


class Incumbents:
    """The best releases so far, and the bound on all of them."""

    def __init__(self) -> None:
        self.bound: float | None = None
        self.first: Callable[[bool], None] = lambda last: None  # called when the first one is offered
        self._offered: tuple[tuple[float, Callable[[], Result | None]], ...] = ()

    def offer(self, objective: float, make: Callable[[], Result | None], last: bool = False) -> None:
        """`make` gives a result with a pattern, or None if nothing valid can be made of it. `last`: the audit will ask
        for no sum that the search does not protect, so that no other search has to follow."""
        if self._offered and objective >= self._offered[-1][0]:
            return
        if not self._offered:
            self.first(last)
        self._offered = (*self._offered[-(KEPT - 1) :], (objective, make))

    def bounded(self, bound: float | None) -> None:
        """A bound on the objective was proved."""
        if bound is not None and isfinite(bound):
            self.bound = bound if self.bound is None else max(self.bound, bound)

    def best_first(self) -> Iterator[Result]:
        for _, make in reversed(self._offered):
            made = make()
            if made is None or made.pattern is None:
                continue
            bound = made.bound if made.bound is not None else self.bound
            if bound is not None and made.objective is not None:
                bound = min(bound, made.objective)
            yield replace(made, status=FEASIBLE, bound=bound, timed=True)
