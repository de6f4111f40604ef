"""A mixture of forms (paper 003 §7): every cell is published in the form of the part it belongs to.

    exact      as it is                         interval   [a_i - z_i⁻, a_i + z_i⁺]
    suppress   as it is, or hidden              perturb    a value at most so far from the true one
                                                round      a multiple of a base

Attackers see M y = b with the box of each cell's own form (the paper's mixed system has its two index sets swapped).
Cells that no part speaks of are published as they are. Caps count hidden cells, intervals and changed values, overall
and by part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.forms.shape import Shape, new_forms
from sdcdsl.methods.published_amounts import public


def shape(problem: TableProblem, options: Mapping[str, Any]) -> Shape:
    n = problem.n
    perturb, base = _amount(n, options.get("perturb")), public(_amount(n, options.get("round")))
    caps = {name: list(_caps(n, options.get(name))) for name in ("cap_hidden", "cap_intervals", "cap_changed")}
    levels = [problem.dataset[name].values for name in ("lpl", "upl", "spl")]
    forms = new_forms(problem, *levels, perturb, base)
    instance = forms.instance
    may = instance.may_open & ~instance.open_anyway
    rounded, changed = np.flatnonzero(may & (base > 0)), np.flatnonzero(may & (perturb > 0))
    hidden, wide = (np.flatnonzero(may & _cells(n, options.get(part))) for part in ("suppress", "interval"))
    forms.rounded(rounded, base, 0)
    moved = forms.perturbed(changed, perturb, perturb, np.zeros(n), bool(caps["cap_changed"]))
    x = forms.hidden(hidden)
    least = _amount_or_none(options.get("min_width"), n, 0.0)
    least = None if least is None else public(least)
    widest = _amount_or_none(options.get("cap_width"), n, np.inf)
    used = forms.interval(wide, least, widest, bool(caps["cap_intervals"]))
    # What a statement of the policy hides counts like what the method hides.
    suppressed = (problem.dataset["status"].values == "m") & problem.dataset["published"].values
    for name, cells, columns in (
        ("cap_hidden", hidden, x),
        ("cap_intervals", wide, used),
        ("cap_changed", changed, moved),
    ):
        for number, (most, where) in enumerate(caps[name]):
            inside = where[cells]
            left = most - (int((where & suppressed).sum()) if name == "cap_hidden" else 0)
            if columns is not None and inside.any():
                forms.into.total(f"{name} {number + 1}", columns[inside], float(left))
    forms.add_up()
    said = ((rounded, "rounded"), (changed, "perturbed"))
    return Shape(forms, tuple(f"{len(cells)} cells {word}" for cells, word in said if len(cells)))


def _cells(n: int, said: Any) -> np.ndarray:
    return np.zeros(n, dtype=bool) if said is None else np.broadcast_to(np.asarray(said, dtype=bool), (n,))


def _amount(n: int, said: Any) -> np.ndarray:
    return np.zeros(n) if said is None else np.nan_to_num(np.broadcast_to(np.asarray(said, dtype=float), (n,)), nan=0.0)


def _amount_or_none(said: Any, n: int, fill: float) -> np.ndarray | None:
    if said is None:
        return None
    amount = np.broadcast_to(np.asarray(said, dtype=float), (n,))
    return np.where(np.isnan(amount), fill, amount)


def _caps(n: int, said: Any) -> Iterator[tuple[float, np.ndarray]]:
    """A number for the whole table, or one with a condition for each statement."""
    if said is None:
        return
    if isinstance(said, tuple):
        yield from said
    else:
        yield said, np.ones(n, dtype=bool)
