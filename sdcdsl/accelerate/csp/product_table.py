"""Tables whose cells are all combinations of the codes of hierarchies: how to read them from a problem.

In such a table every product of vectors that add up in the single dimensions adds up (`box_search`). Cells beyond the
lattice may be there if each is the sum of some of its cells (unions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.instance import Instance

SEED, MOST = 20, 50  # of the table that is tried: whole numbers up to here


@dataclass(frozen=True, eq=False)
class ProductTable:
    """Nodes are numbered through all dimensions; `stride` is what a node adds to the number of a cell."""

    parent: np.ndarray  # int64 [node]: -1 for totals
    part_start: np.ndarray  # int64 [node + 1]
    part: np.ndarray
    stride: np.ndarray
    first: np.ndarray  # int64 [dimension]: its first node
    codes: np.ndarray  # int64 [dimension]: how many nodes it has
    step: np.ndarray  # int64 [dimension]: how far apart neighbours are
    depth: np.ndarray  # int64 [dimension]: nodes on the longest way from a leaf to the total
    size: int  # cells of the lattice
    sums: csr_array  # [cell beyond the lattice, cell of the lattice]

    @staticmethod
    def of(instance: Instance) -> ProductTable | None:
        """None where the table is another one: several tables, several trees of a dimension, cells from a file."""
        of_one = {id(block.lattice): block.lattice for block in instance.problem.relations.blocks}
        lattice = next(iter(of_one.values()), None)
        if lattice is None or len(of_one) > 1 or not 0 < lattice.size <= instance.n:
            return None
        trees = [_tree(c.parent, c.child, c.row_of, c.sign, c.size) for c in lattice.compositions]
        parents = [tree for tree in trees if tree is not None]
        sums = _sums(instance, lattice.size)
        if len(parents) < len(trees) or sums is None:
            return None
        made = _numbered(parents, np.array(lattice.shape), np.array(lattice.stride), lattice.size, sums)
        return made if made.holds(instance.M) else None

    def holds(self, M: csr_array) -> bool:
        """Whether tables that are added up along these trees satisfy the relations: a random one does, in whole
        numbers."""
        lattice = np.random.default_rng(SEED).integers(1, MOST, self.codes).astype(float)
        for k in range(len(self.codes)):
            along = np.moveaxis(lattice, k, 0)
            nodes = np.arange(self.first[k], self.first[k] + self.codes[k])
            for node in _upwards(self.parent, self.part_start, nodes):
                parts = self.part[self.part_start[node] : self.part_start[node + 1]]
                along[node - self.first[k]] = along[parts - self.first[k]].sum(axis=0)
        d = lattice.ravel()
        return not (M @ np.concatenate([d, self.sums @ d])).any()


def _tree(parent: np.ndarray, child: np.ndarray, row: np.ndarray, sign: np.ndarray, codes: int) -> np.ndarray | None:
    """The parent of each code; None where a code has several, or counts negatively."""
    above = np.full(codes, -1, dtype=np.int64)
    above[child] = parent[row]
    single = len(np.unique(child)) == len(child) and len(np.unique(parent)) == len(parent)
    return above if single and (sign == 1).all() else None


def _upwards(parent: np.ndarray, part_start: np.ndarray, nodes: np.ndarray) -> list[int]:
    """Nodes with parts, all parts before what they add up to."""
    depth = {int(node): _depth(parent, int(node)) for node in nodes if part_start[node + 1] > part_start[node]}
    return sorted(depth, key=lambda node: -depth[node])


def _depth(parent: np.ndarray, node: int) -> int:
    depth = 1
    while parent[node] >= 0:
        node, depth = int(parent[node]), depth + 1
    return depth


def _sums(instance: Instance, size: int) -> csr_array | None:
    """Members of the cells beyond the lattice: each stands in one relation, with cells of the lattice alone."""
    beyond = instance.n - size
    M = instance.M
    rows = M[:, np.arange(size, instance.n)].tocoo() if beyond else None
    if rows is None:
        return csr_array((0, size))
    if len(rows.col) != beyond or len(np.unique(rows.col)) != beyond or len(np.unique(rows.row)) != beyond:
        return None
    order = np.argsort(rows.col)
    members = csr_array(M[rows.row[order]][:, np.arange(size)])
    return csr_array(members.multiply((-1.0 / rows.data[order])[:, None]))


def _numbered(parents: list[np.ndarray], shape: np.ndarray, step: np.ndarray, size: int, sums: csr_array):
    first = np.cumsum([0, *shape[:-1]])
    parent = np.concatenate([np.where(p >= 0, p + f, -1) for p, f in zip(parents, first, strict=True)])
    below = np.flatnonzero(parent >= 0)
    order = below[np.argsort(parent[below], kind="stable")]
    start = np.searchsorted(parent[order], np.arange(len(parent) + 1))
    stride = np.concatenate([np.arange(n) * s for n, s in zip(shape, step, strict=True)])
    depth = [max(_depth(parent, int(node)) for node in range(f, f + n)) for f, n in zip(first, shape, strict=True)]
    return ProductTable(parent, start, order, stride, first, shape, step, np.array(depth), size, sums)
