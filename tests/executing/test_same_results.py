"""Whoever does the work, the result is the same, also when workers are killed while they do it."""

from __future__ import annotations

import datetime
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.accelerate.cutting import separation
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.audit import Audit, attacking, audit
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Channel, Team
from sdcdsl.executing.team import DEATHS
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.outcome import End
from sdcdsl.pattern import hidden
from sdcdsl.pattern.digest import digest
from sdcdsl.pipeline.compare import bound_problem, compared, handed_over, runs_of
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.request import ProtectRequest, Watch
from sdcdsl.pipeline.variants import stated_variants
from sdcdsl.policy.read import read_policy
from sdcdsl.risk import assess
from tests.cli.investment import POLICY
from tests.executing.cubes import cube, problem_of
from tests.executing.test_teams import pids
from tests.waiting import HANGS


@pytest.fixture(scope="module")
def problem(tmp_path_factory) -> TableProblem:
    return problem_of(cube(tmp_path_factory.mktemp("cube") / "cube.jj", 3, 8))


def facts(made: Audit) -> tuple:
    p = made.proofs
    return (
        made.verdict,
        made.verdicts.tolist(),
        made.low.tolist(),
        made.high.tolist(),
        made.revealed.tolist(),
        made.intervals.kind.tolist(),
        p.least.tolist(),
        p.most.tolist(),
    )


def pattern(problem: TableProblem):
    d = problem.dataset
    some = np.random.default_rng(2).random(problem.n) < 0.5
    return hidden(d["a"].values, (d["status"].values == "u") | some)


@pytest.fixture
def small_parts(monkeypatch) -> None:
    """So that even a small table is several tasks."""
    monkeypatch.setattr(attacking, "TUNING", replace(attacking.TUNING, verdicts=3, ends=3))


@pytest.mark.parametrize("exact", [True, False])
def test_audits(problem, team, small_parts, exact):
    told: list[tuple[int, int]] = []
    made = audit(problem, pattern(problem), exact=exact, team=team, progress=lambda *so_far: told.append(so_far))
    assert facts(made) == facts(audit(problem, pattern(problem), exact=exact))
    assert told[-1] == (told[-1][1], told[-1][1])  # and progress got to its end


def test_tries(problem, team):
    options = {"alpha": 0.5, "tries": 25}
    told: list[str] = []
    alone = run(problem, "ecta", SolveContext(options, seed=3))
    made = run(problem, "ecta", SolveContext(options, seed=3, report=lambda s: told.append(s.note), team=team))
    assert alone.pattern is not None and made.pattern is not None
    assert (made.objective, made.facts, digest(made.pattern)) == (alone.objective, alone.facts, digest(alone.pattern))
    assert any("try 25 of 25" in note for note in told)


def test_replications(problem, team):
    a = problem.dataset["a"].values
    sensitive = problem.dataset["status"].values == "u"
    v = a + np.where(sensitive, 0.2 * a, 0.0)
    told: list[tuple[int, int]] = []
    options = {"replications": 12, "norm": ("L1", "L2")}
    alone = assess(problem, v, ["B1", "C"], options, 4)
    made = assess(problem, v, ["B1", "C"], options, 4, team=team, progress=lambda *so_far: told.append(so_far))
    assert made.as_json() == alone.as_json() and made.complete
    for one, other in zip(made.trials, alone.trials, strict=True):
        assert one.errors.tolist() == other.errors.tolist() and one.replications == 12
    assert told[-1] == (48, 48)


def test_separation(problem, team, monkeypatch):
    """Rounds in waves, as those of large tables are."""
    demands = CutRequirements(Instance(problem))
    n = demands.classes.count
    assert demands.classes.network is None
    monkeypatch.setattr(separation, "TUNING", replace(separation.TUNING, large=0, wave=12, batch=3))
    share = np.random.default_rng(7).random(n)
    point = Capacities(demands, np.full(n, np.inf), np.full(n, np.inf), share)
    rounds = [Separation(demands, team=one).round(point) for one in (SERIAL, team)]
    told = [
        [(i.level, i.up[0].tolist(), i.up[1].tolist(), i.down[0].tolist(), i.down[1].tolist()) for i in made.found]
        for made in rounds
    ]
    assert told[0] == told[1] and told[0]
    assert rounds[0].reached.tolist() == rounds[1].reached.tolist()
    # And a level that is found short in waves is short one by one, too.
    monkeypatch.setattr(separation, "TUNING", replace(separation.TUNING, large=np.inf))
    assert Separation(demands).round(point).short.tolist() == rounds[1].short.tolist()


