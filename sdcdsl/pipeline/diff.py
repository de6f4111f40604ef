"""Two policies on their data: the blocks of both are bound, if wanted also protected, and compared cell by cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.outcome import Outcome
from sdcdsl.pipeline.cell_changes import BlockChange, compare
from sdcdsl.pipeline.plan import plan
from sdcdsl.pipeline.protect import Preparing
from sdcdsl.pipeline.request import Inputs, writing_nothing


def changes(
    old: Inputs, new: Inputs, preparing: Preparing | None = None, **instead: Any
) -> tuple[list[BlockChange], list[Diagnostic]]:
    """What the change of policy means for every cell. `preparing`: both are protected as well, with `instead` for
    options of the policies, and the releases compared; nothing is written."""
    before, after = plan(old), plan(new)
    found = _once(before.found, after.found)
    if has_errors(found):
        return [], found
    runs: list[dict[str, Outcome]] = []
    for inputs in (old, new) if preparing is not None else ():
        assert preparing is not None
        prepared = preparing(writing_nothing(inputs, **instead))
        found = _once(found, prepared.diagnostics)
        if inputs.blocks and not prepared.outcomes:
            return [], found
        runs.append({one.name: one for one in prepared.outcomes if one.attempts})
    both = (runs[0], runs[1]) if runs else None
    return compare(dict(before.bound.problems), dict(after.bound.problems), both), found


def _once(*parts: Iterable[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(one for part in parts for one in part))
