"""Classes of cells that move together, and the relations among them: the size that attacks and masters work at.

Published cells never move (d = 0), so a relation may be left with few cells. With one, that cell cannot move either.
With two, d_i = ±d_j: both move together, and neither is worth opening without the other. Such cells form an aggregation
class (`numerics.aggregation`), and relations are rewritten in terms of classes D:

    d_i = factor_i · D_class(i),    factor_i = ±1

A relation in D is a combination of relations in d, so multipliers of the former are multipliers of the latter. Tables
that are networks are left as they are, but for cells that cannot move: rewriting could hide what they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.numerics.aggregation import Aggregation, distinct, folded
from sdcdsl.numerics.flow.network import Network, as_network
from sdcdsl.numerics.null_space import RelationMatrix


@dataclass(frozen=True, eq=False)
class Classes(Aggregation):
    matrix: RelationMatrix  # relations among classes
    network: Network | None

    def least(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Capacities of cells as capacities of their classes: the least counts."""
        low, high = np.full(self.count, np.inf), np.full(self.count, np.inf)
        of, same = self.of[self.members], self.factor[self.members] > 0
        np.minimum.at(low, of, np.where(same, down[self.members], up[self.members]))
        np.minimum.at(high, of, np.where(same, up[self.members], down[self.members]))
        return low, high

    def total(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of cells added up: what one step of a class down and up costs."""
        cells = self.members
        of, same = self.of[cells], self.factor[cells] > 0
        low = np.bincount(of, weights=np.where(same, down[cells], up[cells]), minlength=self.count)
        high = np.bincount(of, weights=np.where(same, up[cells], down[cells]), minlength=self.count)
        return low, high

    def to_cells(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Capacities of classes as capacities of their cells."""
        free = self.of >= 0
        same = self.factor > 0
        of = np.where(free, self.of, 0)
        down, up = np.where(same, low[of], high[of]), np.where(same, high[of], low[of])
        return np.where(free, down, 0.0), np.where(free, up, 0.0)


def classes_of(M: csr_array, may_open: np.ndarray) -> Classes:
    """Classes of the cells that may be opened."""
    plain = folded(M, may_open, pairs=False)
    matrix = _relations(M, plain)
    row = np.repeat(np.arange(matrix.rows), np.diff(matrix.start))
    network = as_network(matrix.value, matrix.index, row, matrix.columns, matrix.rows)
    if network is not None:
        return Classes(plain.of, plain.factor, plain.count, matrix, network)
    found = folded(M, may_open, unit=True)
    return Classes(found.of, found.factor, found.count, _relations(M, found), None)


def _relations(M: csr_array, classes: Aggregation) -> RelationMatrix:
    return RelationMatrix.of(distinct(csr_array(M @ classes.expansion)))
