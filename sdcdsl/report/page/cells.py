"""A table as the page browses it: columns of figures in the order of its cells, codes once, nothing that repeats.

The public form is a function of what is released and of nothing else: it says what the released file says, cell by
cell. What nobody may know (true values, who is sensitive, which figures of an adjusted table are unchanged) is added to
the internal form only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.table import BoundTable
from sdcdsl.outcome import Outcome
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.released.printing import as_printed
from sdcdsl.released.rows import cells_by_table
from sdcdsl.report.page.figures import column, decimals_of

MOST_CELLS = 1_000_000  # of a table; a page with more would not open everywhere
ADJUSTED = "a"  # changed or not: nobody is told


@dataclass(eq=False)
class PageDimensions:
    """The dimensions of all tables of a page, each written once."""

    languages: tuple[str, ...] = ()  # of labels; none: the one that is declared first
    found: list[DimensionCodes] = field(default_factory=list)

    def number(self, dimension: DimensionCodes) -> int:
        same = (i for i, other in enumerate(self.found) if other is dimension or _same(other, dimension))
        at = next(same, None)
        if at is None:
            self.found.append(dimension)
            return len(self.found) - 1
        return at

    def data(self) -> list[dict[str, Any]]:
        return [
            {"name": one.name, "codes": list(one.codes), "trees": list(_trees(one)), **self._labels(one)}
            for one in self.found
        ]

    def _labels(self, dimension: DimensionCodes) -> dict[str, Any]:
        """What each code is called, in all languages asked for; nothing where the dimension has no labels."""
        spoken = [words for one in self.languages or (None,) if (words := dimension.language(one))]
        said = [" · ".join(dict.fromkeys(words[code] for words in spoken if code in words)) for code in dimension.codes]
        return {"labels": said} if any(said) else {}


def _same(one: DimensionCodes, other: DimensionCodes) -> bool:
    return one.name == other.name and one.codes == other.codes and list(_trees(one)) == list(_trees(other))


def _trees(dimension: DimensionCodes) -> Iterator[dict[str, Any]]:
    """Nodes in preorder; a code may stand in several trees."""
    for tree in dimension.trees:
        codes = [dimension.index[code] for code in tree.codes]
        yield {"name": tree.name, "code": codes, "parent": tree.parent.tolist()}


def tables_of(outcome: Outcome, policy: Policy, dimensions: PageDimensions, *, public: bool) -> list[dict[str, Any]]:
    """All tables of a block; none where nothing was found."""
    pattern = outcome.pattern
    if pattern is None:
        return []
    places = cells_by_table(outcome.problem)
    pattern = as_printed(outcome.problem, pattern)
    return [
        _table(outcome.problem, pattern, table, places[table.name], policy, dimensions, public)
        for table in outcome.problem.tables
    ]


def _table(
    problem: TableProblem,
    pattern: Pattern,
    table: BoundTable,
    cells: np.ndarray,
    policy: Policy,
    dimensions: PageDimensions,
    public: bool,
) -> dict[str, Any]:
    out: dict[str, Any] = {"name": table.name, "unit": _unit(policy, table.name), "size": len(cells)}
    if len(cells) > MOST_CELLS:
        return {**out, "toolarge": True}
    if table.lattice is not None:
        out["dims"] = [dimensions.number(one) for one in table.lattice.dimensions]
    else:
        assert table.given is not None
        out["numbers"] = table.given.index.tolist()
    value, low, high, status = figures_of(problem, pattern, cells)
    out |= {"status": "".join(status.tolist()), "value": column(value), "low": _some(low), "high": _some(high)}
    out |= {"decimals": decimals_of(value), "enddecimals": decimals_of(np.concatenate([low, high]))}
    if not public:
        out |= _internal(problem, pattern, cells)
    return out


def figures_of(
    problem: TableProblem, pattern: Pattern, cells: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Value, low, high and status as a released file has them, of a pattern as it is printed; nan: nothing."""
    value, low, high, status = (x[cells] for x in (pattern.value, pattern.low, pattern.high, pattern.status))
    unsaid = np.isneginf(low) & np.isposinf(high) & ((status != CHANGED) | (not pattern.claims))
    bare = unsaid | ((low == high) & (low == value) & (status == EXACT) & pattern.claims)
    if not pattern.claims:
        kept = problem.dataset["status"].values[cells] == "z"
        status = np.where(status == HIDDEN, HIDDEN, np.where(kept, EXACT, ADJUSTED))
    return value, np.where(bare, np.nan, low), np.where(bare, np.nan, high), status


def _internal(problem: TableProblem, pattern: Pattern, cells: np.ndarray) -> dict[str, Any]:
    data = problem.dataset
    a, status = data["a"].values[cells], pattern.status[cells]
    at = np.flatnonzero(status != EXACT)
    position = np.full(problem.n, -1, dtype=np.int64)
    position[cells] = np.arange(len(cells))
    marks = [[i, _inside(position, marked.at)] for i, marked in enumerate(problem.marked)]
    return {
        "status": "".join(status.tolist()),
        "true": {"at": at.tolist(), "v": column(a[at])},
        "truedecimals": decimals_of(a),
        "sensitive": np.flatnonzero(data["status"].values[cells] == "u").tolist(),
        "marks": [[i, at] for i, at in marks if at],
    }


def _inside(position: np.ndarray, cells: np.ndarray) -> list[int]:
    found = position[cells]
    return found[found >= 0].tolist()


def _some(values: np.ndarray) -> dict[str, Any]:
    """Few cells have ends: where, and what. An end that is open is None."""
    at = np.flatnonzero(~np.isnan(values))
    return {"at": at.tolist(), "v": column(values[at])}


def _unit(policy: Policy, table: str) -> str:
    block = policy.tables.get(table)
    said = block.last(d.UnitOf) if block is not None else None
    return said.text if said is not None else ""
