"""A policy's dimension becomes its codes and trees, from the policy itself and from hierarchy files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.hierarchy import CodeTree, DimensionCodes
from sdcdsl.bind.labels import labels_of
from sdcdsl.bind.options import option_values
from sdcdsl.bind.readers.inline_tree import Entry, Equation, tree_from_equations, tree_from_outline
from sdcdsl.bind.readers.prefix import tree_from_prefixes
from sdcdsl.bind.reading import read_by
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, has_errors
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.formats import HIERARCHIES

Leaves = Callable[[], tuple[str, ...]]  # the codes found in the data, for prefix hierarchies


def bind_dimension(
    block: d.Block, places: FileLocations, leaves: Leaves
) -> tuple[DimensionCodes | None, list[Diagnostic]]:
    """All trees of the dimension over one list of codes, the first tree's codes first."""
    trees: list[CodeTree] = []
    found: list[Diagnostic] = []
    for name in _names(block):
        tree, problems = _tree(block, name, places, leaves)
        found += problems
        if tree is not None:
            trees.append(tree)
    if has_errors(found) or not trees:
        return None, found
    codes = tuple(dict.fromkeys(code for tree in trees for code in tree.codes))
    labels, problems = labels_of(block, codes, places)
    return DimensionCodes(block.name, codes, tuple(trees), labels), found + problems


def _names(block: d.Block) -> list[str | None]:
    """The trees of a dimension by name; statements without a name build the first one together."""
    named = [s.name for s in block.statements if isinstance(s, _HIERARCHIES)]
    return list(dict.fromkeys(named)) or [None]


_HIERARCHIES = (d.HierarchyFile, d.HierarchySum, d.HierarchyPrefix, d.HierarchyTree)


def _tree(
    block: d.Block, name: str | None, places: FileLocations, leaves: Leaves
) -> tuple[CodeTree | None, list[Diagnostic]]:
    total = block.last(d.Total)
    root = total.code.text if total is not None else None
    said = [s for s in block.statements if isinstance(s, _HIERARCHIES) and s.name == name]
    place = _place(said[0].span if said else block.heading, block)
    label = name or ""
    files = [s for s in said if isinstance(s, d.HierarchyFile)]
    if files:
        return _from_file(block, files[-1], root, label, places)
    prefixes = [s for s in said if isinstance(s, d.HierarchyPrefix)]
    if prefixes:
        listed = tuple(c.text for s in block.all(d.Codes) for c in s.codes) or leaves()
        return tree_from_prefixes(listed, prefixes[-1].lengths, total=root or "Total", place=place, name=label)
    outlines = [s for s in said if isinstance(s, d.HierarchyTree)]
    if outlines and len(said) == 1 and not block.all(d.Codes):
        entries = [Entry(depth, code.text, _place(code.span, block)) for depth, code in outlines[0].nodes]
        return tree_from_outline(entries, place=place, total=root, name=label)
    return tree_from_equations(_equations(block, said, root), place=place, total=root, name=label)


def _equations(block: d.Block, said: Sequence[d.Statement], root: str | None) -> list[Equation]:
    """Inline sums and trees as equations; codes that stand nowhere else hang under the total."""
    out: list[Equation] = []
    for s in said:
        place = _place(s.span, block)
        if isinstance(s, d.HierarchySum):
            out.append(Equation(s.total.text, [(sign, c.text) for sign, c in s.parts], place))
        elif isinstance(s, d.HierarchyTree):
            above: list[str] = []
            parts: dict[str, list[tuple[int, str]]] = {}
            for depth, code in s.nodes:
                del above[depth:]
                if above:
                    parts.setdefault(above[-1], []).append((1, code.text))
                above.append(code.text)
            out += [Equation(total, terms, place) for total, terms in parts.items()]
    inside = {code for e in out for _, code in e.terms}
    loose = [c.text for s in block.all(d.Codes) for c in s.codes if c.text not in inside and c.text != root]
    loose += [e.total for e in out if e.total not in inside and e.total != root and e.total not in loose]
    if root is not None and loose and not any(e.total == root for e in out):
        out.append(Equation(root, [(1, code) for code in dict.fromkeys(loose)], _place(block.heading, block)))
    return out


def _from_file(
    block: d.Block, statement: d.HierarchyFile, root: str | None, label: str, places: FileLocations
) -> tuple[CodeTree | None, list[Diagnostic]]:
    file = statement.file
    path, missing = places.find(f"{block.name}.{label}" if label else block.name, file.path, file.span)
    if path is None:
        return None, missing
    options = option_values(file.options, HIERARCHIES[file.format].options)
    return read_by(HIERARCHIES, file.format, CodeTree, file.span, path, root, label, options)


def _place(span, block: d.Block) -> Place:
    return span or FilePlace(f"dimension {block.name}")


def levels_in(codes: DimensionCodes, tree: str = "") -> np.ndarray:
    """The level of every code in one tree of a dimension; 0 for codes that the tree does not have."""
    chosen = _chosen(codes, tree)
    out = np.zeros(len(codes.codes), dtype=np.int64)
    out[[codes.index[c] for c in chosen.codes]] = chosen.level
    return out


def codes_under(codes: DimensionCodes, code: str, tree: str = "") -> np.ndarray:
    """Everything below a code in one tree, without the code itself (S12); nothing if the tree does not have it."""
    chosen = _chosen(codes, tree)
    inside = np.zeros(len(codes.codes), dtype=bool)
    if code not in chosen.codes:
        return inside
    root = chosen.codes.index(code)
    below = np.zeros(len(chosen.codes), dtype=bool)
    for i, parent in enumerate(chosen.parent):  # preorder: a parent comes before its children
        below[i] = parent >= 0 and (parent == root or below[parent])
    inside[[codes.index[c] for c, b in zip(chosen.codes, below, strict=True) if b]] = True
    return inside


def _chosen(codes: DimensionCodes, tree: str) -> CodeTree:
    """The tree of that name; without a name the first one (S13)."""
    return next((t for t in codes.trees if tree and t.name == tree), codes.trees[0])
