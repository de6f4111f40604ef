"""Free senses against every combination of senses, tried one by one; and against optima known of public tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sdcdsl.accelerate.cta.senses import Chosen, choose
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.integer import whole
from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.methods.cta.settings import Settings, settings_of
from sdcdsl.numerics.aggregation import FIXED
from sdcdsl.policy.read import read_text
from tests.attack.tables import flat
from tests.methods.cta.every_sense import EverySense
from tests.methods.ip.test_method import table
from tests.methods.tiny_tables import changed, made, scaled, tiny_table
from tests.waiting import HANGS

CSPLIB = Path(__file__).parents[4] / "shared" / "data" / "csplib"


def chosen(problem: TableProblem, norm: str = "L1", **options) -> tuple[Settings, Chosen]:
    of = settings_of(problem, {"norm": norm, **options})
    return of, choose(of, 1e-6, Deadline(HANGS))


def assert_safe(of: Settings, result: Chosen) -> None:
    """The table keeps its relations, its ends and every level in the sense it was given."""
    a, z = of.of, result.z
    assert z is not None and result.sense is not None
    assert np.abs(a.M @ z).max(initial=0.0) <= 1e-9 * max(float(np.abs(z).max(initial=0.0)), 1e-300)
    assert ((z >= a.low) & (z <= a.high)).all()
    p = z[a.cells]
    assert np.where(result.sense > 0, p >= a.upl, p <= -a.lpl).all()
    assert of.objective(z) == pytest.approx(result.objective, rel=1e-9)


def assert_as_good_as_any(problem: TableProblem, norm: str, within: float) -> None:
    best = EverySense(problem).best(norm)
    of, result = chosen(problem, norm)
    if best == np.inf:
        assert result.status == "infeasible"
        assert result.z is None
        return
    assert result.status == "optimal", result
    assert_safe(of, result)
    assert result.objective == pytest.approx(best, rel=within, abs=1e-7)
    assert result.bound is not None and result.bound <= best * (1 + within) + 1e-7


def drawn(count: int, *found: int):
    """Tables by their seeds: so many drawn ones, and those that have found a fault before."""

    def over(test):
        for seed in found:
            test = example(seed)(test)
        return settings(max_examples=count, deadline=None, derandomize=True)(given(st.integers(0, 10_000))(test))

    return over


# 42, 107: a cell without a cost that has to move; 88: nothing can move, and nothing has to; 90: no directions work, and
# ends are open; 720: they are open, and directions have to be compared.
@drawn(40, 42, 88, 90, 107, 556, 720)
def test_every_sense_in_l1(seed: int):
    assert_as_good_as_any(tiny_table(seed), "L1", 1e-6)


# 4, 176: squares of 1e10, next to which the last digits of ends count; 487: multipliers that are a hair too rough.
@drawn(12, 4, 176, 487, 8193)
def test_every_sense_in_l2(seed: int):
    problem = tiny_table(seed)
    problem = changed(problem, w=np.maximum(problem.dataset["w"].values, 0.1))  # the brute force needs it
    assert_as_good_as_any(problem, "L2", 1e-5)


@drawn(12)
def test_every_sense_in_linf(seed: int):
    assert_as_good_as_any(tiny_table(seed), "Linf", 1e-6)


@pytest.mark.parametrize(("norm", "within"), [("L2", 1e-5), ("Linf", 1e-6)])
def test_senses_of_more_cells_are_proven_by_branches(norm: str, within: float):
    """A bound of nothing was all that was known about 60 cells with eleven sensitive ones."""
    problem = table(3, [flat(4), flat(5)], 7, 0.1, 0.15)
    assert len(problem.sensitive) == 7
    assert_as_good_as_any(problem, norm, within)


@pytest.mark.parametrize("seed", range(4))
def test_levels_beyond_reach_say_how_much_is_missing(seed: int):
    problem = tiny_table(seed, "3 × 3")
    far = 1e4 * (1 + np.abs(problem.dataset["a"].values).max())
    near = problem.dataset["a"].values - 3.0, problem.dataset["a"].values + 3.0
    levels = np.full(problem.dataset.sizes["pair"], far)
    problem = changed(
        problem,
        lpl=levels,
        upl=levels,
        low=np.tile(near[0], (problem.dataset.sizes["view"], 1)),
        high=np.tile(near[1], (problem.dataset.sizes["view"], 1)),
    )
    of, result = chosen(problem)
    assert result.status == "infeasible"
    assert result.z is None
    assert result.violation is not None
    published = problem.dataset["published"].values[of.of.cells]
    assert (result.violation[published] >= far - 4.0).all()


def test_no_senses_work_though_each_cell_could_move():
    """Three cells that add up to a kept total, each of which must move by 3 of at most 3.5: 3 + 3 - 3 is never 0."""
    problem = made(
        4,
        [[(-1.0, 0), (1.0, 1), (1.0, 2), (1.0, 3)]],
        np.array([30.0, 10.0, 10.0, 10.0]),
        [(0, 1), (0, 2), (0, 3)],
        status=np.array(["z", "u", "u", "u"]),
        levels=np.array([[3.0] * 3, [3.0] * 3, [0.0] * 3]),
        views=[(np.array([0.0, 6.5, 6.5, 6.5]), np.array([99.0, 13.5, 13.5, 13.5]))],
    )
    of, result = chosen(problem)
    assert result.status == "infeasible"
    assert result.violation is not None
    # Two go one way by 3 at least, so the third must go 6 the other way and gets 3.5; or one of them gives way.
    assert result.violation.sum() == pytest.approx(2.5)
    free = replace(of.of, low=np.full(4, -7.0), high=np.array([0.0, 7.0, 7.0, 7.0]))
    free.low[0] = 0.0
    again = choose(replace(of, of=free), 1e-6, Deadline(HANGS))
    assert again.status == "optimal"
    assert again.objective == pytest.approx(12.0)


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
def test_other_units_same_senses(norm: str):
    for seed in (3, 5, 8):
        problem = tiny_table(seed, "two hierarchies")
        first = chosen(problem, norm)[1]
        again = chosen(scaled(problem, 1e6, costs=False), norm)[1]
        assert again.status == first.status
        if first.objective is None:
            continue
        assert again.objective == pytest.approx(first.objective * (1e12 if norm == "L2" else 1e6), rel=1e-5)


def test_given_senses_are_kept():
    tried = 0
    for seed in range(12):
        problem = tiny_table(seed, "3 × 3")
        of, result = chosen(problem)
        if result.sense is None:
            continue
        turned = np.zeros(problem.n, dtype=np.int8)
        turned[of.of.cells[0]] = -result.sense[0]
        free = of.of.with_sense(turned[of.of.cells])
        again = choose(replace(of, of=free), 1e-6, Deadline(HANGS))
        assert again.status in ("optimal", "infeasible")
        if again.sense is not None and again.objective is not None and result.objective is not None:
            tried += 1
            assert again.sense[0] == -result.sense[0]
            assert again.objective >= result.objective * (1 - 1e-6)
    assert tried > 3


@pytest.mark.parametrize("seed", range(8))
def test_groups_are_what_the_relations_say(seed: int):
    """Cells of a group are proportional in every direction the table can move in."""
    of = settings_of(tiny_table(seed), {})
    groups, M = Groups(of.of), of.of.M.toarray()
    free = np.flatnonzero(of.of.high > of.of.low)
    _, values, directions = np.linalg.svd(M[:, free])
    moves = np.zeros((len(directions) - np.count_nonzero(values > 1e-9), of.of.n))
    moves[:, free] = directions[np.count_nonzero(values > 1e-9) :]
    for z in moves:
        assert np.abs(z[groups.of == FIXED]).max(initial=0.0) < 1e-9
        for group in range(groups.count):
            D = z[groups.of == group] / groups.factor[groups.of == group]
            assert np.ptp(D) < 1e-9


# ---- whole numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_whole_numbers_as_good_as_any(seed: int):
    """All whole tables within 6 of the truth in four inner cells, margins and all."""
    draw = np.random.default_rng(seed)
    inner = draw.integers(4, 20, (2, 2))
    table = np.zeros((3, 3))
    table[1:, 1:] = inner
    table[0], table[:, 0] = table.sum(axis=0), table.sum(axis=1)
    table[0, 0] = inner.sum()
    number = np.arange(9).reshape(3, 3)
    lines = [*number, *number.T]
    relations = [[(-1.0, int(line[0])), *((1.0, int(i)) for i in line[1:])] for line in lines]
    w = draw.integers(1, 9, 9).astype(float)
    levels = np.stack([draw.uniform(0.5, 3, 2), draw.uniform(0.5, 3, 2), [0.0, 0.0]])
    problem = made(9, relations, table.ravel(), [(0, 4), (0, 8)], w=w, levels=levels)
    of = settings_of(problem, {"integer": True})
    best = np.inf
    for move in product(range(-6, 7), repeat=4):
        z = np.zeros((3, 3))
        z[1:, 1:] = np.reshape(move, (2, 2))
        z[0], z[:, 0] = z.sum(axis=0), z.sum(axis=1)
        z[0, 0] = sum(move)
        z = z.ravel()
        p = z[[4, 8]]
        if (z >= of.of.low).all() and ((p <= -levels[0]) | (p >= levels[1])).all():
            best = min(best, of.objective(z))
    first = choose(of, 1e-6, Deadline(HANGS))
    assert first.sense is not None and first.z is not None
    result = whole(of, first.sense, first.z, 1e-6, Deadline(HANGS))
    assert result.status == "optimal"
    assert result.z is not None
    assert (result.z == np.rint(result.z)).all()
    assert not (of.of.M @ result.z).any()
    assert result.objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("norm", ["L2", "Linf", "L1L2"])
def test_whole_numbers_in_other_norms(norm: str):
    problem = tiny_table(11, "3 × 3")
    a = np.rint(problem.dataset["a"].values)
    of = settings_of(changed(problem, a=a), {"norm": norm})
    first = choose(of, 1e-6, Deadline(HANGS))
    if first.sense is None or first.z is None or first.objective is None:
        pytest.skip("no table at all")
    result = whole(of, first.sense, first.z, 1e-6, Deadline(HANGS))
    if result.z is not None:
        assert (result.z == np.rint(result.z)).all()
        assert result.objective is not None and result.objective >= first.objective * (1 - 1e-6)


# ---- public tables ------------------------------------------------------------------------------------------------


def csplib(name: str) -> TableProblem:
    path = CSPLIB / f"{name}.jj"
    if not path.is_file():
        pytest.skip(f"{path.name} of the public tables is not beside the repository")
    text = f'sdc 1\npolicy "a"\n\ntable t {{\n  jj "{path.name}"\n}}\n\nprotect t {{\n  method csp\n}}\n'
    policy, found = read_text(Source("a.sdc", text), path.parent / "a.sdc")
    assert not has_errors(found)
    problem, found = bind_protect(Binding(policy, FileLocations(path.parent), date(2026, 1, 1)), policy.protects["t"])
    assert problem is not None, found
    a = problem.dataset["a"].values
    return changed(problem, w=1 / np.where(a == 0, 1.0, np.abs(a)))


@pytest.mark.parametrize(("name", "best"), [("targus", 4.3938), ("table7", 20.388), ("table8", 0.34104)])
@pytest.mark.parametrize("times", [1.0, 1e9])
def test_known_optima(name: str, best: float, times: float):
    problem = scaled(csplib(name), times, costs=False)
    of, result = chosen(problem)
    assert result.status == "optimal"
    assert_safe(of, result)
    assert result.objective == pytest.approx(best * times, rel=2e-5)


def test_a_bound_at_any_moment():
    """Out of time at once: still a table, and a bound that the optimum (4.14427) keeps."""
    of = settings_of(csplib("hier13x7x7d"), {})
    result = choose(of, 1e-6, Deadline(0.3))
    assert result.status in ("feasible", "optimal", "limit")
    if result.z is not None:
        assert_safe(of, result)
        assert result.bound is not None and result.bound <= 4.14428
        assert result.objective is not None and result.objective >= 4.14426
