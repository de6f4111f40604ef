"""Random small systems with everything that real tables bring: hierarchies, links, odd boxes, odd values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st

from tests.attack.oracle import System

INF = np.inf
Codes = Sequence[tuple[int, ...]]  # of one dimension: which codes each code adds up, nothing for a leaf
Relation = list[tuple[float, int]]


# ---- how cells add up --------------------------------------------------------------------------------------------


def cross(dimensions: Sequence[Codes]) -> tuple[int, list[Relation]]:
    """The cells of a table, last dimension fastest, and its relations: every sum of every dimension, everywhere."""
    shape = [len(codes) for codes in dimensions]
    number = np.arange(int(np.prod(shape))).reshape(shape)
    out: list[Relation] = []
    for d, codes in enumerate(dimensions):
        others = [range(1) if e == d else range(n) for e, n in enumerate(shape)]
        for parent, children in enumerate(codes):
            for at in product(*others) if children else ():
                place = [(*at[:d], code, *at[d + 1 :]) for code in (parent, *children)]
                out.append([(1.0 if i else -1.0, int(number[p])) for i, p in enumerate(place)])
    return number.size, out


def flat(n: int) -> Codes:
    return [tuple(range(1, n + 1)), *[()] * n]


TREES: list[Codes] = [
    [(1, 2), (3, 4), (), (), ()],  # one part is divided further
    [(1, 2), (3, 4), (5, 6), (), (), (), ()],
    [(1,), (2, 3), (), ()],  # a chain of one child
    [(1, 2), (), (3,), ()],
]


def linked(first: Codes, second: Codes, third: Codes) -> tuple[int, list[Relation]]:
    """A table first × second and another first × third that have the margin of `first` in common."""
    n, here = cross([first, second])
    _, there = cross([first, third])
    shared = {code * len(third): code * len(second) for code in range(len(first))}
    fresh = iter(range(n, n + len(first) * len(third)))
    number = [shared[c] if c in shared else next(fresh) for c in range(len(first) * len(third))]
    renamed = [[(s, number[c]) for s, c in relation] for relation in there]
    same = {tuple(sorted(r, key=lambda t: t[1])) for r in map(tuple, here)}
    return max(number) + 1, here + [r for r in renamed if tuple(sorted(r, key=lambda t: t[1])) not in same]


SHAPES = {
    "one dimension": lambda: cross([flat(4)]),
    "lone total": lambda: cross([flat(1)]),
    "2-D": lambda: cross([flat(2), flat(3)]),
    "3 × 3": lambda: cross([flat(3), flat(3)]),
    "3-D": lambda: cross([flat(2), flat(2), flat(1)]),
    "2 × 2 × 2": lambda: cross([flat(2), flat(2), flat(2)]),
    "hierarchy": lambda: cross([TREES[1], flat(1)]),
    "hierarchy × 2": lambda: cross([TREES[0], flat(2)]),
    "two hierarchies": lambda: cross([TREES[0], TREES[2]]),
    "chain": lambda: cross([TREES[2], TREES[3]]),
    "linked": lambda: linked(flat(2), flat(2), flat(2)),
    "linked hierarchy": lambda: linked(TREES[0], flat(1), flat(2)),
    "nothing adds up": lambda: (3, []),
}


@st.composite
def relations(draw) -> tuple[int, list[Relation]]:
    n, made = SHAPES[draw(st.sampled_from(list(SHAPES)))]()
    for oddity in draw(st.lists(st.sampled_from(["weights", "lost", "again", "loose", "minus"]), max_size=2)):
        if oddity == "loose":  # a cell in no relation
            n += 1
            continue
        if not made:
            continue
        at = draw(st.integers(0, len(made) - 1))
        if oddity == "weights":
            made[at] = [(s * draw(st.sampled_from([1.0, 2.0, 3.0, 0.5])), c) for s, c in made[at]]
        elif oddity == "lost":  # some cells went to the right-hand side
            gone = draw(st.sets(st.integers(0, n - 1), max_size=3))
            made = [[(s, c) for s, c in relation if c not in gone] for relation in made]
        elif oddity == "again":  # a relation said twice, once the other way round
            made = [*made, [(-s, c) for s, c in made[at]]]
        elif oddity == "minus":
            made[at] = [(-s if i == len(made[at]) - 1 else s, c) for i, (s, c) in enumerate(made[at])]
    return n, made


# ---- values and boxes ----------------------------------------------------------------------------------------------

VALUES = {
    "whole": st.integers(0, 30).map(float),
    "sparse": st.sampled_from([0.0, 0.0, 0.0, 1.0, 5.0]),
    "signed": st.integers(-20, 20).map(float),
    "decimals": st.integers(0, 3000).map(lambda v: v / 100),
    "large": st.integers(0, 10**6).map(lambda v: 1000.0 * v),
}

# From the true value and two random amounts to the ends of the box.
BOXES = {
    "published": lambda a, d, e: (a, a),
    "hidden": lambda a, d, e: (min(a, 0.0), INF),
    "no bounds": lambda a, d, e: (-INF, INF),
    "interval": lambda a, d, e: (a - d, a + e),
    "half to twice": lambda a, d, e: (min(a / 2, a * 2), max(a / 2, a * 2)),
    "not below": lambda a, d, e: (a, a + e),
    "not above": lambda a, d, e: (a - d, a),
    "up without end": lambda a, d, e: (a, INF),
    "down without end": lambda a, d, e: (-INF, a),
    "up to": lambda a, d, e: (min(a, 0.0), a + e),
}
MOOD = {
    "suppression": ["published", "hidden"],
    "wide open": ["hidden", "no bounds"],
    "all hidden": ["hidden"],
    "nothing hidden": ["published"],
    "intervals": ["published", "interval", "interval", "not below", "not above"],
    "halves": ["published", "half to twice"],
    "rays": ["published", "hidden", "no bounds", "up without end", "down without end"],
    "anything": list(BOXES),
}


@dataclass(frozen=True, eq=False)
class World:
    """Cells with values and relations; boxes come on top."""

    n: int
    relations: list[Relation]
    a: np.ndarray
    kind: str  # of values

    def system(self, low: np.ndarray, high: np.ndarray) -> System:
        terms = [(s, c, e) for e, relation in enumerate(self.relations) for s, c in relation]
        coefficient, cell_of, equation_of = zip(*terms, strict=True) if terms else ((), (), ())
        return System(
            self.a,
            np.array(coefficient, dtype=np.float64),
            np.array(cell_of, dtype=np.int64),
            np.array(equation_of, dtype=np.int64),
            low,
            high,
        )


@st.composite
def worlds(draw, kinds: Sequence[str] = tuple(VALUES)) -> World:
    """Values add up wherever a relation is a plain sum; elsewhere, as in links, b takes what is left."""
    n, made = draw(relations())
    kind = draw(st.sampled_from(list(kinds)))
    a = np.array(draw(st.lists(VALUES[kind], min_size=n, max_size=n)))
    # Deeper sums come later in every dimension; a few rounds backwards settle all plain tables.
    for relation in [*reversed(made)] * 3:
        if relation and relation[0][0] == -1.0:
            a[relation[0][1]] = sum(s * a[c] for s, c in relation[1:])
    return World(n, made, np.round(a, 6), kind)


@st.composite
def boxes(draw, a: np.ndarray, moods: Sequence[str] = tuple(MOOD)) -> tuple[np.ndarray, np.ndarray]:
    kinds = MOOD[draw(st.sampled_from(list(moods)))]
    scale = 1000.0 if np.abs(a).max(initial=0) > 10**5 else 1.0
    amount = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 7.0, 25.0]).map(lambda v: v * scale)
    ends = [BOXES[draw(st.sampled_from(kinds))](float(v), draw(amount), draw(amount)) for v in a]
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


@st.composite
def systems(draw, kinds: Sequence[str] = tuple(VALUES), moods: Sequence[str] = tuple(MOOD)) -> System:
    world = draw(worlds(kinds))
    return world.system(*draw(boxes(world.a, moods)))


# ---- the table everybody knows ---------------------------------------------------------------------------------------

COX = np.array([[190, 45, 101, 44], [80, 20, 50, 10], [49, 8, 19, 22], [61, 17, 32, 12]], dtype=np.float64)


def known_table() -> System:
    """I, II, III × A, B, C with II·A, II·C, III·A, III·C hidden from somebody who knows that nothing is negative."""
    n, made = cross([flat(3), flat(3)])
    world = World(n, made, COX.ravel(), "whole")
    hidden = np.zeros((4, 4), dtype=bool)
    hidden[np.ix_([2, 3], [1, 3])] = True
    return world.system(np.where(hidden, 0.0, COX).ravel(), np.where(hidden, INF, COX).ravel())
