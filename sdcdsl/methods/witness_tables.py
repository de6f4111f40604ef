"""What the first models of paper 003 (Figures 3 and 6) have in common: a witness table for every level.

    f^kp  for each attacker k and cell p with an upper or sliding level, g^kp for each with a lower or sliding one

    M f = b,   M g = b                                             "high table adds up", "low table adds up"
    f_p ≥ a_p + UPL,   g_p ≤ a_p - LPL,   f_p - g_p ≥ SPL          "up far enough", "down far enough", "wide enough"
    for conditional levels (x_p: p is touched, hidden or has an interval)
    f_p ≥ a_p + UPL x_p                                            "up far enough if touched"
    g_p ≤ a_p - LPL x_p                                            "down far enough if touched"
    f_p - g_p ≥ SPL x_p                                            "wide enough if touched"

Written for d = f - a, so that M d = 0, and with d in units of the level. What is said about single cells (they are
hidden, they have an interval) is up to the method.

**How large bounds must be.** Where LB or UB is large or infinite and stands before a binary, a solver's tolerance for
whole numbers leaks: 1e-6 of 1e9 protects a cell that is not hidden. The bounds are made as small as they can be:

* d_p need not exceed max(UPL, SPL): a witness that goes further can be shortened, since 0 is allowed everywhere;
* what the relations leave of the others' bounds is worked out by putting bounds into relations, a few times over;
* a witness is a sum of circuits through p that do not work against each other. In a network a circuit changes all its
  cells by the same amount, so that no bound above the level is ever needed. Elsewhere a circuit may change a cell by a
  multiple of what it changes p; `STRETCH` times the level is taken for enough. Should it not be, the model requires
  more than it must: a pattern is safe in any case, and may cost more than the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.modelling import relation_sums
from sdcdsl.methods.tuning import TUNING
from sdcdsl.numerics.flow.network import as_network

if TYPE_CHECKING:
    import linopy

STRETCH = 64.0
MOST_VARIABLES = 20_000_000
ROUNDING = 1e-12


def entries(problem: TableProblem) -> int:
    """Of all witness tables: the size of a model."""
    lpl, upl, spl = (problem.dataset[level].values for level in ("lpl", "upl", "spl"))
    return int(sum(((level > 0) | (spl > 0)).sum() for level in (lpl, upl))) * problem.n


def too_many_variables(problem: TableProblem) -> str | None:
    """Why the model of a problem is too large to be written down, in a sentence."""
    count = entries(problem)
    if count <= MOST_VARIABLES:
        return None
    return f"the full model of `{problem.name}` would have {count:,} variables".replace(",", " ")


@dataclass(frozen=True, eq=False)
class WitnessTables:
    """The tables f ("high") or g ("low") of a model: d [pair, cell], with the bounds of each attacker."""

    name: str
    d: linopy.Variable
    LB: xr.DataArray  # [pair, cell], finite
    UB: xr.DataArray
    scaling: xr.DataArray  # [pair]: one over the level


class ModelCells:
    """The cells that may be touched, in the order of a model's dimension `cell`, and the relations between them."""

    def __init__(self, instance: Instance):
        self.instance = instance
        self.cells: np.ndarray = np.flatnonzero(instance.may_open)

    @cached_property
    def relations(self) -> csr_array:
        """M for these cells, without empty rows."""
        relations = csr_array(self.instance.M[:, self.cells])
        relations.eliminate_zeros()
        return csr_array(relations[np.flatnonzero(np.diff(relations.indptr))])

    @cached_property
    def stretch(self) -> float:
        """How many times its level a cell may have to move, at most."""
        entries: Any = self.relations.tocoo()
        whole = np.array_equal(entries.data, np.sign(entries.data))
        rows = len(self.relations.indptr) - 1
        network = as_network(entries.data, entries.col, entries.row, len(self.cells), rows) if whole else None
        return STRETCH if network is None else 1.0

    def over_cells(self, of_all: np.ndarray) -> xr.DataArray:
        """Numbers of all cells, for those of the model."""
        return xr.DataArray(of_all[self.cells], dims="cell", coords={"cell": self.cells})


def tables(model: linopy.Model, of: ModelCells, side: int, clipped: bool) -> WitnessTables | None:
    """Adds the tables of one side, with levels and relations; None if no pair needs one. `clipped`: LB and UB will
    stand before binaries, and are made small."""
    instance = of.instance
    level, slide = instance.level[side], instance.slide
    pairs = np.flatnonzero((level > 0) | (slide > 0))
    if not len(pairs):
        return None
    reach = np.maximum(level, slide)[pairs]
    LB, UB = _bounds(of, side, pairs, reach, clipped)
    name, high = ("f", "high") if side == UP else ("g", "low")
    over = {"pair": pairs, "cell": of.cells}
    lower, upper = (xr.DataArray(ends, coords=over, dims=("pair", "cell")) for ends in (-LB, UB))
    scaling = xr.DataArray(1.0 / reach, coords={"pair": pairs}, dims="pair")
    d = model.add_variables(lower=lower, upper=upper, name=name, scaling=scaling.broadcast_like(lower))
    if of.relations.nnz:
        sums, _ = relation_sums(of.relations, d)
        model.add_constraints(sums == 0, name=f"{high} table adds up", scaling=scaling)
    required = np.flatnonzero((level[pairs] > 0) & ~instance.conditional[pairs])
    if len(required):
        own = _own(of, d, pairs[required], required)
        need = xr.DataArray(level[pairs[required]], dims="pair", coords={"pair": pairs[required]})
        far = own >= need if side == UP else own <= -need
        model.add_constraints(far, name=f"{'up' if side == UP else 'down'} far enough", scaling=1.0 / need)
    return WitnessTables(name, d, -lower, upper, scaling)


