"""The codes of a dimension as one table publishes them, and what becomes of all others.

Microdata are tabulated by the kept codes alone: each record is given the kept code that holds its own, so that a
contributor to two merged codes is one contributor, and rules judge the cells that are published. Tables that were made
elsewhere are read with all their codes, and only the cells of kept codes are taken over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl

from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.relations import relations
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean
from sdcdsl.policy.coarser import CodeParents, Groups, NotCoarser, coarser


@dataclass(frozen=True, eq=False)
class PublishedCodes:
    """One dimension in one table."""

    codes: DimensionCodes
    fine: DimensionCodes  # as the policy declares it
    whole: DimensionCodes | None  # all codes, merged ones below their new code; None: two have one name
    moves: Mapping[str, str]  # codes that are not published -> the published one that holds them


def unchanged(dimension: DimensionCodes) -> PublishedCodes:
    return PublishedCodes(dimension, dimension, dimension, {})


def published(
    dimension: DimensionCodes, level: int | None, groups: Groups, span: Span | None
) -> tuple[PublishedCodes | None, list[Diagnostic]]:
    first = dimension.trees[0]
    tree = _parents(first)
    try:
        made = coarser(tree, level, groups)
        _other_trees(dimension, made.moves)
    except NotCoarser as wrong:
        unknown = wrong.code is not None and wrong.code not in tree.parent
        near = did_you_mean(wrong.code or "", tree.parent) if unknown else ""
        headline = f"dimension `{dimension.name}` cannot be published like this: {wrong.why}"
        return None, [diagnostic("SDC152", headline, span, near, help=wrong.help)]
    codes = _dimension(dimension, made.kept)
    whole = None if made.whole is None else _dimension(dimension, made.whole)
    return PublishedCodes(codes, dimension, whole, made.moves), []


def _parents(tree: CodeTree) -> CodeParents:
    above = [tree.codes[p] if p >= 0 else None for p in tree.parent.tolist()]
    subtracted = frozenset(code for code, sign in zip(tree.codes, tree.sign.tolist(), strict=True) if sign < 0)
    return CodeParents(dict(zip(tree.codes, above, strict=True)), subtracted)


def _other_trees(dimension: DimensionCodes, moves: Mapping[str, str]) -> None:
    for tree in dimension.trees[1:]:
        gone = next((code for code in tree.codes if code in moves), None)
        if gone is not None:
            help = "declare a dimension without this tree for the table"
            raise NotCoarser(f"its tree `{tree.name}` adds up `{gone}`, which would not be published", gone, help)


def _dimension(dimension: DimensionCodes, tree: CodeParents) -> DimensionCodes:
    order = {code: i for i, code in enumerate(tree.parent)}
    first = replace(
        dimension.trees[0],
        codes=tuple(order),
        parent=np.array([-1 if above is None else order[above] for above in tree.parent.values()], dtype=np.int32),
        sign=np.array([-1 if code in tree.subtracted else 1 for code in order], dtype=np.int8),
    )
    trees = (first, *dimension.trees[1:])
    return replace(dimension, codes=tuple(dict.fromkeys(c for t in trees for c in t.codes)), trees=trees)


# ---- records and cells ---------------------------------------------------------------------------------------


def moved(frame: pl.LazyFrame, columns: Sequence[str], chosen: Sequence[PublishedCodes]) -> pl.LazyFrame:
    """Records with published codes. A code that sums up others and stays is refused later, like any other total."""
    changes = [
        pl.col(column).replace(list(one.moves), list(one.moves.values()))
        for column, one in zip(columns, chosen, strict=True)
        if one.moves
    ]
    return frame.with_columns(changes) if changes else frame


def projected(table: BoundTable, cells: Lattice) -> BoundTable:
    """The table with the cells of published codes alone."""
    assert table.lattice is not None
    at = np.zeros(1, dtype=np.int64)
    for fine, coarse, stride in zip(table.lattice.dimensions, cells.dimensions, table.lattice.stride, strict=True):
        places = np.array([fine.index[code] for code in coarse.codes], dtype=np.int64)
        at = np.add.outer(at, places * stride).ravel()
    judged = table.judged
    if judged is not None:
        arrays = {f.name: getattr(judged, f.name) for f in fields(judged)}
        judged = replace(judged, **{k: v[at] for k, v in arrays.items() if isinstance(v, np.ndarray)})
    return replace(
        table,
        lattice=cells,
        relations=relations(cells),
        value=table.value[at],
        quantities={name: numbers[at] for name, numbers in table.quantities.items()},
        judged=judged,
        status=None if table.status is None else table.status[at],
        cell_keys=None if table.cell_keys is None else table.cell_keys[at],
    )


# ---- one code, one meaning -----------------------------------------------------------------------------------


def ambiguous(
    dimension: DimensionCodes, table: str, groups: Groups, others: Mapping[str, Groups], span: Span | None
) -> list[Diagnostic]:
    """A new code that other tables use for something else: conditions and linked tables know codes by their text."""
    for code, parts in groups:
        own = frozenset(parts)
        if own == {code}:
            continue
        for other, theirs in others.items():
            said = {name: frozenset(held) for name, held in theirs}
            gone = {part for _, held in theirs for part in held}
            there = said.get(code, frozenset({code}) if code in dimension.index and code not in gone else None)
            if there is not None and there != own:
                headline = (
                    f"code `{code}` of dimension `{dimension.name}` is not the same in tables `{table}` and `{other}`"
                )
                help = "give the merged codes a code that means nothing else"
                return [diagnostic("SDC152", headline, span, help=help)]
    return []
