"""The cells of a table: the full cross product of the codes of its dimensions.

Cells are numbered in C order over `DimensionCodes.codes`, the last dimension running fastest, so a cell number is a
mixed-radix number of code positions and no label is ever stored. The lattice is full, not sparse: a combination without
records is a cell of the published table whose value is zero, and an attacker reads that zero. The price is memory,
hence the limit (SDC327).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from sdcdsl.bind.composition import Composition, compose
from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic, listed
from sdcdsl.diagnostics.foreign import visible

CELL_LIMIT = 20_000_000


@dataclass(frozen=True, eq=False)
class Lattice:
    dimensions: tuple[DimensionCodes, ...]
    compositions: tuple[Composition, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(d.codes) for d in self.dimensions)

    @cached_property
    def size(self) -> int:
        return prod(self.shape)

    @cached_property
    def stride(self) -> tuple[int, ...]:
        """How far apart neighbours in each dimension are."""
        return tuple(prod(self.shape[d + 1 :]) for d in range(len(self.shape)))

    def codes_at(self, cells: np.ndarray, d: int) -> np.ndarray:
        """Positions of the codes of these cells in dimension d."""
        return cells // self.stride[d] % self.shape[d]

    def cell(self, codes: Mapping[str, str]) -> int:
        """The number of one cell; a dimension left out stands at its total."""
        return sum(
            dimension.index[codes.get(dimension.name, dimension.total)] * stride
            for dimension, stride in zip(self.dimensions, self.stride, strict=True)
        )

    def codes(self, cell: int) -> dict[str, str]:
        return {
            dimension.name: dimension.codes[cell // stride % len(dimension.codes)]
            for dimension, stride in zip(self.dimensions, self.stride, strict=True)
        }

    def label(self, cell: int) -> str:
        """`nace = C (Manufacturing), nuts = DE1`, the way messages name a cell: on one line, whatever the codes are."""
        codes = zip(self.dimensions, self.codes(int(cell)).values(), strict=True)
        return visible(", ".join(f"{dimension.name} = {dimension.named(code)}" for dimension, code in codes))

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Cells whose every code is a leaf: what records fall into."""
        leaf = np.ones((), dtype=bool)
        for composition in self.compositions:
            leaf = np.logical_and.outer(leaf, composition.is_leaf)
        return leaf.ravel()


def lattice(
    dimensions: Sequence[DimensionCodes], *, limit: int = CELL_LIMIT, place: Place | None = None
) -> tuple[Lattice | None, list[Diagnostic]]:
    """The cells of a table, unless there are too many of them or two trees of a dimension contradict each other."""
    made = Lattice(tuple(dimensions), tuple(compose(d) for d in dimensions))
    found: list[Diagnostic] = []
    if made.size > limit:
        sizes = " × ".join(f"{n} ({d.name})" for n, d in zip(made.shape, made.dimensions, strict=True))
        found.append(
            diagnostic(
                "SDC327",
                f"the table would have {made.size:,} cells, the limit is {limit:,}",
                place,
                notes=[f"codes: {sizes}", "every combination of codes is a cell, also those without records"],
                help="split the table, or leave out the deepest levels of a hierarchy",
            )
        )
    for composition in made.compositions:
        found += _contradictions(composition, place)
    return (None if found else made), found


def _contradictions(composition: Composition, place: Place | None) -> list[Diagnostic]:
    codes = composition.dimension.codes
    name = composition.dimension.name
    found = []
    for row in np.flatnonzero(~composition.agrees):
        parent = int(composition.parent[row])
        other = composition.expanded(int(row))
        odd = [codes[leaf] for leaf in composition.leaves_of[parent].keys() ^ other.keys()]
        differ = f"only one of them contains {listed(sorted(odd))}" if odd else "the signs of their leaves differ"
        found.append(
            diagnostic(
                "SDC312",
                f"two trees of dimension {name} disagree about what {codes[parent]} contains",
                place,
                notes=[differ],
            )
        )
    double = [codes[i] for i in np.flatnonzero(composition.overlapping)]
    if double:
        headline = f"a code of dimension {name} counts some of its leaves twice: {listed(double)}"
        found.append(diagnostic("SDC312", headline, place))
    return found
