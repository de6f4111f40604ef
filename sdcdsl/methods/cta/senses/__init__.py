"""Choosing the senses of cells that may go either way (papers 004 (3), 000 (6))."""

from __future__ import annotations

from sdcdsl.methods.cta.asked import L1, Asked
from sdcdsl.methods.cta.senses.chosen import Chosen
from sdcdsl.methods.cta.senses.norms import Bent
from sdcdsl.methods.cta.senses.search import Search, Tell
from sdcdsl.methods.result import Clock

__all__ = ["Chosen", "choose"]


def choose(of: Asked, gap: float, clock: Clock, seed: int = 0, tell: Tell = lambda standing: None) -> Chosen:
    """The best senses found in the time, with a bound; senses that are given are kept."""
    if of.norm == L1:
        return Search(of.of, of.w_down, of.w_up, gap, clock).run(seed, tell)
    return Bent(of, gap, clock, seed, tell).run()
