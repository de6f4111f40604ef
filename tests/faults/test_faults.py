"""The short form of `make faults`: a few seeds for every method and place. Nothing unsafe is released, and whatever is
not released ends with a diagnostic."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.cli import exits
from sdcdsl.solve import SolveLimits, Status, solve
from sdcdsl.solve.highs import Highs
from sdcdsl.solve.modelling import numbers
from sdcdsl.solve.solving import TOLERANCE, violation
from tests.bind.policies import problem_of
from tests.conftest import ROOT
from tests.faults.injecting import PLACES, Faults, faulty_answer
from tests.faults.judging import wrong_with
from tests.faults.running import Tally, tried
from tests.faults.worlds import METHODS, policy
from tests.solve.test_solving import knapsack, line
from tests.waiting import HANGS

LEAST = {"solver": 20, "master": 5, "engine": 20, "pattern": 20}  # master problems of tiny tables end quickly


@pytest.mark.parametrize("place", PLACES)
def test_nothing_unsafe_is_released(place: str):
    tally = Tally()
    for method in METHODS:
        for seed in (1000, 1001):
            tally.add(tried(place, method, seed, often=0.5))
    assert tally.unsafe == []
    assert tally.silent == []
    assert tally.injected.total() >= LEAST[place]


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_what_every_method_releases_in_spite_of_faults_is_judged(method: str):
    """Fewer faults, so that something is released: the judge then sees releases of every method with faults on the
    way."""
    tally = Tally()
    for seed in range(3000, 3012):
        for place in ("solver", "engine", "master"):
            tally.add(tried(place, method, seed, often=0.15))
            assert (tally.unsafe, tally.silent) == ([], [])
        if tally.by_method[method] >= 2:
            return
    raise AssertionError(f"{method} released nothing with faults on the way: {tally}")


@pytest.mark.parametrize(("place", "method", "seed"), [("solver", "cta", 6)], ids=str)
def test_what_once_went_wrong(place: str, method: str, seed: int):
    """A cost without end, which the summary could not print."""
    tally = tried(place, method, seed)
    assert (tally.unsafe, tally.silent) == ([], [])


def test_without_faults_everything_is_released():
    """The judge has nothing against honest releases, of any method: the runs above say something."""
    for method in METHODS:
        tally = tried("solver", method, 2000, often=0.0)
        assert (tally.released, tally.unsafe) == (1, []), (method, tally)


def test_the_judge_sees_what_is_wrong(tmp_path: Path):
    text = policy("csp", random.Random(1))
    problem = problem_of(text, tmp_path)
    [table] = problem.tables
    assert table.lattice is not None
    a = problem.dataset["a"].values
    rows = [(*table.lattice.codes(i).values(), a[i]) for i in range(problem.n)]
    path = tmp_path / "released.csv"

    def judged(tell) -> list[str]:
        lines = [f"{x},{y},{tell(i, v)}" for i, (x, y, v) in enumerate(rows)]
        path.write_text("\n".join(["a,b,value,low,high,status", *lines]) + "\n")
        return wrong_with(path, problem)

    sensitive = problem.sensitive.tolist()
    assert judged(lambda i, v: ",,,hidden") == []
    assert "known to lie" in judged(lambda i, v: f"{v},,,published")[0]
    assert "known to lie" in judged(lambda i, v: ",,,hidden" if i in sensitive else f"{v},,,published")[0]
    assert "has a figure" in judged(lambda i, v: f"{v},,,hidden")[0]
    assert "excluded" in judged(lambda i, v: f",{v + 1},{v + 2},interval")[0]
    assert "from the truth" in judged(lambda i, v: f"{v},,,adjusted")[0]
    assert any("does not hold" in one for one in judged(lambda i, v: f"{v + 50},,,adjusted"))


def test_answers_of_backends_are_checked(monkeypatch: pytest.MonkeyPatch):
    """Whatever a backend says, a solution that `solve` passes on satisfies the model."""
    faults = Faults(random.Random(3), often=1.0)
    monkeypatch.setattr(Highs, "ask", faulty_answer(Highs.ask, faults))
    passed_on = 0
    for model in (knapsack(), line(), line(need=2.5, whole=True)):
        seen = numbers(model)
        for _ in range(60):
            found = solve(model, SolveLimits())
            if found.status in (Status.OPTIMAL, Status.FEASIBLE):
                passed_on += 1
                x = np.asarray(found.values) * seen.unit
                assert violation(seen, x) <= TOLERANCE
                assert (x[seen.integer] == np.round(x[seen.integer])).all()
    assert faults.injected.total() == 180
    assert passed_on  # some wrong answers are right solutions with wrong bounds


@pytest.mark.parametrize(
    ("dies", "limits"),
    [
        ("os._exit(0)", []),
        ("os._exit(9)", []),
        ("ctypes.string_at(0)", []),
        ("ctypes.string_at(0)", ["--max-memory", "8GB"]),
    ],
)
def test_a_solver_that_takes_the_process_with_it(tmp_path: Path, dies: str, limits: list[str]):
    """Not even a process that ends with 0 in the middle leaves anything that looks like a release."""
    (tmp_path / "p.sdc").write_text(policy("combined", random.Random(5)))
    start = (
        "import sys, os, ctypes, highspy\nsys.argv[0] = 'sdcdsl'\n"
        f"class Dying(highspy.Highs):\n    def run(self):\n        {dies}\n"
        "highspy.Highs = Dying\nfrom sdcdsl.cli import main\nmain()"
    )
    got = subprocess.run(
        [sys.executable, "-c", start, "protect", "p.sdc", *limits],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert [p.name for p in tmp_path.iterdir()] == ["p.sdc"]
    assert "PROTECTED" not in got.stdout
    if limits:
        assert got.returncode == exits.BUG
        assert "SIGSEGV" in got.stderr
