"""Conditional levels (paper 003 §7) against every set of hidden cells, and every set of cells with an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from sdcdsl.audit import audit, certify
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.csp.compact import solve_compact as csp_compact
from sdcdsl.methods.ip.compact import solve_compact as ip_compact
from sdcdsl.methods.result import Clock, Order, Result
from sdcdsl.methods.run import run
from sdcdsl.proof.checking import verify
from tests.methods.oracle import DOWN, UP, Oracle
from tests.methods.tiny_tables import SHAPES, made, tiny_table

EACH = 1
PAIRS = ["lpl", "upl", "spl", "cell_at", "attacker_at"]


def conditional(seed: int, shape: str) -> TableProblem:
    """A tiny table with levels for most cells that may be touched: some they cannot have."""
    problem = tiny_table(seed, shape)
    draw = np.random.default_rng(1000 + seed)
    d = problem.dataset
    status = d["status"].values
    pairs = [(k, c) for k in range(d.sizes["attacker"]) for c in np.flatnonzero(np.isin(status, ("s", "m"))).tolist()]
    pairs = [pair for pair in pairs if draw.random() < 0.7]
    levels = np.zeros((3, len(pairs)))
    oracle, far = Oracle(problem), 10.0 * max(float(np.abs(d["a"].values).max()), 1.0)
    for at, (k, cell) in enumerate(pairs):
        usual = max(abs(float(d["a"].values[cell])), 1.0)
        have = [min(oracle.reach_of(k, cell, side, oracle.everything(), far), usual) for side in (DOWN, UP)]
        levels[:2, at] = np.array(have) * draw.choice([0.0, 0.1, 0.3, 0.8], 2)
        levels[2, at] = sum(have) * draw.choice([0.0, 0.0, 0.5])
        if draw.random() < 0.1 and status[cell] == "s":
            levels[UP, at] += usual  # more than there is, perhaps
    levels[levels < 1e-3] = 0.0
    more = [*levels, np.array([c for _, c in pairs], dtype=np.int64), np.array([k for k, _ in pairs], dtype=np.int64)]
    flag = np.concatenate([np.zeros(d.sizes["pair"], dtype=bool), np.ones(len(pairs), dtype=bool)])
    joined = {name: np.concatenate([d[name].values, values]) for name, values in zip(PAIRS, more, strict=True)}
    rest = d.drop_vars(PAIRS)
    new = xr.Dataset({name: ("pair", values) for name, values in (joined | {"conditional": flag}).items()})
    return replace(problem, dataset=xr.merge([rest, new]).assign_attrs(d.attrs))


class Conditioned(Oracle):
    """Who hides less may protect more here: every set is tried."""

    def counting(self, touched: np.ndarray) -> list[int]:
        flag = self.problem.dataset["conditional"].values
        return [pair for pair, (_, cell) in enumerate(self.pairs) if not flag[pair] or touched[cell]]

    def exposed(self, hidden: np.ndarray) -> list[int]:
        return [pair for pair in self.counting(hidden) if not self.protected(pair, hidden)]

    def keeps(self, hidden: np.ndarray) -> bool:
        return all(self.protected(pair, hidden) for pair in self.counting(hidden))

    def sets(self):
        free = self.choice
        for code in range(1 << len(free)):
            hidden = self.always.copy()
            hidden[free[(code >> np.arange(len(free))) & 1 == 1]] = True
            yield hidden

    def cheapest(self, w=None, cap=None) -> float | None:
        by_cost = sorted(self.sets(), key=self.cost)
        return next((self.cost(hidden) for hidden in by_cost if self.keeps(hidden)), None)

    def cheapest_intervals(self) -> float | None:
        """The least of the linear programs over every set of cells with an interval."""
        best = None
        d = self.problem.dataset
        for touched in self.sets():
            if not self.keeps(touched):  # whole rooms do not protect: no intervals do
                continue
            status = np.where(touched | self.always, d["status"].values, "z")
            kept = self.counting(touched | self.always)
            only = replace(self.problem, dataset=d.isel(pair=kept).assign(status=("cell", status)))
            cost = Oracle(only).intervals()
            if cost is not None and (best is None or cost < best):
                best = cost
        return best


def tables() -> list[tuple[str, int]]:
    return [(shape, seed) for shape in SHAPES for seed in range(EACH)] + [("2-D", 2), ("linked hierarchy", 1)]


def solved(problem: TableProblem, method: str, **options) -> Result:
    return run(problem, method, Order(options, Clock(), seed=1))


def assert_best(problem: TableProblem, result: Result, best: float | None) -> None:
    if best is None:
        assert result.status == "infeasible"
        assert result.pattern is None
        return
    assert result.pattern is not None
    assert audit(problem, result.pattern, exact=False).verdict in ("protected", "nothing to check")
    assert result.status == "optimal"
    unit = max(float(problem.dataset["w"].max()), 1.0)
    assert result.objective == pytest.approx(best, rel=2e-6, abs=2e-6 * unit)
    assert result.bound is not None
    assert result.bound <= best + 1e-6 * max(best, unit)


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_cell_suppression(shape: str, seed: int):
    problem = conditional(seed, shape)
    oracle = Conditioned(problem)
    best = oracle.cheapest()
    result = solved(problem, "csp")
    assert_best(problem, result, best)
    if result.pattern is not None:
        assert oracle.valid(result.pattern.status == "x")
    if seed == 0:
        compact = csp_compact(problem, Order({}))
        assert (compact.objective is None) == (best is None)
        if best is not None:
            assert compact.objective == pytest.approx(best)


@pytest.mark.parametrize(("shape", "seed"), [("one dimension", 0), ("2-D", 1)])
def test_interval_protection(shape: str, seed: int):
    problem = conditional(seed, shape)
    best = Conditioned(problem).cheapest_intervals()
    assert_best(problem, solved(problem, "ip"), best)
    assert (ip_compact(problem, Order({})).objective is None) == (best is None)


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_interval_protection_and_the_first_model(shape: str, seed: int):
    problem = conditional(seed, shape)
    assert_best(problem, solved(problem, "ip"), ip_compact(problem, Order({"gap": 1e-9})).objective)


def test_conditional_levels_change_what_is_best():
    """Row and column of a square: the cheap cell beside the sensitive one would be known too well."""
    relations = [[(-1.0, 4), (1.0, 0), (1.0, 1)], [(-1.0, 5), (1.0, 2), (1.0, 3)]]
    relations += [[(-1.0, 6), (1.0, 0), (1.0, 2)], [(-1.0, 7), (1.0, 1), (1.0, 3)]]
    a = np.array([10.0, 2.0, 8.0, 7.0, 12.0, 15.0, 18.0, 9.0])
    plain = made(8, relations, a, [(0, 0), (0, 1)], levels=np.array([[2.0, 0.0], [2.0, 5.0], [0.0, 0.0]]))
    status = np.array(["u", *"sss", *"zzzz"])
    flagged = plain.dataset.assign(status=("cell", status), conditional=("pair", np.array([False, True])))
    problem = replace(plain, dataset=flagged)
    result = solved(problem, "csp")
    assert result.status == "optimal"
    assert result.pattern is not None
    assert (result.pattern.status == "x")[1]  # the square is all there is: it can rise by 7, so 5 is enough
    more = replace(problem, dataset=flagged.assign(upl=("pair", np.array([2.0, 9.0]))))
    assert solved(more, "csp").status == "infeasible"  # and 9 is not
    intervals = solved(problem, "ip")
    assert intervals.pattern is not None
    assert intervals.pattern.high[1] - a[1] == pytest.approx(5.0)
    assert intervals.objective == pytest.approx(4 * (2 + 5))


def test_pairs_that_do_not_count_are_not_stated(tmp_path):
    problem = conditional(0, "3 × 3")
    result = solved(problem, "csp")
    assert result.pattern is not None
    found = certify(problem, result.pattern, tmp_path / "c.jsonl", exact=False)
    checked = verify(tmp_path / "c.jsonl")
    assert not checked.reasons
    assert found.verdict == "protected"
    d = problem.dataset
    touched = result.pattern.status[d["cell_at"].values] == "x"
    counted = ~d["conditional"].values | touched
    assert len(found.verdicts) == counted.sum() < len(counted)
    everything = replace(problem, dataset=d.drop_vars("conditional"))
    assert len(audit(everything, result.pattern, exact=False).verdicts) == len(counted)
