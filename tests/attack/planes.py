"""Small tables with all their relations, whole or reduced to the cells that are hidden."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class System(NamedTuple):
    coefficient: np.ndarray
    cell_of: np.ndarray
    equation_of: np.ndarray
    cells: int
    equations: int

    @property
    def dense(self) -> np.ndarray:
        made = np.zeros((self.equations, self.cells))
        np.add.at(made, (self.equation_of, self.cell_of), self.coefficient)
        return made

    def times(self, cells: np.ndarray, move: np.ndarray) -> np.ndarray:
        d = np.zeros(self.cells)
        d[cells] = move
        return np.bincount(self.equation_of, weights=self.coefficient * d[self.cell_of], minlength=self.equations)


def tree(*branches: int) -> list[int]:
    """Parents of the codes of a hierarchy: every code of level i has this many children, and code 0 is the total."""
    parents, level = [-1], [0]
    for count in branches:
        first = len(parents)
        parents += [code for code in level for _ in range(count)]
        level = list(range(first, len(parents)))
    return parents


def table(*hierarchies: list[int]) -> System:
    shape = [len(parents) for parents in hierarchies]
    number = np.arange(np.prod(shape)).reshape(shape)
    entries, equations = [], 0
    for d, parents in enumerate(hierarchies):
        lines = np.moveaxis(number, d, 0).reshape(shape[d], -1).T
        for total in sorted(set(parents) - {-1}):
            children = [code for code, parent in enumerate(parents) if parent == total]
            for line in lines:
                entries.append((-1, line[total], equations))
                entries += [(1, line[code], equations) for code in children]
                equations += 1
    coefficient, cell_of, equation_of = np.array(entries).T
    return System(coefficient.astype(float), cell_of, equation_of, number.size, equations)


def hidden_part(system: System, hidden: np.ndarray, settle: bool = True) -> System:
    """The relations over hidden cells; with `settle`, cells that a relation with no other hidden cell gives are left
    out, until none is."""
    hidden = hidden.copy()
    while settle:
        open_cells = np.bincount(system.equation_of[hidden[system.cell_of]], minlength=system.equations)
        known = hidden[system.cell_of] & (open_cells[system.equation_of] == 1)
        if not known.any():
            break
        hidden[system.cell_of[known]] = False
    stays, number = hidden[system.cell_of], np.cumsum(hidden) - 1
    return System(
        system.coefficient[stays],
        number[system.cell_of[stays]],
        system.equation_of[stays],
        int(hidden.sum()),
        system.equations,
    )


@st.composite
def hierarchies(draw: st.DrawFn, levels: int = 3, most: int = 9) -> list[int]:
    """Ragged trees: leaves at any level, now and then a code with a single child."""
    parents, depth = [-1], [0]
    for _ in range(draw(st.integers(1, most))):
        parent = draw(st.sampled_from([code for code, at in enumerate(depth) if at < levels]))
        parents.append(parent)
        depth.append(depth[parent] + 1)
    return parents


@st.composite
def plane_tables(draw: st.DrawFn) -> System:
    """Two dimensions, at most one with a hierarchy, in both orientations; whole, or some of its cells."""
    sides = [draw(hierarchies()), tree(draw(st.integers(1, 5)))]
    if draw(st.booleans()):
        sides.reverse()
    system = table(*sides)
    share = draw(st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]))
    hidden = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).random(system.cells) < share
    return hidden_part(system, hidden)


def shuffled(system: System, seed: int) -> System:
    """The same system with cells, equations and entries in another order and some equations turned."""
    rng = np.random.default_rng(seed)
    cell, equation = rng.permutation(system.cells), rng.permutation(system.equations)
    turn = rng.choice([-1.0, 1.0], system.equations)
    order = rng.permutation(len(system.coefficient))
    return System(
        (system.coefficient * turn[system.equation_of])[order],
        cell[system.cell_of][order],
        equation[system.equation_of][order],
        system.cells,
        system.equations,
    )
