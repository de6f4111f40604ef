"""The ends of all intervals, each proved from both sides.

Engines measure in the slack that cells have. Where a cell can move by a billion and another one's interval ends after
10, the 10 is lost among rounding errors. What is not proved at first is therefore asked again in a smaller box, in
which no cell goes further than `ROOM` times as far as the end that is looked for: the move to an end hardly ever needs
more, and if it does, the proof fails and nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sdcdsl.attack.engine_choice import Engines
from sdcdsl.audit.attacking import ALIKE, Attack, Progress, attack
from sdcdsl.audit.proving import Proofs
from sdcdsl.audit.tuning import TUNING
from sdcdsl.executing import Team

ROOM = 1e3


def prove_ends(
    proofs: Proofs, free: np.ndarray, engine: str | None, engines: Engines, team: Team, progress: Progress | None
) -> list[str]:
    """Enters what is found about the ends of the pairs in `free`, a mask; what solvers said instead of an answer."""
    options: dict[str, Any] = {"exact": True, "prove_ends": True, "team": team}
    first = {**options, "engine": engine, "engines": engines, "progress": progress}
    failures = _again(proofs, ~proofs.exact & free, first)
    # Where the relations alone determine a cell, a smaller box gives no better reason.
    free = free & ~proofs.fixed
    for size in (proofs.most, proofs.least):
        for sides, far in _alike(~proofs.exact & free, size):
            failures += _again(proofs, sides & ~proofs.exact, {**options, "engine": engine, "within": ROOM * far})
    if engine is None and 0 < (~proofs.exact & free).sum() <= TUNING.most_ends:
        for sides, far in _alike(~proofs.exact & free, proofs.most):
            failures += _again(proofs, sides, {**options, "engine": "highs", "within": ROOM * far})
    return failures


def _again(proofs: Proofs, sides: np.ndarray, options: dict[str, Any]) -> list[str]:
    failures: list[str] = []
    for made in _attacks(proofs, sides, options):
        proofs.note(made)
        failures += made.findings.failures
    return failures


def _attacks(proofs: Proofs, sides: np.ndarray, options: dict[str, Any]) -> Iterator[Attack]:
    if not sides.any():
        return
    nowhere = np.zeros_like(proofs.problem.regions.low, dtype=bool)
    settled = np.where(sides, np.nan, np.maximum(proofs.least, np.where(proofs.exact, proofs.most, 0.0)))
    yield from attack(proofs.problem, np.flatnonzero(sides.any(axis=0)), nowhere, settled=settled, **options)


def _alike(sides: np.ndarray, size: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """The sides by how far they may go, those of one size together, with the furthest; without those nobody knows
    anything about."""
    side, pair = np.nonzero(sides & (size > 0) & np.isfinite(size))
    order = np.argsort(size[side, pair], kind="stable")
    out: list[tuple[np.ndarray, float]] = []
    start = 0
    for at in range(1, len(order) + 1):
        far = float(size[side[order[at - 1]], pair[order[at - 1]]])
        if (
            at == len(order)
            or size[side[order[at]], pair[order[at]]] > ALIKE * size[side[order[start]], pair[order[start]]]
        ):
            mine = np.zeros_like(sides)
            mine[side[order[start:at]], pair[order[start:at]]] = True
            out.append((mine, far))
            start = at
    return out
