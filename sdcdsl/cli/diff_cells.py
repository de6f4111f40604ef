"""What `diff --cells` does and prints: the effect of a change of policy, cell by cell.

Levels, costs and values follow from contributions: amounts, and the order they would give, are shown only to those who
ask for them (`--show-values`).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.cli.audit_rows import tidy
from sdcdsl.cli.audit_text import count, plural
from sdcdsl.cli.explain_cell import unwritten
from sdcdsl.cli.given import named_files
from sdcdsl.cli.planning import bind_all
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.diagnostics.confidential import LEFT_OUT, shows_values
from sdcdsl.outcome import Outcome
from sdcdsl.pipeline.cell_changes import AttackerChange, BlockChange, Cells, ProtectionChange, Row, compare
from sdcdsl.policy.resolve import Policy

SHOWN = 5  # cells of a list, unless all are asked for
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


@dataclass(frozen=True)
class Side:
    """One of the two policies, and where it came from."""

    policy: Policy
    path: Path


@dataclass(frozen=True)
class Asked:
    old: Side
    new: Side
    instead: tuple[str, ...]
    day: datetime.date
    allow_outside: bool
    protect: bool
    limits: Mapping[str, Any]


def changes_of(asked: Asked) -> tuple[list[BlockChange], list[Diagnostic]]:
    """The blocks of both policies, bound and compared; with `protect` also run."""
    found: list[Diagnostic] = []
    bound: list[dict[str, TableProblem]] = []
    files = _files(asked)
    for side, instead in zip((asked.old, asked.new), files, strict=True):
        blocks, problems = bind_all(side.policy, side.path.parent, instead, asked.day, asked.allow_outside)
        found += [p for p in problems if p not in found]
        bound.append(blocks)
    if has_errors(found):
        return [], found
    runs: list[dict[str, Outcome]] = []
    if asked.protect:
        for side, instead in zip((asked.old, asked.new), files, strict=True):
            outcomes, problems, wrong = _protected(side, instead, asked)
            found += [p for p in problems if p not in found]
            runs.append(outcomes)
            if wrong:
                return [], found
    return compare(bound[0], bound[1], (runs[0], runs[1]) if runs else None), found


def _files(asked: Asked) -> list[dict[str, Path]]:
    """`--data` holds for both policies where both know the name, and must be known to one of them."""
    out = []
    for side, other in ((asked.old, asked.new), (asked.new, asked.old)):
        mine = tuple(g for g in asked.instead if _knows(side.policy, g) or not _knows(other.policy, g))
        out.append(named_files(mine, side.policy))
    return out


def _knows(policy: Policy, given: str) -> bool:
    name = given.partition("=")[0].partition(".")[0]
    return any(name in policy.blocks[kind] for kind in ("data", "dimension", "table"))


def _protected(side: Side, instead: dict[str, Path], asked: Asked) -> tuple[dict[str, Outcome], list[Diagnostic], bool]:
    from sdcdsl.cli.protect_display import display  # noqa: PLC0415
    from sdcdsl.cli.protect_watching import Watching  # noqa: PLC0415
    from sdcdsl.pipeline.protect import prepare  # noqa: PLC0415
    from sdcdsl.pipeline.request import Request  # noqa: PLC0415

    blocks = {name: unwritten(block) for name, block in side.policy.protects.items()}
    request = Request(
        policy=replace(side.policy, blocks={**side.policy.blocks, "protect": blocks}),
        source=side.path,
        places=RecordedLocations(side.path.parent, instead, asked.allow_outside),
        day=asked.day,
        folder=side.path.parent,
        instead=asked.limits,
    )
    watching = Watching(display("auto", False))
    with watching:
        prepared = watching.run(lambda: prepare(request, watching))
    outcomes = {one.name: one for one in prepared.outcomes if one.attempts}
    return outcomes, prepared.diagnostics, not prepared.outcomes and bool(blocks)


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


def _row(row: Row) -> dict[str, Any]:
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
    told = {name: None if found is None else [row.label for row in found.rows()] for name, found in lists}
    return {"old": run(made.old), "new": run(made.new), **told}


def _amount(x: float) -> float | None:
    return tidy(x) if shows_values() else None


def _rows(found: Cells, most: int | None = None) -> Iterator[Row]:
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


def _listed(title: str, found: Cells, most: int | None) -> Iterator[str]:
    if not len(found):
        return
    yield f"  {title}: {plural(len(found), 'sum' if 'sums' in title else 'cell')}"
    for row in _rows(found, most):
        yield f"    {row.label}{_amounts(row, secret=True)}"
        yield from (f"      {s.text}{f' ({s.at})' if s.at else ''}" for s in row.why)
    if most is not None and len(found) > most:
        yield f"    … and {count(len(found) - most)} more; --all lists them"


def _amounts(row: Row, secret: bool) -> str:
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
        row = Row("    cost", old.result.objective, new.result.objective)
        yield f"{row.label}{_amounts(row, secret=True)}"
    for name, title in _MEASURES.items():
        if old.measures is None or new.measures is None:
            continue
        before, after = (round(float(getattr(one, name)), 2) for one in (old.measures, new.measures))
        row = Row(f"    {title}", before, after)
        if row.old != row.new:
            yield f"{row.label}{_amounts(row, secret=name in _OF_VALUES)}"
    if made.newly_published is None or made.no_longer_published is None:
        return
    yield from _listed("newly published in the release", made.newly_published, most)
    yield from _listed("no longer published as it is", made.no_longer_published, most)
    if not made.changed:
        yield "    the same cells are published"
