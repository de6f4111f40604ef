"""Tables small enough to work everything out by hand."""

from __future__ import annotations

import numpy as np
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.relations import Relations


def table(
    a: list[float],
    relations: list[dict[int, float]],
    levels: dict[int, tuple[float, float]],
    *,
    stays: tuple[int, ...] = (),
    sums: tuple[int, ...] = (),
    high: float = np.inf,
) -> TableProblem:
    """`relations`: coefficients by cell; `levels`: lpl and upl by cell; `stays` must be published as they are; `sums`
    exist only to be protected."""
    n = len(a)
    entries = [(row, cell, value) for row, line in enumerate(relations) for cell, value in line.items()]
    equation, cell, coefficient = (np.array(column) for column in zip(*entries, strict=True))
    status = np.full(n, "s", dtype="<U1")
    status[list(levels)] = "u"
    status[list(stays)] = "z"
    zero, none = np.zeros(n), np.zeros(0)
    dataset = xr.Dataset(
        {
            "a": ("cell", np.array(a, dtype=float)),
            "lb": ("cell", zero),
            "ub": ("cell", zero + high),
            "w": ("cell", np.ones(n)),
            "status": ("cell", status),
            "published": ("cell", ~np.isin(np.arange(n), sums)),
            "coefficient": ("entry", coefficient),
            "cell_of": ("entry", cell),
            "equation_of": ("entry", equation),
            "b": ("equation", np.zeros(len(relations))),
            "lpl": ("pair", np.array([lpl for lpl, _ in levels.values()], dtype=float)),
            "upl": ("pair", np.array([upl for _, upl in levels.values()], dtype=float)),
            "spl": ("pair", np.zeros(len(levels))),
            "cell_at": ("pair", np.array(list(levels), dtype=np.int64)),
            "attacker_at": ("pair", np.zeros(len(levels), dtype=np.int64)),
            "low": (("view", "cell"), zero[None]),
            "high": (("view", "cell"), zero[None] + high),
            "view_of": ("attacker", np.zeros(1, dtype=np.int64)),
            **{name: ("known", none.astype(np.int64)) for name in ("known_attacker", "known_cell")},
            **dict.fromkeys(("known_low", "known_high"), ("known", none)),
        },
        attrs={"integer": 0, "name": "by hand"},
    )
    made = Relations(coefficient, cell, equation, np.zeros(len(relations)), n)
    return TableProblem("by hand", dataset, lambda i: f"cell {i}", (), made, ("external",))


def line(**changes) -> TableProblem:
    """10 + 20 = 30; the first is sensitive, 1 down or 2 up.

    With weights 1/a the closest table with the first cell up is 12, 20, 32: it costs 2/10 + 2/30, and taking the 2 from
    the second cell 2/10 + 2/20.
    """
    return table([10, 20, 30], [{0: 1.0, 1: 1.0, 2: -1.0}], {0: (1.0, 2.0)}, **changes)


RELEASED = np.array([12.0, 20.0, 32.0])
