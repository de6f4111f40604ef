"""What touching one cell costs, and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import Clause, last_match
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pipeline.cell_facts import Statement
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import statement as written

PRICES = ((None, "w", "to hide"), ("up", "w_up", "a unit up"), ("down", "w_down", "a unit down"),
          ("fixed", "w_fixed", "to touch"))  # fmt: skip


@dataclass(frozen=True)
class Price:
    """`why` is None where no statement of the policy says it."""

    what: str
    amount: float
    why: Statement | None


def prices(problem: TableProblem, cell: int, policy: Policy) -> tuple[Price, ...]:
    """Sums that exist only to be protected cost nothing, and are not priced."""
    protect = policy.protects.get(problem.name)
    if protect is None or not problem.dataset["published"].values[cell]:
        return ()
    return tuple(_prices(problem, cell, protect))


def _prices(problem: TableProblem, cell: int, protect: d.Block) -> Iterator[Price]:
    here = np.zeros(problem.n, dtype=bool)
    here[cell] = True
    for price, letter, what in PRICES:
        if letter not in problem.dataset:
            continue
        said = [s for s in protect.all(d.Cost) if s.price == price]
        if price in ("up", "down") and not said:
            said = [s for s in protect.all(d.Cost) if s.price is None]
        _, by, _ = last_match(problem.views, [Clause(s.amount, s.where, s.span) for s in said], here, problem.label)
        at = int(by[cell])
        why = None if at < 0 else Statement.of(said[at].span, written(said[at]))
        yield Price(what, float(problem.dataset[letter].values[cell]), why)
