"""Random table problems that are small enough to try every set of hidden cells, with all that real ones bring.

Two dimensions, hierarchies, 2 × 2 × 2, linked tables; values that are whole, sparse, signed, or of very different size;
costs that are values, ones, or often zero; attackers with bounds near and far and with knowledge of their own; cells
that must be published, that are hidden already; unions of cells. Levels are shares of what can be had at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.relations import Relations
from tests.attack.tables import TREES, Relation, cross, flat, linked
from tests.methods.oracle import DOWN, UP, Oracle

INF = np.inf
SHAPES: dict[str, Callable[[], tuple[int, list[Relation]]]] = {
    "2-D": lambda: cross([flat(2), flat(3)]),
    "3 × 3": lambda: cross([flat(3), flat(3)]),
    "hierarchy": lambda: cross([TREES[0], flat(2)]),
    "two hierarchies": lambda: cross([TREES[0], TREES[2]]),
    "2 × 2 × 2": lambda: cross([flat(2), flat(2), flat(2)]),
    "linked": lambda: linked(flat(2), flat(2), flat(2)),
    "linked hierarchy": lambda: linked(TREES[0], flat(1), flat(2)),
    "one dimension": lambda: cross([flat(5)]),
}
CHOICES = 9  # cells about which there is something to decide; the others are published


def made(
    n: int,
    relations: list[Relation],
    a: np.ndarray,
    pairs: list[tuple[int, int]],
    *,
    status: np.ndarray | None = None,
    published: np.ndarray | None = None,
    w: np.ndarray | None = None,
    views: list[tuple[np.ndarray, np.ndarray]] | None = None,
    view_of: list[int] | None = None,
    known: list[tuple[int, int, float, float]] | None = None,
    levels: np.ndarray | None = None,
) -> TableProblem:
    """A problem from its parts; pairs are (attacker, cell), `levels` [lpl | upl | spl, pair]."""
    terms = [(s, c, e) for e, relation in enumerate(relations) for s, c in relation]
    columns = list(zip(*terms, strict=True)) if terms else [(), (), ()]
    coefficient = np.array(columns[0], dtype=np.float64)
    cell_of, equation_of = (np.array(column, dtype=np.int64) for column in columns[1:])
    b = np.bincount(equation_of, weights=coefficient * a[cell_of], minlength=len(relations))
    views = views or [(np.zeros(n), np.full(n, INF))]
    view_of = view_of or [0]
    known = known or []
    status = np.where(np.isin(np.arange(n), [p for _, p in pairs]), "u", "s") if status is None else status
    levels = np.zeros((3, len(pairs))) if levels is None else np.asarray(levels, dtype=float).reshape(3, len(pairs))
    dataset = xr.Dataset(
        {
            "a": ("cell", np.asarray(a, dtype=np.float64)),
            "lb": ("cell", np.full(n, -INF)),
            "ub": ("cell", np.full(n, INF)),
            "w": ("cell", np.ones(n) if w is None else w),
            "status": ("cell", status),
            "needed_lower": ("cell", np.zeros(n)),
            "needed_upper": ("cell", np.zeros(n)),
            "published": ("cell", np.ones(n, dtype=bool) if published is None else published),
            "coefficient": ("entry", coefficient),
            "cell_of": ("entry", cell_of),
            "equation_of": ("entry", equation_of),
            "b": ("equation", b),
            "lpl": ("pair", levels[0]),
            "upl": ("pair", levels[1]),
            "spl": ("pair", levels[2]),
            "cell_at": ("pair", np.array([p for _, p in pairs], dtype=np.int64)),
            "attacker_at": ("pair", np.array([k for k, _ in pairs], dtype=np.int64)),
            "low": (("view", "cell"), np.stack([low for low, _ in views])),
            "high": (("view", "cell"), np.stack([high for _, high in views])),
            "view_of": ("attacker", np.array(view_of, dtype=np.int64)),
            "known_attacker": ("known", np.array([k[0] for k in known], dtype=np.int64)),
            "known_cell": ("known", np.array([k[1] for k in known], dtype=np.int64)),
            "known_low": ("known", np.array([k[2] for k in known], dtype=np.float64)),
            "known_high": ("known", np.array([k[3] for k in known], dtype=np.float64)),
        },
        attrs={"integer": 0, "name": "tiny"},
    )
    names = tuple(f"attacker {k}" for k in range(len(view_of)))
    stated = Relations(coefficient, cell_of, equation_of, b, n)
    return TableProblem("tiny", dataset, lambda cell: f"cell {cell}", (), stated, names)


def changed(problem: TableProblem, **columns: np.ndarray) -> TableProblem:
    """The same problem with other numbers for some letters."""
    new = {name: (problem.dataset[name].dims, values) for name, values in columns.items()}
    return replace(problem, dataset=problem.dataset.assign(new))


def scaled(problem: TableProblem, times: float, costs: bool = True) -> TableProblem:
    """All amounts in other units, and costs with them if asked for."""
    letters = ["a", "b", "lb", "ub", "low", "high", "known_low", "known_high", "lpl", "upl", "spl"]
    letters += ["w"] if costs else []
    return changed(problem, **{letter: problem.dataset[letter].values * times for letter in letters})


# ---- at random -----------------------------------------------------------------------------------------------------


def tiny_table(seed: int, shape: str | None = None, levels: str = "some") -> TableProblem:
    """`levels`: some can be reached by hiding everything that may be hidden; `too much` cannot."""
    draw = np.random.default_rng(seed)
    shape = shape or list(SHAPES)[int(draw.integers(len(SHAPES)))]
    n, relations = SHAPES[shape]()
    a = _values(draw, n, relations)
    sums = {relation[0][1] for relation in relations}
    inner = [i for i in range(n) if i not in sums]
    sensitive = [int(i) for i in draw.choice(inner, int(draw.integers(1, 4)), replace=False)]
    status = _statuses(draw, n, relations, sensitive)
    published = np.ones(n, dtype=bool)
    if len(sensitive) > 1 and draw.random() < 0.35:
        relations = [*relations, [(-1.0, n), (1.0, sensitive[0]), (1.0, sensitive[1])]]
        a, status, published = np.append(a, a[sensitive[:2]].sum()), np.append(status, "u"), np.append(published, False)
        sensitive, n = [*sensitive, n], n + 1
    views = [_view(draw, a) for _ in range(int(draw.integers(1, 3)))]
    view_of = [int(draw.integers(len(views))) for _ in range(int(draw.integers(1, 4)))]
    known = []
    for who, cell in {(int(draw.integers(len(view_of))), int(draw.integers(n))) for _ in range(int(draw.integers(3)))}:
        low, high = (side[cell] for side in views[view_of[who]])
        less, more = draw.choice([0.0, 1.0, 4.0, INF], 2)
        known.append((who, cell, max(low, a[cell] - less), min(high, a[cell] + more)))
    pairs = [(k, p) for k in range(len(view_of)) for p in sensitive if draw.random() < 0.8]
    w = _costs(draw, a)
    parts = {"status": status, "published": published, "w": w, "views": views, "view_of": view_of, "known": known}
    problem = made(n, relations, a, pairs, **parts)
    return changed(problem, **_levels(draw, problem, levels == "too much"))


def _statuses(draw: np.random.Generator, n: int, relations: list[Relation], sensitive: list[int]) -> np.ndarray:
    """Few enough cells that may be hidden, yet so that sensitive cells can move, if a few attempts find such cells."""
    M = np.zeros((len(relations), n))
    for e, relation in enumerate(relations):
        for s, c in relation:
            M[e, c] += s
    others = np.array([i for i in range(n) if i not in sensitive])
    sums = np.isin(others, [relation[0][1] for relation in relations])
    status = np.full(n, "s", dtype="<U1")
    for _ in range(40):
        order = others[np.argsort(draw.random(len(others)) + 0.7 * sums)]
        status[:] = "s"
        status[order[CHOICES:]] = "z"
        if draw.random() < 0.4:
            status[order[0]] = "m"
        if draw.random() < 0.3:
            status[order[1]] = "z"
        status[sensitive] = "u"
        free = np.flatnonzero(status != "z")
        _, values, directions = np.linalg.svd(M[:, free])
        still = directions[np.count_nonzero(values > 1e-9) :]
        if (np.abs(still[:, np.isin(free, sensitive)]).max(axis=0, initial=0.0) > 1e-9).all():
            break
    return status


def _values(draw: np.random.Generator, n: int, relations: list[Relation]) -> np.ndarray:
    kind = str(draw.choice(["whole", "sparse", "signed", "decimals", "uneven"]))
    a = {
        "whole": lambda: draw.integers(1, 30, n).astype(float),
        "sparse": lambda: draw.choice([0.0, 0.0, 1.0, 5.0, 12.0], n),
        "signed": lambda: draw.integers(-20, 21, n).astype(float),
        "decimals": lambda: draw.integers(1, 3000, n) / 100,
        "uneven": lambda: np.round(10.0 ** draw.uniform(0, 4, n)),
    }[kind]()
    for relation in [*reversed(relations)] * 3:  # sums of sums come later; where two disagree b takes the rest
        a[relation[0][1]] = sum(s * a[c] for s, c in relation[1:])
    return np.round(a, 6)


def _view(draw: np.random.Generator, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kind = str(draw.choice(["positive", "nothing", "halves", "near", "mixed"]))
    size = np.abs(a)
    low, high = {
        "positive": (np.minimum(a, 0.0), np.full(len(a), INF)),
        "nothing": (np.full(len(a), -INF), np.full(len(a), INF)),
        "halves": (a - size / 2, a + size),
        "near": (a - draw.integers(0, 8, len(a)), a + draw.integers(0, 8, len(a))),
        "mixed": (np.where(draw.random(len(a)) < 0.5, a - size / 2, -INF), np.where(size > 3, a + size, INF)),
    }[kind]
    return low, high


def _costs(draw: np.random.Generator, a: np.ndarray) -> np.ndarray:
    kind = str(draw.choice(["value", "one", "zeros", "any"]))
    return {
        "value": np.abs(a),
        "one": np.ones(len(a)),
        "zeros": draw.choice([0.0, 0.0, 1.0, 3.0], len(a)),
        "any": draw.integers(1, 9, len(a)).astype(float),
    }[kind]


def _levels(draw: np.random.Generator, problem: TableProblem, too_much: bool) -> dict[str, np.ndarray]:
    """Shares of what every pair gets with everything open; nothing that it cannot have, unless `too_much`."""
    oracle = Oracle(problem)
    far = 10.0 * max(float(np.abs(oracle.a).max(initial=0.0)), 1.0)
    out = np.zeros((3, len(oracle.pairs)))
    for pair, (_, cell) in enumerate(oracle.pairs):
        most = [oracle.reach(pair, side, oracle.everything(), far) for side in (DOWN, UP)]
        usual = max(abs(oracle.a[cell]), 1.0)
        have = np.array([min(m, usual) if m >= 1e-3 else 0.0 for m in most])
        out[:2, pair] = have * draw.choice([0.0, 0.2, 0.5, 0.9, 1.0], 2)
        out[2, pair] = have.sum() * draw.choice([0.0, 0.0, 0.7, 0.95])
        if too_much and draw.random() < 0.5:
            side = int(draw.integers(2))
            out[side, pair] = 1.3 * most[side] if 0 < most[side] < far else out[side, pair] + (most[side] == 0)
    return {"lpl": out[0], "upl": out[1], "spl": out[2]}
