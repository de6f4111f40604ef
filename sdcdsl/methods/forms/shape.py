"""How the cells of a table are published: the forms of its cells, and what readers are told about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.forms.forms import Forms
from sdcdsl.methods.forms.published import Published
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.modelling import typical


@dataclass(frozen=True, eq=False)
class Shape:
    """How the cells of a table are published, with everything said about it."""

    forms: Forms
    about: tuple[str, ...]  # what readers are told

    @property
    def published(self) -> Published:
        return Published(self.forms.instance, self.forms.at, self.forms.into.unit)


def new_forms(problem: TableProblem, *amounts: np.ndarray) -> Forms:
    """`amounts`: lengths of what is decided (bases, ranges, levels); solvers work in units of a typical one."""
    d = problem.dataset
    return Forms(Instance(problem), typical(np.concatenate(amounts)), d["lb"].values, d["ub"].values)
