"""Whether turnover is in cents or in billions, whether nobody knows an upper bound or one that is far away: the same
table gives the same verdicts, and every method comes to the same end."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import Pattern, hidden, intervals
from tests.methods.tiny_tables import SHAPES, changed, scaled, tiny_table
from tests.waiting import HANGS

TIMES = [1e-6, 7e-3, 1e3, 1e9]
SIZES = {"rounding": {"base": 10.0}, "perturb": {"range": (-8.0, 8.0)}}  # options that are amounts
SCALE_FREE = {
    "csp": {},
    "ip": {},
    "cta L1": {"norm": "L1"},
    "cta L2": {"norm": "L2"},
    "cta Linf": {"norm": "Linf"},
}


def patterns(problem: TableProblem, seed: int) -> dict[str, Pattern]:
    """All that may be hidden; some of it; intervals of shares of the value."""
    draw = np.random.default_rng(seed)
    a, status = problem.dataset["a"].values, problem.dataset["status"].values
    may = status != "z"
    some = may & ((status == "u") | (draw.random(len(a)) < 0.5))
    width = np.where(may, 0.3 * np.abs(a) + 1.0, 0.0)
    return {"all": hidden(a, may), "some": hidden(a, some), "intervals": intervals(a - width, a + 2 * width)}


def in_other_units(pattern: Pattern, times: float) -> Pattern:
    return Pattern(pattern.low * times, pattern.high * times, pattern.value * times, pattern.status, pattern.claims)


def verdicts(problem: TableProblem, pattern: Pattern) -> str:
    return "".join(audit(problem, pattern, exact=False).verdicts)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_verdicts_do_not_depend_on_the_unit(shape, seed):
    problem = tiny_table(seed, shape)
    for name, pattern in patterns(problem, seed).items():
        before = verdicts(problem, pattern)
        assert "n" not in before
        for times in TIMES:
            assert verdicts(scaled(problem, times), in_other_units(pattern, times)) == before, (name, times)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bound_that_is_far_away_is_no_bound(shape):
    """Unbounded cells get bounds a thousand to 1e12 times as far as anything can go that matters."""
    problem = tiny_table(3, shape)
    d = problem.dataset
    far = max(float(np.abs(d["a"].values).max()), 1.0)
    low, high = d["low"].values, d["high"].values
    for name, pattern in patterns(problem, 3).items():
        before = verdicts(problem, pattern)
        for times in (1e3, 1e6, 1e12):
            closed = changed(
                problem,
                low=np.where(np.isinf(low), -far * times, low),
                high=np.where(np.isinf(high), far * times, high),
            )
            assert verdicts(closed, pattern) == before, (name, times)


def solved(problem: TableProblem, method: str, options: dict) -> Result:
    return run(problem, method.partition(" ")[0], SolveContext(options, Deadline(HANGS), seed=5))


@pytest.mark.parametrize("method", SCALE_FREE)
@pytest.mark.parametrize("shape", ["3 × 3", "linked hierarchy", "2 × 2 × 2"])
def test_methods_do_not_depend_on_the_unit(method, shape):
    problem = tiny_table(2, shape)
    once = solved(problem, method, SCALE_FREE[method])
    for times in TIMES:
        other = scaled(problem, times)
        again = solved(other, method, SCALE_FREE[method])
        assert again.status == once.status, times
        if once.pattern is None:
            assert again.pattern is None
            continue
        assert again.pattern is not None
        assert audit(other, again.pattern, exact=False).verdict in ("protected", "nothing to check")
        assert once.objective is not None
        # Suppression adds up weights, L2 weights times squares; the others weights times amounts.
        power = {"csp": 1, "cta L2": 3}.get(method, 2)
        assert again.objective == pytest.approx(once.objective * times**power, rel=1e-5, abs=1e-9 * times**power)


@pytest.mark.parametrize("method", SIZES)
def test_methods_with_amounts_do_not_depend_on_the_unit(method):
    problem = tiny_table(6, "3 × 3")
    [(option, amount)] = SIZES[method].items()

    def options(times: float) -> dict:
        size = np.full(problem.n, times)
        return {option: tuple(a * size for a in amount) if isinstance(amount, tuple) else amount * size}

    once = solved(problem, method, options(1.0))
    for times in TIMES:
        again = solved(scaled(problem, times), method, options(times))
        assert again.status == once.status, times
        if once.pattern is not None:
            assert again.pattern is not None and once.objective is not None
            assert again.objective == pytest.approx(once.objective * times**2, rel=1e-5)
