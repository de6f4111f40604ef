"""What a plan says, as a document and as text."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.sizes import model_sizes
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.policy import document as d
from sdcdsl.policy.lint_sharing import apart
from sdcdsl.policy.meaning import released_files
from sdcdsl.policy.resolve import Policy
from sdcdsl.report.journal import settle_around

MOST = 8  # codes without records that are named

Blocks = dict[str, TableProblem]


def bind_all(
    policy: Policy, folder: Path, instead: dict[str, Path], today: datetime.date, allow_outside: bool
) -> tuple[Blocks, list[Diagnostic]]:
    """Every protect block bound; what is wrong with a table is said once, however many blocks use it."""
    interrupted = settle_around([folder / "any"])
    if has_errors(interrupted):
        return {}, interrupted
    binding = Binding(policy, FileLocations(folder, instead, allow_outside), today)
    out: Blocks = {}
    found: list[Diagnostic] = []
    for name, protect in policy.protects.items():
        problem, problems = bind_protect(binding, protect)
        found += [p for p in problems if p not in found]
        if problem is not None:
            out[name] = problem
    for name in policy.tables:  # also tables that nothing protects: their data may be wrong too
        binding.table(name)
    found += unknown_codes(policy, binding.dimensions)
    found += apart(policy, today)  # `protect` refuses to release them in one run
    # What is wrong with records is wrong in every table they feed: once is enough.
    return out, list(dict.fromkeys([*interrupted, *binding.diagnostics, *found]))


def as_document(policy: Policy, blocks: Blocks, found: Iterable[Diagnostic]) -> dict[str, Any]:
    diagnostics = list(found)
    return {
        "title": policy.title,
        "blocks": [_block(policy, problem) for problem in blocks.values()],
        "diagnostics": [as_json(x) for x in diagnostics],
        "exit": 3 if has_errors(diagnostics) else 0,
    }


def _without_records(table: BoundTable) -> dict[str, list[str]]:
    """Codes of the hierarchies, that nobody in the data has: often another year's list."""
    lattice, count = table.lattice, table.quantities.get("count")
    if lattice is None or count is None or not count.any():
        return {}
    out = {}
    for dimension, composition, stride in zip(lattice.dimensions, lattice.compositions, lattice.stride, strict=True):
        rest = lattice.cell({}) - dimension.index[dimension.total] * stride
        nobody = count[rest + stride * np.arange(len(dimension.codes))] == 0
        if codes := [
            code for code, none, leaf in zip(dimension.codes, nobody, composition.is_leaf, strict=True) if none and leaf
        ]:
            out[dimension.name] = codes
    return out


def _block(policy: Policy, problem: TableProblem) -> dict[str, Any]:
    protect = policy.protects[problem.name]
    chain = protect.last(d.MethodChain)
    return {
        "name": problem.name,
        "counts": problem.summary(),
        "tables": [
            {
                "name": t.name,
                "cells": t.size,
                "dimensions": {dim.name: len(dim.codes) for dim in t.lattice.dimensions} if t.lattice else {},
                "relations": len(t.relations.rhs),
                "from": str(t.place),
                "computed_totals": t.computed,
                "empty_cells": t.empty,
                "codes_without_records": _without_records(t),
                "rounded_totals": t.rounded,
            }
            for t in problem.tables
        ],
        "marked": [
            {"by": m.what, "at": str(m.span) if m.span else None, "cells": m.cells, "only_here": m.only_here}
            for m in problem.marked
        ],
        "attackers": _attackers(problem),
        "merged_attackers": problem.merged_attackers,
        "cut_levels": problem.cut_pairs,
        "methods": [{"method": e.name, **model_sizes(e.name, problem)} for e in (chain.engines if chain else ())],
        "memory_bytes": memory(problem),
        "writes": [path for r in protect.all(d.Release) for path in released_files(r, protect.tables).values()],
    }


def _attackers(problem: TableProblem) -> dict[str, int]:
    out: dict[str, int] = {}
    for label in problem.attackers:
        kind = label.split(" ", 1)[0]
        out[kind] = out.get(kind, 0) + 1
    return out


def memory(problem: TableProblem) -> int:
    return int(problem.dataset.nbytes)


def as_text(policy: Policy, blocks: Blocks) -> str:
    lines: list[str] = []
    if policy.title:
        lines += [policy.title, ""]
    for problem in blocks.values():
        lines += _text(_block(policy, problem))
    if not blocks:
        lines.append("the policy protects nothing: no protect block")
    return "\n".join(lines).rstrip() + "\n"


def _text(block: dict[str, Any]) -> list[str]:
    counts = block["counts"]
    unions = f" and {_n(counts['unions'])} union{'s' * (counts['unions'] > 1)}" if counts["unions"] else ""
    lines = [f"protect {block['name']}", f"  cells       {_n(counts['cells'])}{unions}"]
    for t in block["tables"]:
        sides = " × ".join(f"{name} {n}" for name, n in t["dimensions"].items()) or "numbered cells"
        notes = [
            f"{_n(t[key])} {words}"
            for key, words in (
                ("computed_totals", "totals computed"),
                ("empty_cells", "empty cells"),
                ("rounded_totals", "totals off by rounding"),
            )
            if t[key]
        ]
        lines.append(f"              {t['name']}: {_n(t['cells'])} ({sides}){'; ' + ', '.join(notes) if notes else ''}")
        lines.append(f"              from {t['from']}")
        lines += [
            f"              without records: {name} {', '.join(codes[:MOST])}"
            + (f" and {_n(len(codes) - MOST)} more" if len(codes) > MOST else "")
            for name, codes in t["codes_without_records"].items()
        ]
    lines.append(f"  relations   {_n(counts['relations'])} with {_n(counts['entries'])} entries")
    lines.append(
        f"  sensitive   {_n(counts['sensitive'])} {'cell' if counts['sensitive'] == 1 else 'cells'}"
        + (f"; {_n(counts['fixed'])} fixed" if counts["fixed"] else "")
        + (f"; {_n(counts['hidden'])} already hidden" if counts["hidden"] else "")
    )
    for m in block["marked"]:
        per_table = ", ".join(f"{t} {_n(n)}" for t, n in m["cells"].items())
        lines.append(f"              {m['by']}")
        lines.append(f"                {per_table}; {_n(m['only_here'])} by this alone")
    kinds = ", ".join(f"{name} {_n(n)}" if n > 1 else name for name, n in block["attackers"].items())
    merged = f" ({_n(block['merged_attackers'])} more are covered by these)" if block["merged_attackers"] else ""
    lines.append(f"  attackers   {kinds}{merged}")
    lines.append(f"  pairs       {_n(counts['pairs'])} of attacker and sensitive cell")
    if "listed_pairs" in counts:
        lines.append(
            f"              {_n(counts['listed_pairs'])} in the list; others when a release leaves them too little"
        )
        lines.append("              fewer: `each unit where contribution >= 5% of value` in the attacker")
    for m in block["methods"]:
        lines.append(f"  method      {m['method']}: {m['about']}")
    lines.append(f"  memory      {_size(block['memory_bytes'])} for the problem itself")
    lines.append(f"  writes      {', '.join(block['writes']) or 'nothing'}")
    return [*lines, ""]


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _n(number: int) -> str:
    return f"{number:,}".replace(",", " ")
