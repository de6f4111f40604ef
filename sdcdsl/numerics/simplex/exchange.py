"""The step of all primal simplex methods here: one row enters the basis for another."""

from __future__ import annotations

from sdcdsl.numerics.compiled import reordering_kernel


@reordering_kernel
def exchange(w, steep, f, enter):
    """The row with coefficients f on the basis takes the place of the one that `enter` stands for. `w`: what is written
    in terms of the basis, a row each (the tableau, or the inverse alone); `steep`: the squared length of each."""
    moved = w[enter]
    inverse = 1.0 / f[enter]
    for q in range(len(f)):
        g = f[q] * inverse
        if q == enter or g == 0.0:
            continue
        other = w[q]
        length = 0.0
        for i in range(len(moved)):
            y = other[i] - g * moved[i]
            other[i] = y
            length += y * y
        steep[q] = length
    length = 0.0
    for i in range(len(moved)):
        y = moved[i] * inverse
        moved[i] = y
        length += y * y
    steep[enter] = length
