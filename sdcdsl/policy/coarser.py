"""Codes as a table publishes them: merged by `recode`, and down to a level by `by … to level N`.

The codes of a dimension are a tree. A recode puts a new code in the place of some codes that are parts of one code;
what was below these is part of the new code. A level keeps the codes down to it. Codes that are not kept are not
published: no reader sees them, and what is contributed to them counts in the kept code that holds them (`moves`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sdcdsl.policy import document as d
from sdcdsl.policy.codes import inline_trees

Groups = tuple[tuple[str, tuple[str, ...]], ...]  # a new code and the codes it stands for


class NotCoarser(Exception):
    """Why codes cannot be merged or left out so. `code` is the one to point at, if there is one."""

    def __init__(self, why: str, code: str | None = None, help: str | None = None):
        super().__init__(why)
        self.why, self.code, self.help = why, code, help


@dataclass
class CodeParents:
    """One tree: codes in preorder, each with the code it is part of; None for the root."""

    parent: dict[str, str | None]
    subtracted: frozenset[str] = frozenset()
    children: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def __post_init__(self) -> None:
        for code, above in self.parent.items():
            if above is not None:
                self.children.setdefault(above, []).append(code)

    def below(self, code: str) -> list[str]:
        out, stack = list[str](), list(reversed(self.children.get(code, [])))
        while stack:
            out.append(at := stack.pop())
            stack += reversed(self.children.get(at, []))
        return out


@dataclass(frozen=True)
class Coarser:
    """`whole`: all codes, merged ones below their new code; None where a new code has the name of one it replaces."""

    whole: CodeParents | None
    kept: CodeParents  # those that are published
    moves: Mapping[str, str]  # every code that is not kept -> the kept code that holds it


_NEW = "\0"  # before a new code, which may have the name of one that it replaces


def coarser(tree: CodeParents, level: int | None, groups: Groups) -> Coarser:
    """Raises `NotCoarser`."""
    groups = tuple((group, parts) for group, parts in groups if parts != (group,))
    into = _merged_into(tree, groups)
    whole = _with_new(tree, groups, into)
    kept: dict[str, str | None] = {}
    depth: dict[str, int] = {}
    moves: dict[str, str] = {}
    for code, above in whole.items():
        depth[code] = 1 if above is None else depth[above] + (code not in into)
        deep = level is not None and depth[code] > level
        if above is None or not (above in moves or code in into or deep):
            kept[_plain(code)] = None if above is None else _plain(above)
            continue
        moves[code] = moves.get(above, _plain(above))
        if code in tree.subtracted:
            raise NotCoarser(f"`{code}` is subtracted in `{_plain(above)}`, and cannot be left out", code)
    if level is not None and level > max(depth.values()):
        levels = max(depth.values())
        raise NotCoarser(f"it has {levels} level{'s' if levels > 1 else ''}, and no level {level}")
    made = {_plain(code): None if above is None else _plain(above) for code, above in whole.items()}
    doubled = len(made) < len(whole)
    return Coarser(None if doubled else CodeParents(made, tree.subtracted), CodeParents(kept, tree.subtracted), moves)


def _plain(code: str) -> str:
    return code.removeprefix(_NEW)


def _merged_into(tree: CodeParents, groups: Groups) -> dict[str, str]:
    """The new code of every merged one."""
    into: dict[str, str] = {}
    for group, parts in groups:
        _fits(tree, parts, into)
        into |= dict.fromkeys(parts, _NEW + group)
    names = [group for group, _ in groups]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise NotCoarser(f"`{name}` is recoded to twice", name)
        if name in tree.parent and name not in into and not any(name in tree.below(code) for code in into):
            help = "give the merged codes a code that the dimension does not have"
            raise NotCoarser(f"it has a code `{name}` already", name, help)
    return into


def _with_new(tree: CodeParents, groups: Groups, into: Mapping[str, str]) -> dict[str, str | None]:
    """The tree in preorder with each new code between the codes it stands for and the code they were part of."""
    if not groups:
        return dict(tree.parent)
    held = {_NEW + group: parts for group, parts in groups}
    parent: dict[str, str | None] = {}
    stack: list[tuple[str, str | None]] = [(code, None) for code, above in tree.parent.items() if above is None]
    while stack:
        at, over = stack.pop()
        new = into.get(at)
        if new is not None and over != new:
            if new not in parent:
                parent[new] = over
                stack += [(part, new) for part in reversed(held[new])]
            continue
        parent[at] = over
        stack += [(child, at) for child in reversed(tree.children.get(at, []))]
    return parent


def _fits(tree: CodeParents, parts: Sequence[str], taken: Mapping[str, str]) -> None:
    for part in parts:
        if part not in tree.parent:
            raise NotCoarser(f"it has no code `{part}`", part)
        if part in taken or list(parts).count(part) > 1:
            raise NotCoarser(f"`{part}` is recoded twice", part)
        if part in tree.subtracted:
            raise NotCoarser(f"`{part}` is subtracted in `{tree.parent[part]}`, and cannot be merged", part)
    above = {tree.parent[part] for part in parts}
    if None in above:
        raise NotCoarser(f"`{parts[0]}` is the total: a recode merges codes below it", parts[0])
    if len(above) > 1:
        first, other = parts[0], next(p for p in parts if tree.parent[p] != tree.parent[parts[0]])
        why = f"`{first}` is part of `{tree.parent[first]}`, and `{other}` of `{tree.parent[other]}`"
        raise NotCoarser(why, other, "merge codes that are parts of one code")


# ---- of a policy ---------------------------------------------------------------------------------------------


def level_of(table: d.Block, dimension: str) -> int | None:
    by = table.last(d.By)
    if by is None or not by.levels or dimension not in by.dimensions:
        return None
    return by.levels[by.dimensions.index(dimension)]


def recode_of(table: d.Block, dimension: str) -> d.Recode | None:
    """The recode of a dimension in a table; an override may say it again, and the last one counts."""
    said = [one for one in table.all(d.Recode) if one.dimension == dimension]
    return said[-1] if said else None


def groups_of(recode: d.Recode | None) -> Groups:
    """Those that the policy spells out."""
    if recode is None:
        return ()
    return tuple((group.code.text, tuple(part.text for part in group.parts)) for group in recode.groups)


def inline_parents(dimension: d.Block) -> CodeParents | None:
    """The first tree of a dimension, where the policy spells it out and it is a tree."""
    if dimension.all(d.HierarchyFile) or dimension.all(d.HierarchyPrefix):
        return None
    trees = inline_trees(dimension)
    if not trees:
        return None
    parts = trees[0].parts
    roots = trees[0].roots()
    if len(roots) != 1:
        return None
    parent: dict[str, str | None] = {}
    stack: list[tuple[str, str | None]] = [(roots[0], None)]
    subtracted: set[str] = set()
    while stack:
        code, above = stack.pop()
        if code in parent:
            return None
        parent[code] = above
        for sign, part in reversed(parts.get(code, [])):
            stack.append((part, code))
            subtracted |= {part} if sign < 0 else set()
    return CodeParents(parent, frozenset(subtracted))
