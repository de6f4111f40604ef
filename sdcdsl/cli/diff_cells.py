"""What `diff --cells` is told and prints: the effect of a change of policy, cell by cell.

Levels, costs and values follow from contributions: amounts, and the order they would give, are shown only to those who
ask for them (`--show-values`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.cli.audit_rows import tidy
from sdcdsl.cli.audit_text import count, plural
from sdcdsl.cli.data_options import DataOptions
from sdcdsl.diagnostics.confidential import LEFT_OUT, shows_values
from sdcdsl.outcome import Outcome
from sdcdsl.pipeline.cell_changes import AttackerChange, BlockChange, CellList, ChangedCell, ProtectionChange
from sdcdsl.pipeline.request import Inputs
from sdcdsl.policy.resolve import Policy

SHOWN = 5  # cells of a list, unless all are required
TITLES = {
    "only_old": "only in the old",
    "only_new": "only in the new",
    "newly_sensitive": "newly sensitive",
    "no_longer_sensitive": "no longer sensitive",
    "newly_protected_sums": "newly protected sums",
    "no_longer_protected_sums": "sums no longer protected",
    "newly_fixed": "newly published by a statement",
    "no_longer_fixed": "no longer published by a statement",
    "newly_suppressed": "newly hidden by a statement",
    "no_longer_suppressed": "no longer hidden by a statement",
}
_MEASURES = {"hidden": "hidden", "intervals": "intervals", "changed": "changed", "value_touched": "% of value touched"}
_OF_VALUES = ("value_touched",)


def inputs_of(old: tuple[Policy, Path], new: tuple[Policy, Path], given: DataOptions) -> tuple[Inputs, Inputs]:
    """`--data` holds for both policies where both know the name, and must be known to one of them."""
    return _inputs(*old, new[0], given), _inputs(*new, old[0], given)


def _inputs(policy: Policy, path: Path, other: Policy, given: DataOptions) -> Inputs:
    mine = tuple(one for one in given.instead if _knows(policy, one) or not _knows(other, one))
    return Inputs(**replace(given, instead=mine).inputs(policy, path))


def _knows(policy: Policy, given: str) -> bool:
    name = given.partition("=")[0].partition(".")[0]
    return any(name in policy.blocks[kind] for kind in ("data", "dimension", "table"))


# ---- for programs ----------------------------------------------------------------------------------


def document(changes: Sequence[BlockChange]) -> list[dict[str, Any]]:
    return [_block(one) for one in changes]


def _block(one: BlockChange) -> dict[str, Any]:
    return {
        "block": one.name,
        "in": "both" if one.old is not None and one.new is not None else "old" if one.old is not None else "new",
        "changed": one.changed,
        "cells_in_both": one.both,
        **{name: [_row(row) for row in _rows(found)] for name, found in one.lists.items()},
        "levels": [
            {
                "attacker": level.attacker,
                "level": level.level,
                "tighter": [_row(row) for row in _rows(level.tighter)],
                "looser": [_row(row) for row in _rows(level.looser)],
            }
            for level in one.levels
            if len(level.tighter) or len(level.looser)
        ],
        "attackers": [_attacker(who) for who in one.attackers if who.changed],
        "protection": None if one.protection is None else _protection(one.protection),
    }


def _row(row: ChangedCell) -> dict[str, Any]:
    amounts: dict[str, float | None] = {}
    if row.old is not None and row.new is not None:
        amounts = {"old": _amount(row.old), "new": _amount(row.new)}
    why = [{"statement": s.text, "at": s.at} for s in row.why]
    return {"cell": row.label, **amounts, **({"why": why} if why else {})}


def _attacker(who: AttackerChange) -> dict[str, Any]:
    return {
        "attacker": who.name,
        "old": who.old,
        "new": who.new,
        "knows_more": who.knows_more,
        "knows_less": who.knows_less,
        "own_parts_old": who.old_parts,
        "own_parts_new": who.new_parts,
    }


def _protection(made: ProtectionChange) -> dict[str, Any]:
    def run(outcome: Outcome) -> dict[str, Any]:
        result, measures = outcome.result, outcome.measures
        return {
            "method": outcome.method,
            "status": result.status,
            "verdict": outcome.verdict,
            "objective": _amount(result.objective) if result.objective is not None else None,
            "touched": len(outcome.touched),
            **{
                name: (_amount if name in _OF_VALUES else tidy)(float(getattr(measures, name)))
                for name in _MEASURES
                if measures is not None
            },
        }

    lists = (("newly_published", made.newly_published), ("no_longer_published", made.no_longer_published))
    labels = {name: None if found is None else [row.label for row in found.rows()] for name, found in lists}
    return {"old": run(made.old), "new": run(made.new), **labels}


def _amount(x: float) -> float | None:
    return tidy(x) if shows_values() else None


def _rows(found: CellList, most: int | None = None) -> Iterator[ChangedCell]:
    """The most changed first; in the order of the table where nobody is told how much they changed."""
    if found.old is None or found.new is None or shows_values():
        return found.rows(most)
    order = np.argsort(found.cells, kind="stable")
    why = found.why
    return replace(
        found, cells=found.cells[order], old=found.old[order], new=found.new[order], why=lambda at: why(int(order[at]))
    ).rows(most)


# ---- for people ------------------------------------------------------------------------------------


def text_of(changes: Sequence[BlockChange], everything: bool) -> str:
    most = None if everything else SHOWN
    return "\n".join("\n".join(_lines(one, most)) + "\n" for one in changes)


def _lines(one: BlockChange, most: int | None) -> Iterator[str]:
    if one.old is None or one.new is None:
        yield f"cells of {one.name}: only in the {'new' if one.old is None else 'old'} policy"
        return
    yield f"cells of {one.name}: {count(one.both)} in both"
    for name, title in TITLES.items():
        yield from _listed(title, one.lists[name], most)
    for level in one.levels:
        for word, found in (("tighter", level.tighter), ("looser", level.looser)):
            yield from _listed(f"{level.level} {word} against {level.attacker}", found, most)
    for who in one.attackers:
        if who.changed:
            yield f"  attacker {who.name}: {'; '.join(_knowing(who))}"
    for name, found in one.lists.items():
        if name not in TITLES:
            yield from _listed(f"{name} changed", found, most)
    if one.protection is not None:
        yield from _releases(one.protection, most)
    if not one.changed:
        yield "  nothing changes for any cell"


def _listed(title: str, found: CellList, most: int | None) -> Iterator[str]:
    if not len(found):
        return
    yield f"  {title}: {plural(len(found), 'sum' if 'sums' in title else 'cell')}"
    for row in _rows(found, most):
        yield f"    {row.label}{_amounts(row, secret=True)}"
        yield from (f"      {s.text}{f' ({s.at})' if s.at else ''}" for s in row.why)
    if most is not None and len(found) > most:
        yield f"    … and {count(len(found) - most)} more; --all lists them"


def _amounts(row: ChangedCell, secret: bool) -> str:
    if row.old is None or row.new is None:
        return ""
    if secret and not shows_values():
        return f": {LEFT_OUT} → {LEFT_OUT}"
    if row.old == row.new:
        return f": {row.new:.9g} as before"
    return f": {row.old:.9g} → {row.new:.9g} ({row.new - row.old:+.9g})"


def _knowing(who: AttackerChange) -> Iterator[str]:
    if who.old is None:
        yield "new"
    elif who.new is None:
        yield "no longer guarded against"
    elif who.old != who.new:
        yield f"stands for {count(who.old)} → {count(who.new)}"
    if who.knows_more:
        yield f"knows more about {plural(who.knows_more, 'cell')}"
    if who.knows_less:
        yield f"knows less about {plural(who.knows_less, 'cell')}"
    if who.old_parts != who.new_parts and who.old is not None and who.new is not None:
        yield f"own contributions known in {count(who.old_parts)} → {count(who.new_parts)} cells, all together"


def _releases(made: ProtectionChange, most: int | None) -> Iterator[str]:
    old, new = made.old, made.new
    verdicts = (f"{one.verdict or 'nothing found'} by {one.method}" for one in (old, new))
    yield f"  release: {' → '.join(dict.fromkeys(verdicts))}"
    if old.result.objective is not None and new.result.objective is not None:
        row = ChangedCell("    cost", old.result.objective, new.result.objective)
        yield f"{row.label}{_amounts(row, secret=True)}"
    for name, title in _MEASURES.items():
        if old.measures is None or new.measures is None:
            continue
        before, after = (round(float(getattr(one, name)), 2) for one in (old.measures, new.measures))
        row = ChangedCell(f"    {title}", before, after)
        if row.old != row.new:
            yield f"{row.label}{_amounts(row, secret=name in _OF_VALUES)}"
    if made.newly_published is None or made.no_longer_published is None:
        return
    yield from _listed("newly published in the release", made.newly_published, most)
    yield from _listed("no longer published as it is", made.no_longer_published, most)
    if not made.changed:
        yield "    the same cells are published"
