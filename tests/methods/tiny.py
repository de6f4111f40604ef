"""Random problems small enough to try everything, and an attacker that is not ours: plain linear programs of scipy.

Several attackers with views of their own, one of whom knows single cells better; lower, upper and sliding levels;
cells that must be published, cells that are hidden already, a union of two cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import xarray as xr
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.relations import Relations
from sdcdsl.methods.instance import Instance


def tiny(seed: int, shape: tuple[int, ...] = (2, 2), times: float = 1.0, totals: bool = True) -> TableProblem:
    """A table with totals over every dimension; `times` multiplies all values and levels; without `totals` all of
    them must be published."""
    draw = np.random.default_rng(seed)
    sides = [n + 1 for n in shape]  # code 0 is the total
    table = np.zeros(sides)
    table[tuple(slice(1, None) for _ in shape)] = draw.integers(1, 30, shape)
    for axis in range(len(shape)):
        total = [slice(None)] * len(shape)
        total[axis] = slice(0, 1)
        table[tuple(total)] = table.sum(axis=axis, keepdims=True)
    rows = _relations(sides)
    a = table.ravel()
    inner = [i for i, code in enumerate(product(*map(range, sides))) if all(code)]
    sensitive = [int(i) for i in draw.choice(inner, size=int(draw.integers(1, 3)), replace=False)]
    status = np.full(len(a), "s", dtype="<U1")
    others = [i for i in range(len(a)) if i not in sensitive]
    for letter in "zm":
        if draw.random() < 0.4:
            status[draw.choice(others)] = letter
    if not totals:
        status[np.setdiff1d(np.arange(len(a)), inner)] = "z"
    status[sensitive] = "u"
    published = np.ones(len(a), dtype=bool)
    if draw.random() < 0.3 and len(sensitive) == 2:
        union = len(a)
        rows.append({union: -1.0, **dict.fromkeys(sensitive, 1.0)})
        a, status = np.append(a, a[sensitive].sum()), np.append(status, "u")
        published = np.append(published, False)
        sensitive = [*sensitive, union]
    return _problem(draw, a * times, status, published, sensitive, rows, times)


def _relations(sides: list[int]) -> list[dict[int, float]]:
    number = np.arange(int(np.prod(sides))).reshape(sides)
    out = []
    for axis in range(len(sides)):
        for line in np.moveaxis(number, axis, -1).reshape(-1, sides[axis]):
            out.append({int(line[0]): -1.0, **{int(i): 1.0 for i in line[1:]}})
    return out


def _problem(draw, a, status, published, sensitive, rows, times) -> TableProblem:
    n = len(a)
    entries = [(row, cell, value) for row, line in enumerate(rows) for cell, value in line.items()]
    equation, cell, coefficient = (np.array(column) for column in zip(*entries, strict=True))
    views = [(np.zeros(n), np.full(n, np.inf))]
    view_of = [0]
    if draw.random() < 0.5:
        views.append((0.3 * a, 2.0 * a + times))
        view_of += [1]
    if draw.random() < 0.5:
        view_of += [0]
    pairs = [(k, p) for k in range(len(view_of)) for p in sensitive]
    share = draw.choice([0.0, 0.2, 0.4, 0.8], size=(len(pairs), 2))
    at = np.array([p for _, p in pairs])
    lpl, upl = share[:, 0] * a[at], share[:, 1] * a[at]
    spl = draw.choice([0.0, 0.0, 0.9], size=len(pairs)) * a[at]
    clever = len(view_of) - 1
    knows = draw.choice(n, size=2, replace=False) if draw.random() < 0.5 else np.zeros(0, dtype=int)
    dataset = xr.Dataset(
        {
            "a": ("cell", a),
            "lb": ("cell", np.zeros(n)),
            "ub": ("cell", np.full(n, np.inf)),
            "w": ("cell", draw.integers(1, 9, n).astype(float)),
            "status": ("cell", status),
            "published": ("cell", published),
            "coefficient": ("entry", coefficient),
            "cell_of": ("entry", cell),
            "equation_of": ("entry", equation),
            "b": ("equation", np.zeros(len(rows))),
            "lpl": ("pair", lpl),
            "upl": ("pair", upl),
            "spl": ("pair", spl),
            "cell_at": ("pair", at),
            "attacker_at": ("pair", np.array([k for k, _ in pairs])),
            "low": (("view", "cell"), np.stack([low for low, _ in views])),
            "high": (("view", "cell"), np.stack([high for _, high in views])),
            "view_of": ("attacker", np.array(view_of)),
            "known_attacker": ("known", np.full(len(knows), clever)),
            "known_cell": ("known", knows),
            "known_low": ("known", 0.9 * a[knows]),
            "known_high": ("known", 1.1 * a[knows]),
        },
        attrs={"integer": 0, "name": "tiny"},
    )
    made = Relations(coefficient, cell, equation, np.zeros(len(rows)), n)
    names = tuple(f"attacker {k}" for k in range(len(view_of)))
    return TableProblem("tiny", dataset, lambda i: f"cell {i}", (), made, names)


def valid(problem: TableProblem, down: np.ndarray, up: np.ndarray) -> bool:
    """Do all pairs reach their levels when every cell may move by -down .. up, as far as attackers allow?"""
    instance = Instance(problem)
    unit = max(float(instance.level.max(initial=0.0)), float(instance.slide.max(initial=0.0)), 1e-300)
    for pair in range(instance.pairs):
        LB, UB = instance.slack(int(instance.pair_attacker[pair]))
        ends = np.stack([-np.minimum(LB, down), np.minimum(UB, up)], axis=1) / unit
        reach = [_furthest(instance.M, ends, int(instance.pair_cell[pair]), sign) * unit for sign in (-1, 1)]
        lpl, upl, spl = instance.level[0, pair], instance.level[1, pair], instance.slide[pair]
        if reach[0] < lpl * (1 - 1e-7) or reach[1] < upl * (1 - 1e-7) or sum(reach) < spl * (1 - 1e-7):
            return False
    return True


def _furthest(M: csr_array, ends: np.ndarray, cell: int, sign: int) -> float:
    cost = np.zeros(len(ends))
    cost[cell] = -sign
    found = linprog(cost, A_eq=M, b_eq=np.zeros(len(M.indptr) - 1), bounds=ends, method="highs")
    if found.status == 3:
        return np.inf
    assert found.status == 0, found.message
    return -found.fun


def best_hidden(problem: TableProblem, cap: int | None = None) -> float | None:
    """The cost of the cheapest valid pattern of hidden cells, by trying them in the order of cost; None: there is
    none."""
    instance = Instance(problem)
    for cost, is_hidden in by_cost(instance):
        if cap is not None and (is_hidden & problem.dataset["published"].values).sum() > cap:
            continue
        slack = np.where(is_hidden, np.inf, 0.0)
        if valid(problem, slack, slack):
            return cost
    return None


def by_cost(instance: Instance) -> Iterator[tuple[float, np.ndarray]]:
    always = instance.sensitive | instance.open_anyway
    counted = instance.problem.dataset["published"].values
    free = np.flatnonzero(instance.may_open & ~always)
    base = float(instance.w[always & counted].sum())
    choices = np.array(list(product((False, True), repeat=len(free))))
    costs = base + choices @ instance.w[free]
    for at in np.argsort(costs, kind="stable"):
        is_hidden = always.copy()
        is_hidden[free[choices[at]]] = True
        yield float(costs[at]), is_hidden
