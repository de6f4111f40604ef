"""What a reader learns who knows the policy, the method and the program: which of the tables that fit a release would
have been released the same way?

An audit says which values of a cell fit what is published and what an attacker knows of the relations. Somebody who has
the policy and this program can do more: take each table that fits, protect it as the policy says, and keep those that
give the release that was published. Here that is done for him. Where the tables are whole numbers and few, all of them
are tried; elsewhere a sample of them, and what is found is an estimate from below: at least so much remains possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.audit import audit_release
from sdcdsl.bind.other_values import rebound
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.executing import SERIAL, Team
from sdcdsl.executing.timeouts import TimedOut, run_with_timeout
from sdcdsl.outcome import End, Outcome
from sdcdsl.pattern import Pattern
from sdcdsl.pipeline.bind import bind_blocks
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.pipeline.request import Inputs, ProtectRequest, Watch, writing_nothing
from sdcdsl.pipeline.search import BlockTask, protected
from sdcdsl.policy import document as d
from sdcdsl.risk.candidates import Candidates, candidates

TABLES = 200  # that are tried where nobody says how many
SAME = 1e-9  # of a figure: as close as released files are


@dataclass(frozen=True)
class MethodReplayRequest(Inputs):
    released: ReleasedTables = field(default_factory=ReleasedTables)  # without any the policy's own method makes them
    tables: int = TABLES  # to try for each kind of attacker, at the most
    seed: int = 0
    time_limit: float | None = None  # for each block


@dataclass(frozen=True, eq=False)
class CellReplay:
    """One sensitive cell and one kind of attacker."""

    cell: int
    attacker: str
    value: float
    feasible: tuple[float, float]  # of everybody who knows the relations: the interval of the audit
    tried: tuple[float, float]  # in the tables that were tried
    remaining: tuple[float, float]  # in those that give the same release

    @property
    def share(self) -> float:
        """Of what was possible among the tables tried, what the replay leaves."""
        width = self.tried[1] - self.tried[0]
        return (self.remaining[1] - self.remaining[0]) / width if width > 0 else 1.0


@dataclass(frozen=True, eq=False)
class BlockReplay:
    """What replaying a block leaves of the tables that fit its release."""

    problem: TableProblem
    method: str
    attacker: str
    every: bool  # all tables that fit were tried
    tried: int
    same: int  # that give the same release, the true one among them
    nothing: int  # for which nothing would have been released
    timed: bool  # searches looked at the clock: the same table may be released in another way tomorrow
    cut: bool  # the time was over before all were tried
    cells: tuple[CellReplay, ...]
    values: np.ndarray  # [table that remains, sensitive cell]: the posterior where all were alike before

    @property
    def share(self) -> tuple[float, float, float]:
        """Of the tables that fit, those that remain: estimate and 95 % interval (Wilson's); exact where all were
        tried. The true table is left out of the estimate: it remains in any case."""
        if self.every and not self.cut:
            share = self.same / self.tried
            return share, share, share
        n, k, z = self.tried - 1, self.same - 1, 1.96
        if n <= 0:
            return 1.0, 0.0, 1.0
        p = k / n
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return p, max(0.0, (middle - half) / (1 + z * z / n)), min(1.0, (middle + half) / (1 + z * z / n))


@dataclass(frozen=True, eq=False)
class MethodReplays:
    blocks: tuple[BlockReplay, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    end: End = End.DONE


def replay_methods(request: MethodReplayRequest, team: Team = SERIAL, watch: Watch | None = None) -> MethodReplays:
    """Every block of the policy, or the one that was required."""
    if not request.policy.protects:
        headline = "the policy protects nothing: it has no protect block to replay"
        wrong = diagnostic("SDC139", headline, FilePlace(str(request.source)))
        return MethodReplays(found=(wrong,), end=End.WRONG_POLICY)
    bare = writing_nothing(request)
    bound = bind_blocks(bare)
    if bound.wrong:
        return MethodReplays(found=bound.found, end=End.WRONG_DATA)
    out: list[BlockReplay] = []
    found = list(bound.found)
    for name, problem in bound.problems.items():
        deadline = Deadline(request.time_limit)
        replay = _Replay(request, bare, name, deadline, team, watch or Watch())
        pattern, method, more, end = replay.release(problem)
        found += more
        if pattern is None:
            return MethodReplays((), tuple(dict.fromkeys(found)), end)
        if not pattern.claims:
            found.append(_nothing_claimed(request, name))
            return MethodReplays((), tuple(dict.fromkeys(found)), End.WRONG_POLICY)
        out += replay.blocks(problem, pattern, method)
    return MethodReplays(tuple(out), tuple(dict.fromkeys(found)))


def _nothing_claimed(request: MethodReplayRequest, name: str) -> Diagnostic:
    headline = f"the release of `{name}` says nothing about how far its figures are from the truth"
    notes = ["every table fits such a release, so there is no set of tables to try the method on"]
    help = "`sdcdsl assess` without --replay tries to undo adjusted tables"
    return diagnostic("SDC139", headline, request.policy.protects[name].the(d.MethodChain).span, notes=notes, help=help)


@dataclass(frozen=True, eq=False)
class _Replay:
    """One block."""

    request: MethodReplayRequest
    bare: ProtectRequest
    name: str
    deadline: Deadline
    team: Team
    watch: Watch

    def release(self, problem: TableProblem) -> tuple[Pattern | None, str, list[Diagnostic], End]:
        """The one that was read, or that the policy makes of the true table."""
        if self.request.released.files:
            pattern, found = self.request.released.read(problem)
            chain = self.request.policy.protects[self.name].the(d.MethodChain)
            wrong = has_errors(found) or pattern is None
            return (None if wrong else pattern), chain.engines[0].name, found, End.WRONG_DATA
        try:
            outcome = self._protected(problem)
        except TimedOut:
            chain = self.request.policy.protects[self.name].the(d.MethodChain)
            headline = f"the time was over before `{self.name}` had a release to replay"
            return None, chain.engines[0].name, [diagnostic("SDC512", headline, chain.span)], End.LIMIT
        return (outcome.pattern if outcome.end is End.DONE else None), outcome.method, list(outcome.found), outcome.end

    def _protected(self, problem: TableProblem) -> Outcome:
        protect = self.bare.policy.protects[self.name]
        plans = [plan_of(engine, protect, problem, self.bare)[0] for engine in protect.the(d.MethodChain).engines]
        task = BlockTask(problem, tuple(plans))
        if self.deadline.limit is None:
            return protected(task, self.bare, Watch(), self.team)
        # The search has the policy's own limits, without which it might release something else.
        return run_with_timeout(self.deadline.remaining, lambda: protected(task, self.bare, Watch(), self.team))

    def blocks(self, problem: TableProblem, pattern: Pattern, method: str) -> Iterator[BlockReplay]:
        """For every kind of attacker: those who know the same of every cell. What single contributors know beside it is
        left out, and so is what they would learn from it."""
        audited = audit_release(problem, _reaching(pattern, problem.n), exact=True, team=self.team)
        view_of, labels = problem.dataset["view_of"].values, problem.attackers
        for view in range(problem.dataset.sizes["view"]):
            alike = np.flatnonzero(view_of == view)
            label = labels[int(alike[0])] if len(alike) else f"view {view + 1}"
            ends: dict[int, tuple[float, float]] = {}
            for pair, (cell, attacker) in enumerate(
                zip(problem.dataset["cell_at"].values, problem.dataset["attacker_at"].values, strict=True)
            ):
                if view_of[attacker] == view:
                    ends.setdefault(int(cell), (float(audited.low[pair]), float(audited.high[pair])))
            if ends:
                yield self._block(problem, pattern, method, view, label, ends)

    def _block(
        self,
        problem: TableProblem,
        pattern: Pattern,
        method: str,
        view: int,
        label: str,
        feasible: Mapping[int, tuple[float, float]],
    ) -> BlockReplay:
        low, high = _reaching(pattern, problem.n).seen(
            problem.dataset["low"].values[view], problem.dataset["high"].values[view]
        )
        fitting = self._fitting(problem, low, high)
        cells = np.array(sorted(feasible))
        same, nothing, timed, tried = [0], 0, False, 1  # the true table gives the release it gave
        for t in range(1, len(fitting.tables)):
            if self.deadline.expired:
                break
            self.watch.assessing(problem.name, t, len(fitting.tables))
            try:
                outcome = self._of(problem, fitting.tables[t])
            except TimedOut:
                break
            tried += 1
            if outcome is None or outcome.pattern is None or outcome.end is not End.DONE:
                nothing += 1
                continue
            timed |= any(attempt.result.timed for attempt in outcome.attempts)
            if _same(outcome.pattern, pattern, len(problem.views[-1].cells), problem.n):
                same.append(t)
        values = fitting.tables[:tried][:, cells]
        remaining = fitting.tables[same][:, cells]
        replays = [
            CellReplay(
                int(cell),
                label,
                float(values[0, i]),
                feasible[int(cell)],
                (float(values[:, i].min()), float(values[:, i].max())),
                (float(remaining[:, i].min()), float(remaining[:, i].max())),
            )
            for i, cell in enumerate(cells)
        ]
        cut = tried < len(fitting.tables)
        return BlockReplay(
            problem, method, label, fitting.every, tried, len(same), nothing, timed, cut, tuple(replays), remaining
        )

    def _fitting(self, problem: TableProblem, low: np.ndarray, high: np.ndarray) -> Candidates:
        r = problem.relations
        M = csr_array((r.coefficient, (r.equation_of, r.cell_of)), shape=(problem.m, problem.n))
        whole = all(table.integer for table in problem.tables)
        rng = np.random.default_rng(self.request.seed)
        return candidates(M, problem.dataset["a"].values, low, high, whole, self.request.tables, rng)

    def _of(self, problem: TableProblem, a: np.ndarray) -> Outcome | None:
        """What the policy makes of another table; None if it makes nothing."""
        policy, protect = self.bare.policy, self.bare.policy.protects[self.name]
        other = rebound(problem, a, protect, policy, self.bare.places, self.bare.day)
        return None if other is None else self._protected(other)


def _reaching(pattern: Pattern, n: int) -> Pattern:
    """The pattern over the cells of a problem: a search may have added sums after them, or have fewer."""
    more = n - pattern.n
    if more <= 0:
        low, high, value, status = pattern.low[:n], pattern.high[:n], pattern.value[:n], pattern.status[:n]
        return Pattern(low, high, value, status)
    return Pattern(
        np.append(pattern.low, np.full(more, -np.inf)),
        np.append(pattern.high, np.full(more, np.inf)),
        np.append(pattern.value, np.full(more, np.nan)),
        np.append(pattern.status, np.full(more, "x")),
    )


def _same(one: Pattern, other: Pattern, sums: int, n: int) -> bool:
    """Whether two releases publish the same. The last `sums` of `n` cells are published by neither."""
    cells = n - sums
    if one.about != other.about or (one.status[:cells] != other.status[:cells]).any():
        return False
    return all(
        np.allclose(getattr(one, part)[:cells], getattr(other, part)[:cells], rtol=SAME, atol=SAME, equal_nan=True)
        for part in ("low", "high", "value")
    )
