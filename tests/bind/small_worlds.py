"""Random small hierarchies and microdata, and the slow, literal way to compute every cell of a table from them."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
from hypothesis import strategies as st

from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes


def tree(root: str, edges: list[tuple[str, str, int]], name: str = "") -> CodeTree:
    """A tree from (parent, child, sign) in any order; nodes come out in preorder."""
    below: dict[str, list[tuple[str, int]]] = {}
    for parent, child, sign in edges:
        below.setdefault(parent, []).append((child, sign))
    codes: list[str] = []
    parents: list[int] = []
    signs: list[int] = []

    def visit(code: str, parent: int, sign: int) -> None:
        at = len(codes)
        codes.append(code)
        parents.append(parent)
        signs.append(sign)
        for child, s in below.get(code, []):
            visit(child, at, s)

    visit(root, -1, 1)
    return CodeTree(tuple(codes), np.array(parents, dtype=np.int32), np.array(signs, dtype=np.int8), name)


def dimension(name: str, *trees: CodeTree) -> DimensionCodes:
    codes = dict.fromkeys(code for t in trees for code in t.codes)
    return DimensionCodes(name, tuple(codes), trees)


def flat(name: str, leaves: list[str], total: str = "T") -> DimensionCodes:
    return dimension(name, tree(total, [(total, leaf, 1) for leaf in leaves]))


@st.composite
def edges_over(draw, root: str, leaves: list[str], prefix: str, signs: bool) -> list[tuple[str, str, int]]:
    """A random tree from a root down to given leaves, ragged, with chains of one child now and then."""
    edges: list[tuple[str, str, int]] = []
    made = 0

    def split(parent: str, members: list[str], depth: int) -> None:
        nonlocal made
        sign = st.sampled_from([1, 1, 1, -1]) if signs else st.just(1)
        parts: dict[int, list[str]] = {}
        for leaf in members:
            parts.setdefault(draw(st.integers(0, 2)), []).append(leaf)
        for part in parts.values():
            if depth < 3 and draw(st.booleans()):
                made += 1
                node = f"{prefix}{made}"
                edges.append((parent, node, draw(sign)))
                split(node, part, depth + 1)
            else:
                edges.extend((parent, leaf, draw(sign)) for leaf in part)

    split(root, leaves, 0)
    return edges


@st.composite
def dimensions_(draw, name: str, most_leaves: int = 5, signs: bool = True) -> DimensionCodes:
    """One to three trees: over the same leaves and total, over some of the leaves, over inner codes of the first."""
    leaves = [f"{name}{i}" for i in range(draw(st.integers(1, most_leaves)))]
    # Two trees to one total agree only without minus signs.
    kind = draw(st.sampled_from(["one", "one", "same total", "part", "inner"]))
    first = tree("T", draw(edges_over("T", leaves, f"{name}g", signs and kind != "same total")))
    trees = [first]
    if kind == "same total":
        trees.append(tree("T", draw(edges_over("T", leaves, f"{name}h", False)), "second"))
    elif kind == "part":
        some = draw(st.lists(st.sampled_from(leaves), min_size=1, unique=True))
        trees.append(tree("P", draw(edges_over("P", some, f"{name}h", signs)), "part"))
    elif kind == "inner":
        level = first.parent == 0
        bottom = [code for code, top in zip(first.codes, level, strict=True) if top]
        trees.append(tree("Q", draw(edges_over("Q", bottom, f"{name}h", signs)), "inner"))
    return dimension(name, *trees)


def records(dims: list[DimensionCodes], rows: list[tuple]) -> pl.DataFrame:
    """Rows (leaf codes…, x, w, unit, group)."""
    names = [d.name for d in dims] + ["x", "w", "unit", "group"]
    numbers = {"x", "w"}
    schema = {name: pl.Float64 if name in numbers else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row")


@st.composite
def worlds(draw, most_dims: int = 3, most_leaves: int = 4, most_rows: int = 25, negatives: bool = True):
    """Dimensions and microdata over their leaves. Integers, so that sums are exact in any order."""
    dims = [draw(dimensions_("abcd"[i], most_leaves)) for i in range(draw(st.integers(1, most_dims)))]
    leaves = [[c for c in d.codes if c.startswith(d.name) and c[1:].isdigit()] for d in dims]
    row = st.tuples(
        *[st.sampled_from(codes) for codes in leaves],
        st.integers(-6 if negatives else 0, 20).map(float),
        st.sampled_from([1.0, 1.0, 2.0, 2.5]),
        st.sampled_from([f"u{i}" for i in range(6)]),
        st.sampled_from([None, "h0", "h1", "h2"]),
    )
    return dims, records(dims, draw(st.lists(row, max_size=most_rows)))


def signed_leaves(dim: DimensionCodes) -> dict[str, dict[str, int]]:
    """For every code the leaves below it with their signs, by plain recursion over the trees."""

    def below(code: str) -> dict[str, int]:
        for t in dim.trees:
            if code in t.codes:
                at = t.codes.index(code)
                children = [i for i, p in enumerate(t.parent) if p == at]
                if children:
                    return {leaf: int(t.sign[i]) * s for i in children for leaf, s in below(t.codes[i]).items()}
        return {code: 1}

    return {code: below(code) for code in dim.codes}


def contributors_by_cell(dims: list[DimensionCodes], frame: pl.DataFrame, holders: list, weighted: list[float]):
    """For every combination of codes, in lattice order: {holder: signed sum}, and the signed sum of all records."""
    maps = [signed_leaves(d) for d in dims]
    rows = frame.select([d.name for d in dims]).rows()
    for codes in product(*[d.codes for d in dims]):
        mine: dict[object, float] = {}
        for row, holder, amount in zip(rows, holders, weighted, strict=True):
            sign = 1
            for leaf, code, leaves in zip(row, codes, maps, strict=True):
                sign *= leaves[code].get(leaf, 0)
            if sign:
                mine[holder] = mine.get(holder, 0.0) + sign * amount
        yield codes, mine


def holder_of(frame: pl.DataFrame, unit: bool, group: bool) -> list:
    """Whom each record counts under: its holding, else its unit, else itself."""
    out = []
    for i, row in enumerate(frame.iter_rows(named=True)):
        if group and row["group"] is not None:
            out.append(row["group"])
        elif unit and row["unit"] is not None:
            out.append(row["unit"])
        else:
            out.append(i)
    return out
