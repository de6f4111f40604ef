"""The audit: every attacker against every sensitive cell, with fresh sessions, whatever made the release.

It sees the table problem and the pattern, nothing else. A pair is *protected* when witness tables, re-checked by
arithmetic alone, show the attacker far enough below and above the truth; *exposed* when multipliers, re-checked the
same way, show that no table is far enough; *not proven* when neither was found, which is never taken for protected.

A release of changed values about which nothing is published has no attacker region: then the audit checks what such a
table promises (`distance`) and says that nothing was attacked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdcdsl.attack.engine_choice import Engines
from sdcdsl.audit.attacking import NEAR, Progress, attack, of_one_size
from sdcdsl.audit.distance import Distance, distance
from sdcdsl.audit.ends import prove_ends
from sdcdsl.audit.families import serve, serve_the_rest
from sdcdsl.audit.hints import take_hints
from sdcdsl.audit.intervals import EXACT as EXACT_END
from sdcdsl.audit.intervals import Intervals
from sdcdsl.audit.problem import stated
from sdcdsl.audit.proving import Proofs
from sdcdsl.audit.tuning import TUNING
from sdcdsl.bind.problem import TableProblem
from sdcdsl.executing import SERIAL, Team
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.proof.system import ProofPairs, ProofProblem
from sdcdsl.proof.witness import MoveMatrix

WORDS = {"p": "protected", "e": "exposed", "n": "not proven"}
NOT_EXCLUDED = "not excluded"  # every pair is protected from certainty, and not from what is likely


@dataclass(frozen=True, eq=False)
class Audit:
    problem: TableProblem
    pattern: Pattern
    proofs: Proofs
    exact_required: bool  # the ends of intervals were required, not only verdicts
    integer: bool
    revealed: np.ndarray  # hidden cells nobody marked, which attackers of the first view compute exactly
    revealed_by: np.ndarray  # int: the view that does
    pinned: np.ndarray  # relations that tell the sum of their hidden cells, all of them sensitive
    distance: Distance | None = None  # instead of an attack, where nothing is published about changes
    failures: tuple[str, ...] = ()  # what solvers said instead of an answer

    @cached_property
    def verdicts(self) -> np.ndarray:
        """One letter a pair: p protected, e exposed, n not proven."""
        if self.distance is not None:
            return np.where(self.distance.far, "p", "e")
        return self.proofs.verdicts

    @cached_property
    def unlisted(self) -> int:
        """Pairs that those of the list stand for: members of families, each served by a table that is proved."""
        return 0 if self.distance is not None or self.proofs.served is None else self.proofs.served.unlisted

    @cached_property
    def verdict(self) -> str:
        """The worst of all pairs; nothing to check is not the same as protected."""
        found = self.verdicts
        if self.distance is not None and self.distance.wrong:
            return "exposed"
        if not len(found):
            return "nothing to check"
        word = next(WORDS[letter] for letter in "enp" if (found == letter).any())
        return NOT_EXCLUDED if self.pattern.random and word == "protected" else word

    @cached_property
    def intervals(self) -> Intervals:
        return Intervals(self.proofs, self.exact_required, self.integer)

    @cached_property
    def exact(self) -> bool:
        """Every end of every interval is proved from both sides."""
        return self.distance is None and bool((self.intervals.kind == EXACT_END).all())

    @cached_property
    def low(self) -> np.ndarray:
        """The lower end of the attacker's interval, pair by pair, or what `intervals.kind` says of it."""
        return self.intervals.low

    @cached_property
    def high(self) -> np.ndarray:
        return self.intervals.high


