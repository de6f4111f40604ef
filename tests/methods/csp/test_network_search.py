"""Suppression on networks: valid by audit, never below and nearly always at the optimum, nothing hidden in vain."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import linprog

from sdcdsl.accelerate.csp.network_search import NetworkSearch
from sdcdsl.accelerate.csp.network_state import pack
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.relations import Relations
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.numerics.compiled import kernels
from sdcdsl.pattern import hidden
from tests.attack.planes import System, table, tree
from tests.waiting import HANGS

INF = np.inf


def made(system: System, a, sensitive, levels, *, w=None, views=((0.0, INF),), knows=(), status=None) -> TableProblem:
    """Levels [pair, 3] for every attacker (one a view) and sensitive cell; who knows which cell to lie between what."""
    n, attackers = len(a), len(views)
    letters = np.full(n, "s", dtype="<U1") if status is None else status
    letters[sensitive] = "u"
    zero, zeros = np.zeros(n), np.zeros(system.equations)
    levels = np.tile(np.asarray(levels, dtype=float).reshape(-1, 3), (attackers, 1))
    who, cell, low, high = (np.array([k[i] for k in knows], dtype=float) for i in range(4))
    ends = np.stack([np.broadcast_to(np.array(v, dtype=float), (n, 2)) for v in views])
    dataset = xr.Dataset(
        {
            **{name: ("cell", v) for name, v in {"a": a, "lb": zero, "ub": zero + INF}.items()},
            "w": ("cell", a if w is None else w),
            **dict.fromkeys(("needed_lower", "needed_upper"), ("cell", zero)),
            "status": ("cell", letters),
            "published": ("cell", np.ones(n, dtype=bool)),
            "coefficient": ("entry", system.coefficient),
            "cell_of": ("entry", system.cell_of),
            "equation_of": ("entry", system.equation_of),
            "b": ("equation", zeros),
            **{name: ("pair", levels[:, i]) for i, name in enumerate(("lpl", "upl", "spl"))},
            "cell_at": ("pair", np.tile(sensitive, attackers)),
            "attacker_at": ("pair", np.repeat(np.arange(attackers), len(sensitive))),
            "low": (("view", "cell"), ends[:, :, 0]),
            "high": (("view", "cell"), ends[:, :, 1]),
            "view_of": ("attacker", np.arange(attackers)),
            "known_attacker": ("known", who.astype(np.int64)),
            "known_cell": ("known", cell.astype(np.int64)),
            "known_low": ("known", low),
            "known_high": ("known", high),
        },
        attrs={"integer": 0, "name": "plane"},
    )
    relations = Relations(system.coefficient, system.cell_of, system.equation_of, zeros, n)
    return TableProblem("plane", dataset, lambda c: f"cell {c}", (), relations, ("one",) * attackers)


def plane(rows: list[int], columns: int, rng: np.random.Generator, zeros: float = 0.0) -> tuple[System, np.ndarray]:
    """Rows with a hierarchy (parents of its codes) × flat columns behind their total."""
    leaf = ~np.isin(np.arange(len(rows)), rows)
    values = np.zeros((len(rows), columns + 1))
    values[leaf, 1:] = np.ceil(rng.lognormal(3, 0.8, (leaf.sum(), columns)))
    values[rng.random(values.shape) < zeros] = 0
    for code in range(len(rows) - 1, 0, -1):
        values[rows[code]] += values[code]
    values[:, 0] = values[:, 1:].sum(axis=1)
    return table(rows, tree(columns)), values.ravel()


def random_problem(seed: int, *, rows=(2, 3), columns: int = 4, sensitive: int = 6, **more) -> TableProblem:
    rng = np.random.default_rng(seed)
    system, a = plane(tree(*rows), columns, rng, more.pop("zeros", 0.0))
    inside = np.flatnonzero((a > 0) & (np.arange(len(a)) >= columns + 1) & (np.arange(len(a)) % (columns + 1) > 0))
    chosen = np.sort(rng.choice(inside, sensitive, replace=False))
    shares = np.array([rng.choice([0.05, 0.2], sensitive), np.full(sensitive, 0.2), np.zeros(sensitive)])
    return made(system, a, chosen, (shares * a[chosen]).T, **more)


def verdict(problem: TableProblem, mask: np.ndarray) -> str:
    return audit(problem, hidden(problem.dataset["a"].values, mask), exact=False).verdict


def found(problem: TableProblem, seed: int = 0, effort: float = 1.0) -> np.ndarray:
    search = NetworkSearch.of(Instance(problem), seed=seed)
    assert search is not None
    mask = search.protect(Deadline(), effort=effort)
    assert mask is not None
    return mask


# ---- validity --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_patterns_are_protected_and_hide_nothing_in_vain(seed):
    problem = random_problem(seed, zeros=0.1)
    x, mask = Instance(problem), found(problem, effort=0.2)
    assert verdict(problem, mask) == "protected"
    assert mask[x.sensitive].all()
    for cell in np.flatnonzero(mask & ~x.sensitive):
        less = mask.copy()
        less[cell] = False
        assert verdict(problem, less) == "exposed", f"cell {cell} could be published"


def several_attackers(seed: int) -> TableProblem:
    """One who knows that nothing is negative, one who knows all within half, and knows three cells nearly."""
    rng = np.random.default_rng(seed)
    _, a = plane(tree(2, 3), 4, np.random.default_rng(seed))  # the same values as in `random_problem`
    close = [(1, int(c), 0.9 * a[c], 1.05 * a[c]) for c in rng.choice(np.arange(6, len(a)), 3, replace=False)]
    return random_problem(seed, sensitive=4, views=((0.0, INF), np.stack([0.5 * a, 1.6 * a], axis=1)), knows=close)


def test_several_attackers_with_knowledge_of_their_own():
    met = 0
    for seed in range(5):
        problem = several_attackers(seed)
        search = NetworkSearch.of(Instance(problem))
        assert search is not None
        mask = search.protect(Deadline(HANGS), effort=0.1)
        everything = verdict(problem, np.ones(problem.n, dtype=bool))
        assert (mask is None) == (everything == "exposed")
        assert (mask is None) == bool(search.clashes)
        if mask is not None:
            met += 1
            assert verdict(problem, mask) == "protected"
            alone = made_for_first_attacker(problem)
            assert search.cost >= Instance(alone).w[found(alone, effort=0.1)].sum() * 0.9
    assert met >= 2


def made_for_first_attacker(problem: TableProblem) -> TableProblem:
    d = problem.dataset
    first = d["attacker_at"].values == 0
    kept = d.isel(pair=first, view=[0], attacker=[0], known=[])
    return TableProblem("first", kept, problem.label, (), problem.relations, ("one",))


def test_levels_nobody_can_give_are_named():
    system, a = plane(tree(3), 3, np.random.default_rng(0))
    problem = made(system, a, np.array([5]), [[2 * a[5], 1.0, 0.0]])
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    assert search.protect(Deadline(HANGS)) is None
    assert [(c.pair, c.side) for c in search.clashes] == [(0, DOWN)]
    assert search.clashes[0].reach == pytest.approx(a[5])


def test_three_dimensions_are_no_network():
    system = table(tree(2), tree(2), tree(2))
    assert NetworkSearch.of(Instance(made(system, np.ones(27), np.array([26]), [[0.1, 0.1, 0]]))) is None


def test_time_that_is_up_gives_nothing_or_something_valid():
    problem = random_problem(1)
    deadline = Deadline(HANGS)
    deadline.stop = True
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    assert search.protect(deadline) is None


def test_cells_that_must_be_published_stay_so():
    problem = random_problem(3, sensitive=3)
    free = found(problem)
    d = problem.dataset
    barred = np.flatnonzero(free & (d["status"].values == "s"))[:2]
    d["status"].values[barred] = "z"
    mask = found(problem)
    assert not mask[barred].any()
    assert verdict(problem, mask) == "protected"


# ---- cost ------------------------------------------------------------------------------------------------------------

COX = np.array([[190, 45, 101, 44], [80, 20, 50, 10], [49, 8, 19, 22], [61, 17, 32, 12]], dtype=float)


@pytest.mark.parametrize(
    ("levels", "optimum"), [((10, 12, 0), 85), ((5, 8, 0), 59), ((17, 8, 0), 59), ((10, 8, 30), 85), ((0, 0, 25), 59)]
)
def test_the_table_everybody_knows(levels, optimum):
    problem = made(table(tree(3), tree(3)), COX.ravel(), np.array([11]), [levels])
    mask = found(problem)
    assert verdict(problem, mask) == "protected"
    assert COX.ravel()[mask].sum() == optimum


def best_by_enumeration(problem: TableProblem) -> float:
    """Patterns by increasing cost; the first whose every side has a table far enough. Only for one outsider."""
    x = Instance(problem)
    M = x.M.toarray()
    others = np.flatnonzero(~x.sensitive)
    masks = [x.sensitive | np.isin(np.arange(x.n), more) for k in range(7) for more in combinations(others, k)]
    for mask in sorted(masks, key=lambda m: float(x.w[m].sum())):
        if (M[:, mask] != 0).sum(axis=1).tolist().count(1):  # a cell alone in a relation is hidden in vain
            continue
        box = [
            (-lb if h else 0, ub if h else 0) for h, lb, ub in zip(mask, x.LB[0], np.minimum(x.UB[0], 1e6), strict=True)
        ]
        sides = x.requirements
        if all(
            -linprog(-s * np.eye(x.n)[c], A_eq=M, b_eq=np.zeros(x.m), bounds=box).fun >= need - 1e-6
            for c, s, need in zip(sides.cell, sides.sign, sides.need, strict=True)
        ):
            return float(x.w[mask].sum())
    raise AssertionError("no pattern with so few cells")


def test_costs_are_optimal_or_nearly():
    """Tables of 16 cells, two or three of them sensitive."""
    met = []
    for seed in range(6):
        problem = random_problem(seed, rows=(3,), columns=3, sensitive=2 + seed % 2)
        best = best_by_enumeration(problem)
        cost = Instance(problem).w[found(problem)].sum()
        assert cost >= best - 1e-6
        met.append(cost <= best + 1e-6)
    assert sum(met) >= 5


# ---- repair ----------------------------------------------------------------------------------------------------------


def test_any_set_of_cells_is_repaired():
    problem = random_problem(11)
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    rng = np.random.default_rng(5)
    for share in (0.0, 0.1, 0.3, 0.7, 1.0):
        given = rng.random(problem.n) < share
        repaired = search.repair(given)
        assert repaired is not None
        mask, cost = repaired
        assert verdict(problem, mask) == "protected"
        assert cost == pytest.approx(Instance(problem).w[mask].sum())


def test_repair_of_a_good_pattern_keeps_it():
    problem = random_problem(12)
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    mask = search.protect(Deadline(HANGS))
    assert mask is not None
    again = search.repair(mask, sweep=False)
    assert again is not None
    assert np.array_equal(again[0], mask)


def test_prices_lead_the_repair():
    """Cells that a price makes free are taken, as long as they are worth their real cost."""
    problem = random_problem(13, rows=(4,), columns=4, sensitive=1)
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    nothing = np.zeros(problem.n, dtype=bool)
    plain = search.repair(nothing, sweep=False)
    dear = np.where(plain[0], 1e4, 1.0) if plain is not None else None
    other = search.repair(nothing, price=dear, sweep=False)
    assert plain is not None and other is not None
    assert not (other[0] & plain[0] & ~search.must).any()
    assert verdict(problem, other[0]) == "protected"


# ---- sameness --------------------------------------------------------------------------------------------------------


def times(problem: TableProblem, factor: float) -> TableProblem:
    scaled = problem.dataset.copy(deep=True)
    for name in ("a", "w", "lpl", "upl", "spl", "low", "high", "known_low", "known_high"):
        scaled[name].values[...] *= factor
    return TableProblem("scaled", scaled, problem.label, (), problem.relations, problem.attackers)


@pytest.mark.parametrize("factor", [1e6, 1e-3])
def test_scale_does_not_matter(factor):
    problem = random_problem(21, rows=(3, 3), columns=5, sensitive=12)
    assert np.array_equal(found(problem, effort=0.1), found(times(problem, factor), effort=0.1))


@pytest.mark.long
def test_compiled_and_plain_give_the_same():
    problem = random_problem(22, rows=(3, 3), columns=5, sensitive=12)
    with kernels("plain"):
        plain = found(problem, effort=0.1)
    with kernels("fast"):
        fast = found(problem, effort=0.1)
    assert np.array_equal(plain, fast)


@pytest.mark.long
def test_witnesses_are_flows_within_the_pattern():
    """Every side has a move that keeps all relations, stays within its attacker's slack and reaches its level."""
    x = Instance(several_attackers(2))
    search = NetworkSearch.of(x)
    assert search is not None
    mask = search.protect(Deadline(HANGS), effort=0.1)
    assert mask is not None
    for side in range(len(search.side)):
        pair, cells, move = int(search.pair[side]), *search.witness(side)
        LB, UB = x.slack(int(x.pair_attacker[pair]))
        d = np.zeros(x.n)
        d[cells] = move
        assert mask[cells].all()
        assert np.abs(x.M @ d).max() < 1e-9 * np.abs(d).max()
        assert (d <= UB * (1 + 1e-9)).all() and (-d <= LB * (1 + 1e-9)).all()
        sign = 1 if search.side[side] == UP else -1
        assert sign * d[x.pair_cell[pair]] >= x.level[search.side[side], pair] * (1 - 1e-9)