@pytest.mark.long
@pytest.mark.parametrize(("method", "options"), [("csp", {"gap": 0.2}), ("rounding", {"base": 60.0, "gap": 0.2})])
def test_searches_that_separate(tmp_path, team, monkeypatch, method, options):
    monkeypatch.setattr(separation, "TUNING", replace(separation.TUNING, large=0, batch=2))
    problem = problem_of(cube(tmp_path / "cube.jj", 3, 3))
    alone, made = (run(problem, method, SolveContext(options, team=one)) for one in (SERIAL, team))
    assert alone.pattern is not None and made.pattern is not None
    assert (made.status, made.objective, digest(made.pattern)) == (alone.status, alone.objective, digest(alone.pattern))


# ---- whole blocks ------------------------------------------------------------------------------------------

BLOCK = "protect investment as NAME {\n  lpl 5\n  upl 8\n  against external\n  cost value\n  METHOD\n}\n"


def asked(folder: Path, *methods: str) -> ProtectRequest:
    text = POLICY[: POLICY.index("protect investment")]
    names = "abcdefg"[: len(methods)]
    text += "\n".join(BLOCK.replace("NAME", n).replace("METHOD", m) for n, m in zip(names, methods, strict=True))
    path = folder / "investment.sdc"
    path.write_text(text, encoding="utf-8")
    policy, found = read_policy(path, str(path))
    assert not found, found
    return ProtectRequest(policy, path, RecordedLocations(folder), datetime.date(2026, 1, 1), folder)


class Seen(Watch):
    def __init__(self) -> None:
        self.ends: dict[str, str] = {}
        self.audited: dict[str, int] = {}
        self.methods: dict[str, str] = {}

    def searching(self, block: str, method: str, deadline: Deadline) -> None:
        self.methods[block] = method

    def ended(self, block: str, end: str) -> None:
        self.ends[block] = end

    def auditing(self, block: str, done: int, total: int) -> None:
        self.audited[block] = done


def test_blocks(tmp_path, team):
    request = asked(tmp_path, "method csp", "method ip", "method cta")
    seen = Seen()
    alone, made = prepare(request, team=SERIAL), prepare(request, seen, team)
    assert alone.end is made.end is End.DONE
    for one, other in zip(alone.outcomes, made.outcomes, strict=True):
        assert one.pattern is not None and other.pattern is not None
        assert (one.name, digest(one.pattern)) == (other.name, digest(other.pattern))
        assert one.audit is not None and other.audit is not None
        assert one.audit.verdicts.tolist() == other.audit.verdicts.tolist()
    assert seen.ends == dict.fromkeys("abc", "done")
    assert seen.methods == {"a": "csp", "b": "ip", "c": "cta"}
    assert set(seen.audited) >= {"a", "b"}


def test_a_block_without_a_release_ends_the_others(tmp_path, apart):
    made = prepare(asked(tmp_path, "method csp {\n    cap_hidden 1\n  }", "method csp"), team=apart)
    assert made.end is End.INFEASIBLE


def test_comparisons(tmp_path, team):
    request = replace(asked(tmp_path, "method csp"), block="a")
    problem, _ = bound_problem(request)
    assert problem is not None
    variants, found = stated_variants("csp, ip, rounding(base: 5)", request.policy, "a")
    assert not found
    runs = runs_of(request, problem, variants, [1, 2])
    rows = [
        [replace(one.submit(compared, *task, Channel()).result(HANGS), seconds={}) for task in handed_over(runs, one)]
        for one in (SERIAL, team)
    ]
    assert [vars(row) for row in rows[0]] == [vars(row) for row in rows[1]]
    assert [row.verdict for row in rows[0]] == ["protected"] * 6


# ---- killed while they work ----------------------------------------------------------------------------------


@contextmanager
def killing(team: Team) -> Iterator[list[int]]:
    """Kills workers while something is done: one fewer than a task may see die before it counts as the cause."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.7) and len(killed) < DEATHS - 1:
            for pid in pids(team)[:1]:
                if pid not in killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.long
def test_an_audit_whose_workers_are_killed(problem, apart, small_parts, monkeypatch):
    alone = facts(audit(problem, pattern(problem)))
    with killing(apart) as killed:
        until = time.monotonic() + HANGS
        while True:  # as often as it takes to hit them at work
            assert facts(audit(problem, pattern(problem), team=apart)) == alone
            if killed or time.monotonic() > until:
                break
    assert killed


@pytest.mark.long
def test_tries_whose_workers_are_killed(problem, apart):
    options = {"alpha": 0.5, "tries": 30}
    alone = run(problem, "ecta", SolveContext(options, seed=3))
    with killing(apart) as killed:
        until = time.monotonic() + HANGS
        while True:
            made = run(problem, "ecta", SolveContext(options, seed=3, team=apart))
            assert made.pattern is not None and alone.pattern is not None
            assert digest(made.pattern) == digest(alone.pattern)
            if killed or time.monotonic() > until:
                break
    assert killed
