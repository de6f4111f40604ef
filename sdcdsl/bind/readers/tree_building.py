"""From branches to a tree: the one place that knows when a set of parents is a hierarchy.

Every hierarchy format says the same thing in another way, *this code belongs to that one*; each reader turns its file
into branches, and what can be wrong with them is found and worded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.wording import clip, first_ten, offenders, plural
from sdcdsl.diagnostics import Diagnostic, Mark, Place, diagnostic, listed


@dataclass(frozen=True, slots=True)
class Branch:
    parent: str
    code: str
    place: Place
    sign: int = 1


@dataclass
class _Family:
    """Who belongs to whom, in order of first appearance."""

    children: dict[str, dict[str, Branch]] = field(default_factory=dict)
    branch_of: dict[str, Branch] = field(default_factory=dict)
    own_children: dict[str, Branch] = field(default_factory=dict)  # codes that stand below themselves
    two_parents: list[tuple[Branch, Branch]] = field(default_factory=list)
    repeated: list[tuple[Branch, Branch]] = field(default_factory=list)

    def add(self, branch: Branch) -> None:
        first = self.branch_of.get(branch.code)
        if branch.parent == branch.code:
            self.own_children.setdefault(branch.code, branch)
            self.children.setdefault(branch.code, {})
        elif first is None:
            self.branch_of[branch.code] = branch
            self.children.setdefault(branch.parent, {})[branch.code] = branch
        elif first.parent != branch.parent:
            self.two_parents.append((first, branch))
        else:
            self.repeated.append((first, branch))

    def roots(self) -> list[str]:
        return [code for code in self.children if code not in self.branch_of]


def grow(
    branches: Iterable[Branch],
    *,
    total: str | None,
    name: str,
    place: Place,
    tops: Iterable[str] = (),
    once: bool = True,
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """The tree of these branches, or what keeps them from being one.

    Codes without a parent hang below `total`; without a total there must be exactly one of them. `tops` are codes
    known to have no parent, which without children no branch would mention. A code whose only child is itself is one
    node said twice. With `once`, saying the same branch again is a mistake too.
    """
    family = _Family({code: {} for code in tops})
    for branch in branches:
        family.add(branch)
    if not family.children:
        return None, [diagnostic("SDC308", f"no codes in {name or 'the hierarchy'}", place)]
    problems = [*_two_parents(family), *_own_parents(family)]
    if once:
        problems += _repeated(family)
    root, complaint = _root(family, total, place)
    if complaint is not None:
        problems.append(complaint)
    if complaint is None or complaint.code != "SDC310":  # which is a circle already named
        problems += first_ten(list(_circles(family)))
    if problems:
        return None, problems
    return _preorder(family, root, name), []


def _two_parents(family: _Family) -> Iterator[Diagnostic]:
    if family.two_parents:
        yield offenders(
            "SDC311",
            f"{plural(len({b.code for _, b in family.two_parents}), 'code')} with two parents",
            (
                (b.place, f"`{clip(b.code)}` below `{clip(b.parent)}`, but already below `{clip(first.parent)}`")
                for first, b in family.two_parents
            ),
            len(family.two_parents),
            help="a code that belongs to two groups needs a second tree over the same leaves",
        )


def _own_parents(family: _Family) -> Iterator[Diagnostic]:
    circular = [b for code, b in family.own_children.items() if family.children[code]]
    if circular:
        yield offenders(
            "SDC310",
            "a code cannot be part of itself",
            ((b.place, f"`{clip(b.code)}` = `{clip(b.code)}` + {_listed(family.children[b.code])}") for b in circular),
            len(circular),
            help="give the remainder a code of its own",
        )


def _repeated(family: _Family) -> Iterator[Diagnostic]:
    if family.repeated:
        yield offenders(
            "SDC312",
            "codes listed twice",
            ((b.place, f"`{clip(b.code)}` stands below `{clip(b.parent)}` already") for _, b in family.repeated),
            len(family.repeated),
        )


def _root(family: _Family, total: str | None, place: Place) -> tuple[str, Diagnostic | None]:
    roots = family.roots()
    if total is None:
        if len(roots) == 1:
            return roots[0], None
        if not roots:  # every code has a parent: a circle, which is reported as such
            return "", None
        headline = f"{len(roots)} codes without a parent, and no total above them"
        return "", diagnostic("SDC312", headline, place, _listed(roots), help="say the code of the total")
    if total in family.branch_of:
        b = family.branch_of[total]
        return total, Diagnostic(
            "SDC310",
            f"the total `{clip(total)}` stands below a part of itself",
            (Mark(b.place, f"below `{b.parent}`"),),
        )
    strays = [code for code in roots if code != total]
    if total in family.children and strays:
        headline = f"{plural(len(strays), 'code')} outside the total `{clip(total)}`"
        return total, diagnostic("SDC312", headline, place, f"{_listed(strays)} without a parent")
    top = family.children.setdefault(total, {})
    for code in strays:
        top[code] = family.branch_of[code] = Branch(total, code, place)
    return total, None


def _circles(family: _Family) -> Iterator[Diagnostic]:
    """Each circle once: walking up from any code must end at a root."""
    settled: set[str] = set()
    for start in family.branch_of:
        path: dict[str, None] = {}
        code = start
        while code in family.branch_of and code not in settled and code not in path:
            path[code] = None
            code = family.branch_of[code].parent
        if code in path:
            members = list(path)
            circle = members[members.index(code) :]
            steps = " → ".join(clip(c) for c in [*circle[:10], *(["…"] if len(circle) > 10 else []), circle[0]])
            yield Diagnostic(
                "SDC310",
                f"the hierarchy goes in a circle: {steps}",
                tuple(Mark(family.branch_of[c].place, f"`{clip(c)}` below its own part") for c in circle[:1]),
            )
        settled.update(path)


def _preorder(family: _Family, root: str, name: str) -> CodeTree:
    codes: list[str] = []
    parent: list[int] = []
    sign: list[int] = []
    # A stack instead of recursion: nothing keeps a file from being thousands of levels deep.
    stack: list[tuple[str, int, int]] = [(root, -1, 1)]
    while stack:
        code, above, direction = stack.pop()
        codes.append(code)
        parent.append(above)
        sign.append(direction)
        here = len(codes) - 1
        stack.extend((b.code, here, b.sign) for b in reversed(family.children.get(code, {}).values()))
    return CodeTree(tuple(codes), np.array(parent, dtype=np.int32), np.array(sign, dtype=np.int8), name)


def _listed(codes: Iterable[str]) -> str:
    return listed((clip(c) for c in codes), most=10)
