"""What every method defines, in the same words: its model, and the way between values of it and releases.

A definition is a module (`methods/csp/model.py`) or an object with these four functions. `methods.solving` is the only
place that decides who solves the model: a backend, or an accelerator that returns values of the same variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.pattern import Pattern

if TYPE_CHECKING:
    import linopy


class Definition(Protocol):
    def model(self, problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
        """The paper's model over the problem's dataset. Without witnesses: the decision variables, what is said about
        them alone, and the objective. That part grows with the cells only, so that it can be built at any size."""
        ...

    def pattern(self, problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
        """What is published with these values of the model's variables."""
        ...

    def decisions(self, problem: TableProblem, result: Result, context: SolveContext) -> dict[str, np.ndarray]:
        """The values that the decision variables have in a result with a release: the inverse of `pattern`. Not a
        number where a release does not say it; what the others leave of such a variable is worked out. Raises
        `NoRelease` where a release is none of this method at all."""
        ...

    def objective(self, problem: TableProblem, released: Pattern, context: SolveContext) -> float:
        """The model's objective at a release, with the discounts of the last period."""
        ...

    def completed(self, problem: TableProblem, result: Result, context: SolveContext) -> Result:
        """A result of the model with what the method has to say of it: facts and notes for the report."""
        ...