def wide_enough(model: linopy.Model, of: ModelCells, f: WitnessTables | None, g: WitnessTables | None) -> None:
    """f_p - g_p ≥ SPL."""
    instance = of.instance
    pairs = np.flatnonzero((instance.slide > 0) & ~instance.conditional)
    if f is None or g is None or not len(pairs):
        return
    high, low = (_own(of, t.d, pairs, np.searchsorted(t.scaling["pair"].values, pairs)) for t in (f, g))
    need = xr.DataArray(instance.slide[pairs], dims="pair", coords={"pair": pairs})
    model.add_constraints(high - low >= need, name="wide enough", scaling=1.0 / need)


def if_touched(
    model: linopy.Model,
    of: ModelCells,
    f: WitnessTables | None,
    g: WitnessTables | None,
    x: linopy.Variable,
    word: str = "touched",
) -> None:
    """Conditional levels of the cells that x is about: f_p ≥ a_p + UPL x_p, g_p ≤ a_p - LPL x_p, f_p - g_p ≥ SPL x_p.
    `word`: what x says of a cell."""
    instance = of.instance
    mine = instance.conditional & np.isin(instance.pair_cell, x.indexes["cell"].to_numpy())
    required = ((g, instance.level[DOWN], "down far"), (f, instance.level[UP], "up far"), (f, instance.slide, "wide"))
    for t, level, how in required:
        pairs = np.flatnonzero((level > 0) & mine)
        if t is None or not len(pairs):
            continue
        cells = xr.DataArray(instance.pair_cell[pairs], {"pair": pairs}, "pair")
        need = xr.DataArray(level[pairs], dims="pair", coords={"pair": pairs})
        own = {
            at.name: _own(of, at.d, pairs, np.searchsorted(at.scaling["pair"].values, pairs))
            for at in (f, g)
            if at is not None and (at is t or level is instance.slide)
        }
        far = own["f"] - own["g"] if len(own) > 1 else own["f"] if t is f else -1 * own["g"]
        touched = (need * x.sel(cell=cells)).drop_vars("cell")
        model.add_constraints(far - touched >= 0, name=f"{how} enough if {word}", scaling=1.0 / need)


def _own(of: ModelCells, d: linopy.Variable, pairs: np.ndarray, where: np.ndarray) -> linopy.LinearExpression:
    """d of each pair's own cell; `where` the pairs stand in d."""
    own = np.searchsorted(of.cells, of.instance.pair_cell[pairs])
    named = {"pair": pairs}
    chosen = d.isel(pair=xr.DataArray(where, named, "pair"), cell=xr.DataArray(own, named, "pair"))
    return (1 * chosen).drop_vars("cell")


def _bounds(
    of: ModelCells, side: int, pairs: np.ndarray, reach: np.ndarray, clipped: bool
) -> tuple[np.ndarray, np.ndarray]:
    """LB and UB of each pair's attacker, in the model's cells."""
    instance = of.instance
    LB, UB = np.empty((len(pairs), len(of.cells))), np.empty((len(pairs), len(of.cells)))
    for row, (pair, most) in enumerate(zip(pairs, reach, strict=True)):
        down, up = (slack[of.cells].copy() for slack in instance.slack(int(instance.pair_attacker[pair])))
        own = int(np.searchsorted(of.cells, instance.pair_cell[pair]))
        if side == UP:
            down[own], up[own] = 0.0, min(up[own], most)
        else:
            down[own], up[own] = min(down[own], most), 0.0
        if clipped:
            _tighten(of.relations, down, up)
            np.minimum(down, of.stretch * most, out=down)
            np.minimum(up, of.stretch * most, out=up)
        LB[row], UB[row] = down, up
    return LB, UB


def _tighten(M: csr_array, down: np.ndarray, up: np.ndarray) -> None:
    """Bounds -down ≤ d ≤ up put into the relations M d = 0, in place: m_j d_j = -Σ of the others."""
    entry: Any = M.tocoo()
    row, col, m, rows = entry.row, entry.col, entry.data, len(M.indptr) - 1
    for _ in range(TUNING.witness_rounds):
        most = _products(m, up[col], down[col])
        least = _products(-m, up[col], down[col])  # the most of -m d
        high, low = _others(most, row, rows), _others(least, row, rows)
        # m d ≤ most the others can be of their negative: `low`; m d ≥ -`high`.
        new_up, new_down = np.where(m > 0, low, high) / np.abs(m), np.where(m > 0, high, low) / np.abs(m)
        before = up.copy(), down.copy()
        np.minimum.at(up, col, np.maximum(new_up, 0.0))
        np.minimum.at(down, col, np.maximum(new_down, 0.0))
        if np.array_equal(before[0], up) and np.array_equal(before[1], down):
            return


def _products(m: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """The most that m d can be; never 0 · inf."""
    return np.abs(m) * np.where(m > 0, up, down)


def _others(amount: np.ndarray, row: np.ndarray, rows: int) -> np.ndarray:
    """Σ of the other entries in the same row; infinities are counted, not subtracted."""
    endless = np.isinf(amount)
    finite = np.where(endless, 0.0, amount)
    total = np.bincount(row, finite, minlength=rows)[row]
    count = np.bincount(row, endless, minlength=rows)[row] - endless
    rest = total - finite + ROUNDING * total  # bounds may be a little too large, never too small
    return np.where(count > 0, np.inf, np.maximum(rest, 0.0))
