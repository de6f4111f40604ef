"""A table typed into the policy. Totals that are left out are computed; a missing inner cell is a mistake."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.additivity import check_additivity, fill_totals
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.relations import relations
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace
from sdcdsl.policy import document as d
from sdcdsl.policy.checks.inline import read_inline
from sdcdsl.policy.measure import measure_of
from sdcdsl.policy.resolve import Policy


def from_inline(
    policy: Policy, block: d.Block, values: d.Values, cells: Lattice
) -> tuple[BoundTable | None, list[Diagnostic]]:
    names = tuple(dimension.name for dimension in cells.dimensions)
    place = values.span or FilePlace(f"table {block.name}")
    typed, found = read_inline(policy, values, names)
    if typed is None or found:
        return None, found
    a = np.full(cells.size, np.nan)
    for address, cell in typed.items():
        codes = dict(zip(names, address, strict=True))
        if all(code in dimension.index for dimension, code in zip(cells.dimensions, address, strict=True)):
            a[cells.cell(codes)] = cell.value
    made = relations(cells)
    filled, missing = fill_totals(a, made, cells.label, place=place)
    if missing:
        return None, missing
    wrong = check_additivity(filled.a, made, cells.label, place=place)
    table = BoundTable(
        name=block.name,
        measure=measure_of(block),
        place=place,
        relations=made,
        value=filled.a,
        lattice=cells,
        whole=bool(block.all(d.Integer)),
        integer=bool(block.all(d.Integer)) or bool(np.all(filled.a == np.round(filled.a))),
        computed=int(filled.filled.sum()),
    )
    return table, wrong
