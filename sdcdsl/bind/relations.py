"""The additive relations of a table as one sparse system M a = b, in coordinate form.

Convention: the row of a relation `total = Σ sign · part` has coefficient -1 for the total, `sign` for the parts and
right-hand side 0. Every row of every tree of a dimension holds for every combination of codes of the other dimensions.

Rows are numbered dimension by dimension (a *block* each), within a block by relation of the dimension and then by the
codes of the other dimensions in lattice order. Labels are therefore computed from the number, not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.bind.lattice import Lattice
from sdcdsl.diagnostics.foreign import visible


@dataclass(frozen=True, eq=False)
class RelationBlock:
    """The relations of one dimension of one table: equations `start` to `start + rows · others`."""

    lattice: Lattice
    d: int
    start: int

    @property
    def others(self) -> int:
        return self.lattice.size // self.lattice.shape[self.d]

    @property
    def rows(self) -> int:
        return len(self.lattice.compositions[self.d].parent)

    @property
    def stop(self) -> int:
        return self.start + self.rows * self.others


@dataclass(frozen=True)
class RelationLabel:
    """Which relation an equation is: `code` of `dimension` sums up, in `tree`, at these codes of the others."""

    dimension: str
    code: str
    tree: str
    others: dict[str, str]

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {code}" for name, code in self.others.items())
        return visible(f"{self.dimension} = {self.code} adds up" + (f" at {place}" if place else ""))


@dataclass(frozen=True, eq=False)
class Relations:
    coefficient: np.ndarray  # float64 [entry]
    cell_of: np.ndarray  # int32 or int64 [entry]
    equation_of: np.ndarray  # int32 or int64 [entry]
    rhs: np.ndarray  # float64 [equation]
    cells: int
    blocks: tuple[RelationBlock, ...] = ()  # empty for systems that come from a file
    number: np.ndarray | None = None  # int64 [equation]: its number before some were left out, which the blocks know

    def label(self, equation: int) -> RelationLabel | None:
        """None for an equation that belongs to no table (read from a file, or added)."""
        if self.number is not None:
            equation = int(self.number[equation]) if equation < len(self.number) else -1
        block = next((b for b in self.blocks if b.start <= equation < b.stop), None)
        if block is None:
            return None
        row, other = divmod(int(equation) - block.start, block.others)
        lattice, d = block.lattice, block.d
        composition = lattice.compositions[d]
        above, below = divmod(other, lattice.stride[d])
        codes = lattice.codes((above * lattice.shape[d] + int(composition.parent[row])) * lattice.stride[d] + below)
        name = lattice.dimensions[d].name
        tree = lattice.dimensions[d].trees[composition.tree[row]].name
        return RelationLabel(name, codes.pop(name), tree, codes)


def relations(lattice: Lattice) -> Relations:
    """All relations of a table, each once. Nothing loops over cells."""
    index = np.int32 if max(lattice.size, _equations(lattice)) < 2**31 else np.int64
    entries = sum((len(c.parent) + len(c.child)) * (lattice.size // c.size) for c in lattice.compositions)
    coefficient = np.empty(entries)
    cell_of = np.empty(entries, dtype=index)
    equation_of = np.empty(entries, dtype=index)
    blocks: list[RelationBlock] = []
    entry = equation = 0
    for d, composition in enumerate(lattice.compositions):
        block = RelationBlock(lattice, d, equation)
        row, code, sign = _with_totals(composition)
        stride, others = lattice.stride[d], block.others
        above = np.arange(others // stride, dtype=index) * index(lattice.shape[d] * stride)
        elsewhere = (above[:, None] + np.arange(stride, dtype=index)).ravel()
        part = slice(entry, entry + len(row) * others)
        shape = (len(row), others)
        np.add((code * stride).astype(index)[:, None], elsewhere, out=cell_of[part].reshape(shape))
        first = (equation + row * others).astype(index)
        np.add(first[:, None], np.arange(others, dtype=index), out=equation_of[part].reshape(shape))
        coefficient[part].reshape(shape)[:] = sign[:, None]
        blocks.append(block)
        entry, equation = part.stop, block.stop
    return Relations(coefficient, cell_of, equation_of, np.zeros(equation), lattice.size, tuple(blocks))


def _equations(lattice: Lattice) -> int:
    return sum(len(c.parent) * (lattice.size // c.size) for c in lattice.compositions)


def _with_totals(composition) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, code and coefficient of a dimension's own relations, each row's total before its parts."""
    row = np.concatenate([np.arange(len(composition.parent)), composition.row_of])
    code = np.concatenate([composition.parent, composition.child])
    sign = np.concatenate([-np.ones(len(composition.parent)), composition.sign])
    order = np.argsort(row, kind="stable")
    return row[order], code[order], sign[order]


