"""Classifications: activities like those of NACE, and regions like those of NUTS, of a country that does not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# Sections and some of their divisions. Titles are left out: codes are enough for tables.
SECTIONS: dict[str, tuple[str, ...]] = {
    "B": ("07", "08", "09"),
    "C": ("10", "13", "16", "20", "24", "25", "28", "29"),
    "D": ("35",),
    "E": ("36", "38"),
    "F": ("41", "42", "43"),
    "G": ("45", "46", "47"),
    "H": ("49", "50", "52"),
    "I": ("55", "56"),
    "J": ("58", "61", "62"),
    "L": ("68",),
    "M": ("69", "71", "72"),
    "N": ("77", "78", "81"),
}


@dataclass(frozen=True)
class Tree:
    """Codes and what they add up to. The order is that of the file: parents, then what lies below them."""

    total: str
    below: dict[str, tuple[str, ...]]

    @property
    def leaves(self) -> list[str]:
        return [code for code, _ in self._walk(self.total, 0) if code not in self.below]

    @property
    def codes(self) -> list[str]:
        """All codes, the total first."""
        return [code for code, _ in self._walk(self.total, 0)]

    def _walk(self, code: str, depth: int) -> Iterator[tuple[str, int]]:
        yield code, depth
        for part in self.below.get(code, ()):
            yield from self._walk(part, depth + 1)

    def path(self, leaf: str) -> list[str]:
        """The codes that a record with this leaf counts for: the leaf, what it is part of, …, the total."""
        parents = {part: code for code, parts in self.below.items() for part in parts}
        out = [leaf]
        while out[-1] != self.total:
            out.append(parents[out[-1]])
        return out

    def write(self, path: Path) -> None:
        """As an hrc file: a line for each code below the total, with an @ for each level further down."""
        lines = [f"{'@' * (depth - 1)}{code}\n" for code, depth in self._walk(self.total, 0) if depth]
        path.write_text("".join(lines), encoding="utf-8", newline="\n")


def activities(sections: str = "".join(SECTIONS), divisions: int = 99, groups: int = 3, total: str = "B-N") -> Tree:
    """Sections, at most so many divisions in each, and so many groups in each division. With 0 a level is left out."""
    below: dict[str, tuple[str, ...]] = {total: tuple(sections)}
    for section in sections:
        if divisions:
            below[section] = SECTIONS[section][:divisions]
        if groups:
            below |= {d: tuple(f"{d}{g}" for g in range(1, groups + 1)) for d in below[section]}
    return Tree(total, below)


def regions(branching: Sequence[int] = (3, 3, 2), country: str = "XA") -> Tree:
    """A country in parts, these in parts, and so on: XA, XA1, XA11, XA111."""
    below: dict[str, tuple[str, ...]] = {}
    here = [country]
    for parts in branching:
        for code in here:
            below[code] = tuple(f"{code}{n}" for n in range(1, parts + 1))
        here = [part for code in here for part in below[code]]
    return Tree(country, below)