def audit(
    problem: TableProblem,
    pattern: Pattern,
    *,
    exact: bool = True,
    integer: bool = False,
    engine: str | None = None,
    team: Team = SERIAL,
    progress: Progress | None = None,
    before: Audit | None = None,
    hints: MoveMatrix | None = None,
) -> Audit:
    """Attacks `pattern`, whose every cell contains the truth (`released.read_release` sees to that). Tables that are
    tried first: `before`, those of an audit of another release of the problem; `hints`, those that a search found."""
    # Where no attacker is simulated, levels are distances: they are not rounded to what whole numbers can be apart.
    integer &= pattern.claims
    task = stated(problem, pattern, integer)
    proofs = Proofs.none(task)
    none = np.zeros(0, dtype=np.int64)
    if not pattern.claims:
        far = distance(problem, pattern, task.pairs)
        return Audit(problem, pattern, proofs, exact, integer, none, none, none, far)
    regions = task.regions
    stuck = _without_slack(task)
    proofs.add_by_own_box(np.flatnonzero(stuck))
    if before is not None and before.distance is None:
        proofs.retake(before.proofs)
    watch = np.tile(_watched(problem, pattern), (regions.views, 1))
    if hints is not None and len(hints):
        watch &= ~take_hints(proofs, hints)
    serve(proofs)
    still: list[tuple[np.ndarray, int]] = []
    failures: list[str] = []
    # Verdicts rest on few tables, found quickly; the ends of intervals need a table and a bound each.
    options: dict[str, Any] = {"exact": False, "team": team, "progress": None if exact else progress}
    engines = Engines()
    chosen = ~stuck & ((proofs.of_listed == "n") | exact)
    first = engine
    if not exact and engine is None and hints is not None and chosen.sum() <= TUNING.few:
        first = "highs"  # what other engines prepare for a component pays where many pairs are left
    for made in attack(task, np.flatnonzero(chosen), watch, engine=first, engines=engines, prove_ends=exact, **options):
        proofs.add(made)
        failures += made.findings.failures
        still.append((made.component.cells[made.findings.still], made.view))
    problem = _with_unserved(problem, proofs)
    task, stuck = proofs.problem, _without_slack(proofs.problem)
    for pairs in of_one_size(task, np.flatnonzero(proofs.of_listed == "n")):
        for made in attack(task, pairs, watch & False, engine=engine, reach=NEAR, **options):
            proofs.add(made)
            failures += made.findings.failures
    unproven = np.flatnonzero(proofs.of_listed == "n")
    if len(unproven) and engine is None:  # another engine may see better
        for made in attack(task, unproven, watch & False, engine="highs", **options):
            proofs.add(made)
            failures += made.findings.failures
    unproven = np.flatnonzero(proofs.of_listed == "n")
    if len(unproven):  # a table at the end itself, where one that is good enough for a solver is not for arithmetic
        for made in attack(task, unproven, watch & False, engine=engine, exact=True, team=team):
            proofs.add(made)
            failures += made.findings.failures
    if exact:
        failures += prove_ends(proofs, ~stuck, engine, engines, team, progress)
    revealed, by = _revealed(still, regions.low, regions.high, _watched(problem, pattern))
    return Audit(
        problem,
        pattern,
        proofs,
        exact,
        integer,
        revealed,
        by,
        _pinned(problem, regions.low[0] < regions.high[0]),
        None,
        tuple(dict.fromkeys(failures)),
    )


def _without_slack(task: ProofProblem) -> np.ndarray:
    regions, pairs = task.regions, task.pairs
    view = regions.view_of[pairs.attacker]
    return ~(regions.high[view, pairs.cell] > regions.low[view, pairs.cell])


def _with_unserved(problem: TableProblem, proofs: Proofs) -> TableProblem:
    """Members of families for whom no table was found get pairs of their own."""
    family, attacker = serve_the_rest(proofs)
    if not len(family):
        return problem
    task = proofs.problem
    assert task.families is not None
    pairs, families = task.pairs, task.families
    more = families.cell[family], attacker, families.lpl[family], families.upl[family], np.zeros(len(family))
    columns = (pairs.cell, pairs.attacker, pairs.lpl, pairs.upl, pairs.spl)
    longer = ProofPairs(*(np.concatenate(both) for both in zip(columns, more, strict=True)))
    proofs.extend(replace(task, pairs=longer))
    return problem.with_listed(family, attacker)


def _watched(problem: TableProblem, pattern: Pattern) -> np.ndarray:
    """Cells that are not published as they are although nobody marked them."""
    d = problem.dataset
    return (pattern.status != EXACT) & (d["status"].values != "u") & d["published"].values


def _revealed(
    still: list[tuple[np.ndarray, int]], low: np.ndarray, high: np.ndarray, watch: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Watched cells that cannot move, each with the first view to which that applies."""
    first: dict[int, int] = {}
    for view in range(len(low)):
        for cell in np.flatnonzero(watch & ~(high[view] > low[view])):
            first.setdefault(int(cell), view)
    for cells, view in still:
        for cell in cells:
            first[int(cell)] = min(view, first.get(int(cell), view))
    cells = np.array(sorted(first), dtype=np.int64)
    return cells, np.array([first[int(c)] for c in cells], dtype=np.int64)


def _pinned(problem: TableProblem, free: np.ndarray) -> np.ndarray:
    """Relations whose open cells are two or more, every one of them sensitive, and all on one side: their sum is as
    good as published."""
    d = problem.dataset
    cell, equation, coefficient = d["cell_of"].values, d["equation_of"].values, d["coefficient"].values
    is_open = free[cell]
    sensitive = is_open & (d["status"].values[cell] == "u") & d["published"].values[cell]
    count = np.bincount(equation[is_open], minlength=problem.m)
    marked = np.bincount(equation[sensitive], minlength=problem.m)
    signs = np.bincount(equation[is_open], weights=np.sign(coefficient[is_open]), minlength=problem.m)
    return np.flatnonzero((count >= 2) & (count == marked) & (np.abs(signs) == count))
