"""Choosing the senses of cells that may go either way (papers 004 (3), 000 (6))."""

from __future__ import annotations

from sdcdsl.accelerate.cta.senses.chosen import Chosen
from sdcdsl.accelerate.cta.senses.norms import Bent
from sdcdsl.accelerate.cta.senses.search import Search, Tell
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import L1, Settings

__all__ = ["Chosen", "choose"]


def choose(of: Settings, gap: float, deadline: Deadline, seed: int = 0, tell: Tell = lambda standing: None) -> Chosen:
    """The best senses found in the time, with a bound; senses that are given are kept."""
    if of.norm == L1:
        return Search(of.of, of.w_down, of.w_up, gap, deadline).run(seed, tell)
    return Bent(of, gap, deadline, seed, tell).run()
