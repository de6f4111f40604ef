"""What protecting a policy would mean: the policy meets its data, everything is counted, nothing is solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.sizes import model_sizes
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.pipeline.bind import BoundBlocks, bind
from sdcdsl.pipeline.foresight import foresight
from sdcdsl.pipeline.request import Inputs
from sdcdsl.policy import document as d
from sdcdsl.policy.lint_sharing import apart
from sdcdsl.policy.meaning import released_files
from sdcdsl.policy.resolve import Policy


@dataclass(frozen=True, eq=False)
class PolicyPlan:
    policy: Policy
    bound: BoundBlocks

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        return self.bound.found

    def blocks(self) -> list[dict[str, Any]]:
        """The counts of every block, for documents and for text."""
        return [counted(self.policy, problem) for problem in self.bound.problems.values()]


def plan(inputs: Inputs) -> PolicyPlan:
    """Every protect block bound; what is wrong with a table is said once, however many blocks use it."""
    bound = bind(inputs, all_tables=True)
    found = dict.fromkeys([*bound.found, *apart(inputs.policy, inputs.day)])  # `protect` does not release them together
    return PolicyPlan(inputs.policy, BoundBlocks(bound.problems, tuple(found), bound.seconds))


def counted(policy: Policy, problem: TableProblem) -> dict[str, Any]:
    protect = policy.protects[problem.name]
    chain = protect.last(d.MethodChain)
    return {
        "name": problem.name,
        "counts": problem.summary(),
        "tables": [_table(table) for table in problem.tables],
        "marked": [
            {"by": m.what, "at": str(m.span) if m.span else None, "cells": m.cells, "only_here": m.only_here}
            for m in problem.marked
        ],
        "attackers": _attackers(problem),
        "merged_attackers": problem.merged_attackers,
        "cut_levels": problem.cut_pairs,
        "methods": [{"method": e.name, **model_sizes(e.name, problem)} for e in (chain.engines if chain else ())],
        "memory_bytes": int(problem.dataset.nbytes),
        "foreseen": _foreseen(problem, chain.engines[0].name if chain else None),
        "writes": [path for r in protect.all(d.Release) for path in released_files(r, protect.tables).values()],
    }


def _foreseen(problem: TableProblem, method: str | None) -> dict[str, float] | None:
    seen = foresight(problem, method)
    return None if seen is None else {"memory_bytes": seen.memory_bytes, "seconds": seen.seconds}


def _table(table: BoundTable) -> dict[str, Any]:
    lattice = table.lattice
    return {
        "name": table.name,
        "cells": table.size,
        "dimensions": {dim.name: len(dim.codes) for dim in lattice.dimensions} if lattice else {},
        "relations": len(table.relations.rhs),
        "from": str(table.place),
        "computed_totals": table.computed,
        "empty_cells": table.empty,
        "codes_without_records": _without_records(table),
        "rounded_totals": table.rounded,
    }


def _without_records(table: BoundTable) -> dict[str, list[str]]:
    """Codes of the hierarchies, that nobody in the data has: often another year's list."""
    lattice, count = table.lattice, table.quantities.get("count")
    if lattice is None or count is None or not count.any():
        return {}
    out: dict[str, list[str]] = {}
    for dimension, composition, stride in zip(lattice.dimensions, lattice.compositions, lattice.stride, strict=True):
        rest = lattice.cell({}) - dimension.index[dimension.total] * stride
        nobody = count[rest + stride * np.arange(len(dimension.codes))] == 0
        if codes := [
            code for code, none, leaf in zip(dimension.codes, nobody, composition.is_leaf, strict=True) if none and leaf
        ]:
            out[dimension.name] = codes
    return out


def _attackers(problem: TableProblem) -> dict[str, int]:
    """How many there are of each declared attacker; who stands for a class of contributors is none of them."""
    out: dict[str, int] = {}
    for label in problem.attackers:
        kind = label.split(" ", 1)[0]
        out[kind] = out.get(kind, 0) + 1
    if problem.families is not None:
        for label in problem.attackers:
            if out.get(label, 0) > 1:
                out[label] -= 1
    return out
