"""Parts of a table that are loosely tied together by relations: few of the cells that may be hidden lead from one to
another.

The parts of a hierarchy meet in their sums. Sums are dear: once a good pattern is known, most of them are published in
every cheaper one, and what is left of the table falls apart, or nearly so. Whoever decides about one part then need
hardly look at the others, while a search over all of them at once tries every choice in one with every choice in the
others.

Relations are vertices here, cells that may be hidden join those they stand in. The second eigenvector of this graph
puts the relations in an order in which neighbours stand together; it is cut where the fewest cells are, for the smaller
side, and the sides are cut again.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sdcdsl.numerics.tuning import TUNING


def parts_of(relations: csr_array, open_cells: np.ndarray) -> list[np.ndarray]:
    """Cells by part, those that may be hidden and those that lead out of it included; one part if nothing is loose."""
    number = np.flatnonzero(open_cells)
    if len(relations.indptr) - 1 > TUNING.most_parted:
        return [number]
    here = csr_array((relations[:, number] != 0).astype(float))
    joined = (here @ here.T).toarray()
    np.fill_diagonal(joined, 0.0)
    pending, done = _components(joined), []
    while pending:
        part = pending.pop()
        sides = _halves(joined, part)
        if sides is None:
            done.append(part)
        else:
            pending += [side[c] for side in sides for c in _components(joined[np.ix_(side, side)])]
    cells = [number[np.unique(csr_array(here[np.sort(part)]).indices)] for part in done]
    return sorted((c for c in cells if len(c)), key=lambda c: int(c[0]))


def _components(joined: np.ndarray) -> list[np.ndarray]:
    count, label = connected_components(csr_array(joined), directed=False)
    return [np.flatnonzero(label == k) for k in range(count)]


def _halves(joined: np.ndarray, part: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Two sides that few cells join; None if there are no such sides."""
    if len(part) < 2 * TUNING.least_part:
        return None
    W = joined[np.ix_(part, part)]
    degree = W.sum(axis=1)
    root = 1 / np.sqrt(degree)
    _, vectors = np.linalg.eigh(np.eye(len(part)) - root[:, None] * W * root[None, :])
    order = np.argsort(root * vectors[:, 1], kind="stable")
    W, degree = W[np.ix_(order, order)], degree[order]
    inside = np.cumsum(degree)
    across = inside - 2 * np.cumsum(np.tril(W, -1).sum(axis=1))  # between the first k and the others
    smaller = np.minimum(inside, inside[-1] - inside)[TUNING.least_part - 1 : -TUNING.least_part]
    share = across[TUNING.least_part - 1 : -TUNING.least_part] / np.maximum(smaller, 1e-12)
    k = int(np.argmin(share)) if len(share) else 0
    if not len(share) or share[k] > TUNING.loose:
        return None
    return part[order[: k + TUNING.least_part]], part[order[k + TUNING.least_part :]]
