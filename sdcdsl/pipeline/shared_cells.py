"""Blocks that publish the same figures. Each is searched and audited alone, so that they are never released together:
the tables of one measure belong into one block, whose cells and requirements are one problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.linking import NamedTable, link
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.policy.lint_sharing import SharedFigures, advice, sharing
from sdcdsl.policy.resolve import Policy


def refused_together(request: ProtectRequest) -> list[Diagnostic]:
    """Blocks of one run that would publish the same figures."""
    return [_refusal(shared) for shared in sharing(request.policy, _blocks(request))]


def _refusal(shared: SharedFigures) -> Diagnostic:
    alone = f"--block {shared.protect.name} releases one of them; readers must never see the other"
    found = diagnostic(
        "SDC514",
        f"{shared.headline}: what one of them hides may stand in the other",
        shared.protect.heading,
        shared.what,
        notes=["each block is protected and audited alone, so that nothing is searched and nothing released"],
        help=alone if shared.old == shared.new else f"one block protects both: {shared.together}",
    )
    return found.mark(shared.before.heading, "also released by this run")


def published_elsewhere(request: ProtectRequest) -> list[Diagnostic]:
    """What a run of one block cannot see: the figures of another block, which may be published as well."""
    if request.block is None:
        return []
    mine = request.policy.protects[request.block]
    others = [p for p in request.policy.protects.values() if p is not mine]
    found = (next(sharing(request.policy, [other, mine]), None) for other in others)
    return [advice(shared) for shared in found if shared is not None]


def _blocks(request: ProtectRequest) -> list[d.Block]:
    return [request.policy.protects[name] for name in request.blocks]


# ---- what would be released, whatever the policy says of it -----------------------------------------


@dataclass(frozen=True, eq=False)
class BlockRelease:
    """What one block says of its cells."""

    name: str
    problem: TableProblem
    pattern: Pattern


def contradicting(policy: Policy, said: Sequence[BlockRelease]) -> list[Diagnostic]:
    """Cells of which two blocks publish different things: the one that says less is then no protection."""
    out: list[Diagnostic] = []
    for at, one in enumerate(said):
        for other in said[:at]:
            mine, theirs = _common(one.problem, other.problem)
            differ = ~_alike(one.pattern, mine, other.pattern, theirs)
            if differ.any():
                out.append(_contradiction(policy, other, one, mine[differ]))
    return out


def _contradiction(policy: Policy, before: BlockRelease, one: BlockRelease, at: np.ndarray) -> Diagnostic:
    headline = f"`{one.name}` and `{before.name}` publish different things about {cells(at)}"
    found = diagnostic(
        "SDC515",
        headline,
        policy.protects[one.name].heading,
        notes=[first_cells(at, one.problem.label), "readers have both, and take the one that says more"],
        help="protect the tables in one block",
    )
    return found.mark(policy.protects[before.name].heading, "the other release")


def _common(one: TableProblem, other: TableProblem) -> tuple[np.ndarray, np.ndarray]:
    """Cells of each problem that mean the same, side by side."""
    tables = [(problem, *named) for problem in (one, other) for named in _tables(problem)]
    linked = link([NamedTable(table.name, table.measure, lattice) for _, _, table, lattice in tables])
    first = np.full(linked.cells, -1, dtype=np.int64)
    second = first.copy()
    for (problem, view, _, _), shared in zip(tables, linked.maps, strict=True):
        (first if problem is one else second)[shared] = view.cells
    both = np.flatnonzero((first >= 0) & (second >= 0))
    return first[both], second[both]


def _tables(problem: TableProblem) -> Iterator[tuple[View, BoundTable, Lattice]]:
    """Tables whose cells have names; those of JJ files have numbers only."""
    for view, table in zip(problem.views, problem.tables, strict=False):
        if table.lattice is not None:
            yield view, table, table.lattice


def _alike(one: Pattern, mine: np.ndarray, other: Pattern, theirs: np.ndarray) -> np.ndarray:
    """Exact in both, or the same figure and the same interval in both."""
    exact = (one.status[mine] == EXACT) & (other.status[theirs] == EXACT)
    value = (one.value[mine] == other.value[theirs]) | (np.isnan(one.value[mine]) & np.isnan(other.value[theirs]))
    box = (one.low[mine] == other.low[theirs]) & (one.high[mine] == other.high[theirs])
    return exact | (value & box & (one.status[mine] == other.status[theirs]))
