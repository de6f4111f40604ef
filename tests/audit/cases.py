"""Random small problems with several attackers, sliding levels and a release; what the exact oracle says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from hypothesis import strategies as st

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.relations import Relations
from sdcdsl.pattern import Pattern, combined, hidden, intervals, rounded
from tests.attack.oracle import INF, Number, System, protected, simplex_range, whole
from tests.attack.tables import VALUES, World, boxes, worlds

Known = dict[tuple[int, int], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Case:
    world: World
    views: list[tuple[np.ndarray, np.ndarray]]
    view_of: list[int]
    known: Known  # what one attacker knows about one cell beyond its view
    sensitive: list[int]
    pairs: list[tuple[int, int]]  # attacker, cell
    levels: list[tuple[float, float, float]]
    pattern: Pattern

    def system(self, attacker: int) -> System:
        low, high = self.knows(attacker)
        return self.world.system(*self.pattern.seen(low, high))

    def knows(self, attacker: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = (side.copy() for side in self.views[self.view_of[attacker]])
        for (who, cell), ends in self.known.items():
            if who == attacker:
                low[cell], high[cell] = ends
        return low, high

    @cached_property
    def ends(self) -> list[tuple[Number, Number]]:
        systems = [self.system(k) for k in range(len(self.view_of))]
        return [simplex_range(systems[k], p) for k, p in self.pairs]

    def verdicts(self, integer: bool = False) -> list[str]:
        out = []
        for (_, p), levels, ends in zip(self.pairs, self.levels, self.ends, strict=True):
            seen = whole(ends) if integer else ends
            out.append("p" if protected(seen, float(self.world.a[p]), *levels) else "e")
        return out

    @cached_property
    def problem(self) -> TableProblem:
        return problem_of(self)


def problem_of(case: Case) -> TableProblem:
    world, n = case.world, case.world.n
    system = world.system(world.a, world.a)
    m = len(world.relations)
    b = np.concatenate([system.b, np.zeros(m - len(system.b))])
    status = np.full(n, "s", dtype="<U1")
    status[case.sensitive] = "u"
    lpl, upl, spl = (np.array([levels[i] for levels in case.levels], dtype=np.float64) for i in range(3))
    known = list(case.known.items())
    dataset = xr.Dataset(
        {
            "a": ("cell", world.a),
            "lb": ("cell", np.full(n, -INF)),
            "ub": ("cell", np.full(n, INF)),
            "w": ("cell", np.ones(n)),
            "status": ("cell", status),
            "needed_lower": ("cell", np.zeros(n)),
            "needed_upper": ("cell", np.zeros(n)),
            "published": ("cell", np.ones(n, dtype=bool)),
            "coefficient": ("entry", system.coefficient),
            "cell_of": ("entry", system.cell_of),
            "equation_of": ("entry", system.equation_of),
            "b": ("equation", b),
            "lpl": ("pair", lpl),
            "upl": ("pair", upl),
            "spl": ("pair", spl),
            "cell_at": ("pair", np.array([p for _, p in case.pairs], dtype=np.int64)),
            "attacker_at": ("pair", np.array([k for k, _ in case.pairs], dtype=np.int64)),
            "low": (("view", "cell"), np.stack([low for low, _ in case.views])),
            "high": (("view", "cell"), np.stack([high for _, high in case.views])),
            "view_of": ("attacker", np.array(case.view_of, dtype=np.int64)),
            "known_attacker": ("known", np.array([k for (k, _), _ in known], dtype=np.int64)),
            "known_cell": ("known", np.array([p for (_, p), _ in known], dtype=np.int64)),
            "known_low": ("known", np.array([low for _, (low, _) in known], dtype=np.float64)),
            "known_high": ("known", np.array([high for _, (_, high) in known], dtype=np.float64)),
        },
        attrs={"integer": int(bool(np.all(world.a == np.round(world.a)))), "name": "case"},
    )
    made = Relations(system.coefficient, system.cell_of, system.equation_of, b, n)
    names = tuple(f"attacker {k}" for k in range(len(case.view_of)))
    return TableProblem("case", dataset, lambda cell: f"cell {cell}", (), made, names)


@st.composite
def patterns(draw, a: np.ndarray) -> Pattern:
    """Some cells hidden, some given as intervals, some rounded; always true."""
    mostly = st.sampled_from([True, True, True, False])
    cells = st.lists(mostly, min_size=len(a), max_size=len(a)).map(np.array)
    kind = draw(st.sampled_from(["hidden", "all", "none", "intervals", "rounded", "combined"]))
    if kind in ("all", "none"):
        return hidden(a, np.full(len(a), kind == "all"))
    suppressed = hidden(a, draw(cells))
    boxed = intervals(*draw(boxes(a, ["intervals", "halves", "anything"])))
    base = draw(st.sampled_from([0.0, 3.0, 5.0])) * np.ones(len(a))
    with np.errstate(divide="ignore", invalid="ignore"):
        round_ = rounded(np.where(base > 0, np.round(a / np.where(base > 0, base, 1.0)) * base, a), base)
    return {
        "hidden": suppressed,
        "intervals": boxed,
        "rounded": round_,
        "combined": combined([(np.ones(len(a), dtype=bool), suppressed), (draw(cells), boxed), (draw(cells), round_)]),
    }[kind]


def asked(draw, ends: tuple[Number, Number], a: float) -> tuple[float, float, float]:
    """Levels around what the release really gives: exactly that, less, a little more, or nothing at all."""
    low, high = ends
    out = []
    for slack in (a - float(low), float(high) - a, float(high) - float(low)):
        factor = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0, 1.001, 3.0]))
        given = 0.0 if slack < 1e-6 and factor <= 1 else factor * slack if 1e-6 <= slack < INF else 4.0 * factor
        out.append(given)
    return out[0], out[1], out[2]


@st.composite
def cases(draw, kinds: Sequence[str] = tuple(VALUES)) -> Case:
    world = draw(worlds(kinds))
    a, n = world.a, world.n
    moods = ["wide open", "all hidden", "halves", "rays", "anything"]
    views = [draw(boxes(a, moods)) for _ in range(draw(st.integers(1, 2)))]
    view_of = [draw(st.integers(0, len(views) - 1)) for _ in range(draw(st.integers(1, 3)))]
    known: Known = {}
    for _ in range(draw(st.integers(0, 3))):
        who, cell = draw(st.integers(0, len(view_of) - 1)), draw(st.integers(0, n - 1))
        low, high = (float(side[cell]) for side in views[view_of[who]])
        less, more = draw(st.sampled_from([0.0, 1.0, INF])), draw(st.sampled_from([0.0, 2.0, INF]))
        known[who, cell] = max(low, float(a[cell]) - less), min(high, float(a[cell]) + more)
    pattern = draw(patterns(a))
    sensitive = sorted(draw(st.sets(st.integers(0, n - 1), min_size=draw(st.sampled_from([0, 1, 1, 1])), max_size=3)))
    every = [(k, p) for k in range(len(view_of)) for p in sensitive]
    pairs = [pair for pair in every if draw(st.integers(0, 9))] if every else []
    bare = Case(world, views, view_of, known, sensitive, pairs, [(0.0, 0.0, 0.0)] * len(pairs), pattern)
    levels = [asked(draw, ends, float(a[p])) for (_, p), ends in zip(pairs, bare.ends, strict=True)]
    return Case(world, views, view_of, known, sensitive, pairs, levels, pattern)
