"""Why no table of multiples adds up, where that can be told without searching.

What must be published as it is has to fit the base: a relation between rounded cells and others holds only if those
others add up to a multiple.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.bind.naming import first_cells
from sdcdsl.methods.forms.forms import Forms

ROUNDING = 1e-6


def misfits(forms: Forms) -> list[str]:
    """Cells that no table of multiples fits, in sentences."""
    i, at = forms.instance, forms.at
    rounded = at.base > 0
    bases = np.unique(at.base[rounded])
    if len(bases) != 1:
        return []
    r = float(bases[0])
    settled = ~rounded & ~forms.open
    M = csr_array(i.M)
    loose = np.flatnonzero(~rounded & ~settled)
    held = np.ones(i.m, dtype=bool)
    held[np.unique(csc_array(M)[:, loose].indices)] = False
    whole = np.abs(np.mod(M.data, 1.0)) == 0
    held &= np.bincount(np.repeat(np.arange(i.m), np.diff(M.indptr)), weights=~whole, minlength=i.m) == 0
    with_rounded = (abs(M) @ rounded.astype(float)) > 0
    left = i.problem.dataset["b"].values - M @ np.where(settled, i.a, 0.0)
    off = np.abs(left / r - np.round(left / r)) > ROUNDING
    rows = np.flatnonzero(held & with_rounded & off)
    if not len(rows):
        return []
    cells = np.unique(M[rows].indices)
    cells = cells[settled[cells]]
    if not len(cells):
        return [f"relations that do not add up to multiples of {r:g}: {len(rows):,}"]
    names = first_cells(cells, i.problem.label)
    return [f"{names}: published as they are, and no multiples of {r:g} add up with them"]
