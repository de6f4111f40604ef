"""Choosing the senses of cells that may go either way (papers 004 (3), 000 (6))."""

from __future__ import annotations

from sdcdsl.accelerate.cta.senses.norms import NonlinearNorm
from sdcdsl.accelerate.cta.senses.search import SenseSearch, Show, Tell
from sdcdsl.accelerate.cta.senses.sense_choice import Chosen
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import L1, Settings

__all__ = ["Chosen", "choose"]


def choose(
    of: Settings,
    gap: float,
    deadline: Deadline,
    seed: int = 0,
    tell: Tell = lambda progress: None,
    shown: Show = lambda objective, z: None,
) -> Chosen:
    """The best senses found in the time, with a bound; senses that are given are kept. `shown` hears of every better
    table, where the norm is L1."""
    if of.norm == L1:
        search = SenseSearch(of.of, of.w_down, of.w_up, gap, deadline)
        search.shown = shown
        return search.run(seed, tell)
    return NonlinearNorm(of, gap, deadline, seed, tell).run()