def test_nothing_sensitive_hides_nothing():
    system, a = plane(tree(3), 3, np.random.default_rng(0))
    problem = made(system, a, np.zeros(0, dtype=np.int64), np.zeros((0, 3)))
    assert not found(problem).any()


def test_an_incumbent_that_is_too_small_grows():
    problem = random_problem(31)
    expected = found(problem, effort=0.05)
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    incumbent = search._incumbent  # a size that only large tables would reach
    search._incumbent = incumbent._replace(entry=incumbent.entry[:, :20].copy(), flow=incumbent.flow[:20].copy())
    again = search.protect(Deadline(HANGS), effort=0.05)
    assert again is not None and np.array_equal(again, expected)


def test_a_cell_that_all_rely_on_is_given_up_though_every_witness_gets_longer():
    """Twelve attackers, each sure of two rows but for one column and the first. Without that one their sides need ten
    other columns each: to publish it takes more slack in the incumbent at once than all witnesses had before."""
    many, reach = 12, 10.0
    values = np.full((4, many + 2), 20.0)  # a row of totals, the row in question, the one beside it, another
    values[0], values[:, 0] = 0, 0
    values[0], values[:, 0] = values.sum(axis=0), values.sum(axis=1)
    values[0, 0] = values[1:, 0].sum()
    at = np.arange(4 * (many + 2)).reshape(4, -1)
    corner, row, beside = at[1, 1], at[1, 2:], at[2, 2:]
    a = values.ravel()
    views = []
    for own in range(many):
        slack = np.full(len(a), reach)
        slack[row] = slack[beside] = 1.0
        slack[[row[own], beside[own]]] = reach
        views.append(np.stack([a - slack, a + slack], axis=1))
    w = np.full(len(a), 1000.0)
    w[at[2, 1:]], w[corner] = 1.0, 5.0
    problem = made(table(tree(3), tree(many + 1)), a, row, np.full((many, 3), [reach, reach, 0.0]), w=w, views=views)
    d = problem.dataset
    problem = TableProblem(
        "corner",
        d.isel(pair=d["cell_at"].values == row[d["attacker_at"].values]),
        problem.label,
        (),
        problem.relations,
        problem.attackers,
    )
    search = NetworkSearch.of(Instance(problem))
    assert search is not None
    assert search._greedy(Deadline(HANGS), np.isin(np.arange(len(a)), at[1:3, 1:]))
    assert search.mask[corner]
    before = pack(search._incumbent)
    spare = before + 2 * len(search.cells)  # what it is given before it has proved to be too little
    search._incumbent = search._incumbent._replace(
        entry=search._incumbent.entry[:, :spare].copy(), flow=search._incumbent.flow[:spare].copy()
    )
    search._prune()
    assert not search.mask[corner]
    assert pack(search._incumbent) - before > spare - before
    assert search._incumbent.log.shape[1] < 10_000
    assert verdict(problem, search.mask) == "protected"
