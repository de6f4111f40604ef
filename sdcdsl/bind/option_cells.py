"""Options of a method that are worked out cell by cell: amounts, ranges and conditions become arrays over all cells.

    an amount                     float [cell], nan where no statement matches
    a range LOW .. HIGH           two of them; a bare percentage is one of the cell's value
    a condition                   bool [cell]
    an amount and a condition     float [cell], nan elsewhere
    a word or flag with `where`   object [cell]: the word of the last match, None elsewhere; bool [cell] for a flag
    a number with `where`         one (number, bool [cell]) for each statement, since caps add up over cells

What is not given at all has its default, as for the options of whole tables (`sdcdsl.bind.options`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdcdsl.bind.evaluate import Clause, View, last_match, select
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.options import option_value, option_values
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.meaning import LEVELS
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.option import Kind, OptionSpec, options_of

Amounts = NDArray[np.float64]  # nan where no statement matches
Ranges = tuple[Amounts, Amounts]
Mask = NDArray[np.bool_]
Words = NDArray[np.object_]  # None where no statement matches
Caps = tuple[tuple[int, Mask], ...]


def engine_options(engine: d.Engine, described: type, problem: TableProblem) -> tuple[dict[str, Any], list[Diagnostic]]:
    """All options of one method of a chain, as plain values and arrays."""
    out = option_values(engine.options, described)
    found: list[Diagnostic] = []
    working = _Working(problem)
    for name, spec in options_of(described).items():
        said = [option for option in engine.options if option.name == name]
        if said and spec.per_cell:
            out[name] = working.array(spec, said)
    method = METHODS.get(engine.name)
    if method is not None and method.parts and not working.found:
        working.divide([option for option in engine.options if option.name in method.parts], engine)
    found += working.found
    return out, found


class _Working:
    def __init__(self, problem: TableProblem):
        self.problem = problem
        self.needed: np.ndarray = problem.dataset["published"].values
        self.views = _with_levels(problem)
        self.found: list[Diagnostic] = []

    def array(self, spec: OptionSpec, said: Sequence[d.Option]) -> Any:
        match spec.kind:
            case Kind.AMOUNT | Kind.AMOUNT_CELLS:
                amount, by = self._amount([(o.values[0], o) for o in said])
                self._not_below_zero(amount, by, said)
                return amount
            case Kind.RANGE:
                ranges = [(o.values[0], o) for o in said]
                ends = [[(_of_value(r.low if low else r.high), o) for r, o in ranges] for low in (True, False)]  # type: ignore[union-attr]
                return tuple(self._amount(end)[0] for end in ends)
            case Kind.CELLS | Kind.FLAG:
                return np.logical_or.reduce([self._cells(o) for o in said])
            case Kind.CHOICE:
                words = np.full(self.problem.n, None, dtype=object)
                for option in said:
                    words[self._cells(option)] = option_value(option, spec)
                return words
        return tuple((option_value(option, spec), self._cells(option)) for option in said)

    def _amount(self, said: Sequence[tuple[x.Expression, d.Option]]) -> tuple[np.ndarray, np.ndarray]:
        clauses = [Clause(amount, option.where, option.span) for amount, option in said]
        amount, by, problems = last_match(self.views, clauses, self.needed, self.problem.label)
        self.found += problems
        return amount, by

    def _cells(self, option: d.Option) -> np.ndarray:
        chosen, problems = select(self.views, option.where, self.problem.n, self.problem.label)
        self.found += problems
        return chosen & self.needed

    def divide(self, said: Sequence[d.Option], engine: d.Engine) -> None:
        """No cell is published in two forms, and sensitive cells in one that can protect them."""
        chosen = [self._cells(option) for option in said]
        for i, one in enumerate(said):
            for j in range(i):
                both = np.flatnonzero(chosen[i] & chosen[j])
                if one.name != said[j].name and len(both):
                    headline = f"{cells(both)} in two parts of `{engine.word}`: `{said[j].name}` and `{one.name}`"
                    notes = [first_cells(both, self.problem.label)]
                    found = diagnostic("SDC334", headline, one.span, "these cells", notes=notes)
                    self.found.append(found.mark(said[j].span, "have a form already"))
        exact = [mask for option, mask in zip(said, chosen, strict=True) if option.name == "exact"]
        covered = np.logical_or.reduce([m for o, m in zip(said, chosen, strict=True) if o.name != "exact"] or [False])
        shown = (
            (self.problem.dataset["status"].values == "u") & self.needed & ~np.broadcast_to(covered, self.needed.shape)
        )
        left = np.flatnonzero(shown)
        if len(left) and not self.found:
            what = "is published as it is" if len(left) == 1 else "are published as they are"
            why = "they are in the part `exact`, or in none" if exact else "no part speaks of them"
            headline = f"{cells(left)} that {'is' if len(left) == 1 else 'are'} sensitive {what} by `{engine.word}`"
            self.found.append(
                diagnostic("SDC334", headline, engine.span, notes=[first_cells(left, self.problem.label), why])
            )

    def _not_below_zero(self, amount: np.ndarray, by: np.ndarray, said: Sequence[d.Option]) -> None:
        negative = np.flatnonzero(amount < 0)
        for index in np.unique(by[negative]):
            option, chosen = said[int(index)], negative[by[negative] == index]
            headline = f"`{option.name}` is below zero in {cells(chosen)}"
            self.found.append(
                diagnostic("SDC321", headline, option.span, notes=[first_cells(chosen, self.problem.label)])
            )


def _with_levels(problem: TableProblem) -> list[View]:
    """In an option `lpl`, `upl` and `spl` are the largest against any attacker."""
    amounts = [one.amounts for one in problem.attacker_levels]
    most = {
        level: np.max([one[level] for one in amounts], axis=0) if amounts else np.zeros(problem.n) for level in LEVELS
    }
    return [
        replace(view, quantities={**view.quantities, **{level: most[level][view.cells] for level in LEVELS}})
        for view in problem.views
    ]


def _of_value(e: x.Expression) -> x.Expression:
    if isinstance(e, x.Negative):
        return x.Negative(_of_value(e.value))
    return x.Binary("of", e, x.Name("value")) if isinstance(e, x.Percent) else e