def redundant(made: Relations) -> np.ndarray:
    """Marks equations that the unmarked ones imply, whatever the values are. Proved for products of trees:

    Keep the equation of row r of dimension d at the codes (c_e), e ≠ d, iff r defines its code and every c_e with e > d
    is a leaf.

    * The kept equations imply all others. Go through the dimensions in order. Cells with leaves everywhere are free.
      Suppose the cells with any codes in dimensions < d and leaves from d on are determined; the kept equations of
      dimension d, children before parents, determine the cells with any codes in dimensions ≤ d and leaves after d. So
      the kept equations fix every cell as one linear function of the leaf cells: their solution space has dimension
      Π L_e, with L_e leaves in dimension e. The value they give, Σ over leaf cells of the products of signs, satisfies
      *all* relations that agree with the definitions (`Composition.agrees`): the full system has the same solutions.
    * None of the kept ones is redundant: there are Σ_d (Π_{e<d} n_e) (n_d - L_d) (Π_{e>d} L_e) of them, which
      telescopes to Π n_e - Π L_e, the rank.

    The claim is per table. It stays valid when tables are linked, since each table's dropped relations follow from the
    same table's kept ones; but the kept ones of linked tables may have redundancy among them that is not found here.
    A row that does not agree with the definitions is never marked.
    """
    drop = np.zeros(len(made.rhs), dtype=bool)
    for block in made.blocks:
        lattice, d = block.lattice, block.d
        composition = lattice.compositions[d]
        after = np.ones(1, dtype=bool)
        for e in range(d + 1, len(lattice.shape)):
            after = np.logical_and.outer(after, lattice.compositions[e].is_leaf).ravel()
        at_leaves = np.tile(after, block.others // lattice.stride[d])
        keep = composition.defines[:, None] & at_leaves
        keep |= ~composition.agrees[:, None]
        drop[block.start : block.stop] = ~keep.ravel()
    return drop


def select(made: Relations, keep: np.ndarray) -> Relations:
    """Only the equations marked in `keep`, renumbered; they keep their labels."""
    number = np.cumsum(keep) - 1
    before = np.flatnonzero(keep)
    chosen = keep[made.equation_of]
    return Relations(
        made.coefficient[chosen],
        made.cell_of[chosen],
        number[made.equation_of[chosen]].astype(made.equation_of.dtype),
        made.rhs[keep],
        made.cells,
        made.blocks,
        before if made.number is None else made.number[before],
    )


def repeated(made: Relations) -> np.ndarray:
    """Marks equations that say the same as an earlier one, as linked tables do about the cells they share.

    Equations are compared by two random sums of their terms: with 2 · 53 bits a false match is out of the question, and
    the choice of numbers is fixed, so that the same system always gives the same answer.
    """
    random = np.random.default_rng(0).random((2, made.cells)) + 0.5
    n = len(made.rhs)
    size = np.bincount(made.equation_of, minlength=n).astype(np.float64)
    keys = [size, made.rhs]
    for numbers in random:
        # The order of terms must not matter to the last bit: add them up sorted by cell.
        order = np.lexsort((made.cell_of, made.equation_of))
        terms = (made.coefficient * numbers[made.cell_of])[order]
        keys.append(np.bincount(made.equation_of[order], weights=terms, minlength=n))
    order = np.lexsort((np.arange(n), *keys))
    same = np.ones(max(n - 1, 0), dtype=bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    again = np.zeros(n, dtype=bool)
    again[order[1:][same]] = True
    return again


def with_sums(
    made: Relations, sum_of: np.ndarray, cell_of: np.ndarray, coefficient: np.ndarray, sums: int
) -> Relations:
    """The relations with one more cell and one more relation a sum: cell `made.cells + u` adds up its members."""
    if not sums:
        return made
    fresh = np.arange(sums)
    return replace(
        made,
        coefficient=np.concatenate([made.coefficient, -np.ones(sums), coefficient]),
        cell_of=np.concatenate([made.cell_of, made.cells + fresh, cell_of]),
        equation_of=np.concatenate([made.equation_of, len(made.rhs) + fresh, len(made.rhs) + sum_of]),
        rhs=np.concatenate([made.rhs, np.zeros(sums)]),
        cells=made.cells + sums,
    )


def joined(parts: Sequence[Relations], cell_maps: Sequence[np.ndarray], cells: int) -> Relations:
    """The relations of several tables over one numbering of cells (see `linking`)."""
    starts = np.cumsum([0, *(len(part.rhs) for part in parts)])
    index = np.int32 if max(cells, int(starts[-1])) < 2**31 else np.int64
    return Relations(
        np.concatenate([part.coefficient for part in parts]),
        np.concatenate([m[part.cell_of] for part, m in zip(parts, cell_maps, strict=True)]).astype(index),
        np.concatenate([part.equation_of + s for part, s in zip(parts, starts[:-1], strict=True)]).astype(index),
        np.concatenate([part.rhs for part in parts]),
        cells,
        tuple(
            replace(block, start=block.start + int(start))
            for part, start in zip(parts, starts[:-1], strict=True)
            for block in part.blocks
        ),
    )
