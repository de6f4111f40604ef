"""A table with its values: what the cells are called, what they hold, how they add up, who contributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.readers.jj import JJTable
from sdcdsl.bind.relations import Relations
from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.tabulation import Tabulation
from sdcdsl.diagnostics import Place


@dataclass(frozen=True, eq=False)
class Contributors:
    """Who contributes what: only where the table comes from microdata."""

    holdings: Tabulation  # a contributor is a holding where the data declares them
    units: Tabulation  # every unit on its own; the same object where there are no holdings
    judged: Tabulation  # holdings without those who waived their protection


@dataclass(frozen=True, eq=False)
class BoundTable:
    """One table of the policy. Local cells are numbered as in `lattice`, or as in the JJ file."""

    name: str
    measure: str  # tables of one measure share cells
    place: Place
    relations: Relations
    value: np.ndarray
    lattice: Lattice | None = None  # None: cells are numbered, from a JJ file
    quantities: Mapping[str, np.ndarray] = field(default_factory=dict)  # count, weight, columns of the data
    judged: RuleCells | None = None  # what rules see: without contributors who waived their protection
    largest: np.ndarray | None = None  # [cell, k] what expressions see, where weights count units
    known_largest: int = 0  # how many of the largest contributions are known
    status: np.ndarray | None = None  # of ready-made cells and JJ files: u s z m, or "" where nothing is said
    given: JJTable | None = None
    contributors: Contributors | None = None
    keys: np.ndarray | None = None  # of the contributors (`bind.keys`), where a method requires them
    cell_keys: np.ndarray | None = None  # uint64 (`bind.record_keys`), where a method draws noise by them
    attributes: tuple[str, ...] = ()  # dimensions that are no secret of a cell but of its members
    integer: bool = False  # the values are whole numbers
    whole: bool = False  # and the policy says so, or they are counts: what is published instead is whole as well
    computed: int = 0  # totals that were left out and computed
    empty: int = 0  # cells of the cross product that the data does not mention
    rounded: int = 0  # totals replaced by the sum of their parts, within rounding

    @property
    def size(self) -> int:
        return len(self.value)

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(d.name for d in self.lattice.dimensions) if self.lattice is not None else ()

    def label(self, cell: int) -> str:
        if self.lattice is not None:
            return self.lattice.label(cell)
        assert self.given is not None
        return f"cell {self.given.index[cell]}"
