"""Room for the labels of a drawing: no two of them overlap, none covers a mark, and lines are kept clear where they can
be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, sin

WIDE, BOLD = 0.58, 0.64  # of the size of the letters: no sans serif is wider on average
HIGH = 1.2
Line = tuple[float, float, float, float]  # from x, y to x, y
_RINGS = (0, 5, 11, 18, 26, 36, 48, 62, 80, 100, 130, 170)  # how far from its mark a label may stand
_SIDES = 16
_APART = 3  # between two labels in one line
_NEAR = 11  # further out a label needs a line to its mark


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def within(self, other: Box) -> bool:
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom

    def crosses(self, line: Line) -> bool:
        """Does a part of the line lie inside?"""
        x, y, to_x, to_y = line
        begin, end = 0.0, 1.0
        for start, far, low, high in ((x, to_x - x, self.left, self.right), (y, to_y - y, self.top, self.bottom)):
            if far == 0:
                if not low < start < high:
                    return False
                continue
            enters, leaves = sorted(((low - start) / far, (high - start) / far))
            begin, end = max(begin, enters), min(end, leaves)
        return begin < end


@dataclass(frozen=True)
class Placed:
    """A label whose text begins at x on the base line y; `far`: it needs a line to its mark."""

    text: str
    x: float
    y: float
    box: Box
    far: bool = False


def width_of(text: str, size: float, bold: bool = False) -> float:
    return (BOLD if bold else WIDE) * size * len(text)


def box_of(text: str, x: float, y: float, size: float, bold: bool = False) -> Box:
    """Of a text that begins at x on the base line y."""
    return Box(x, y - 0.95 * size, x + width_of(text, size, bold), y + (HIGH - 0.95) * size)


def placed(
    labels: Sequence[tuple[str, float, float]],
    size: float,
    away: float,
    frame: Box,
    taken: Sequence[Box],
    lines: Sequence[Line] = (),
) -> list[Placed | None]:
    """A place for each label beside its point, as near as there is room; None where the whole frame is full.

    `away`: how far the edge of a mark is from its middle. `taken`: marks and whatever else is to stay visible. A label
    goes a little further to keep clear of `lines`, and crosses them rather than stand far from its mark.
    """
    occupied = list(taken)
    out: list[Placed | None] = []
    for text, x, y in labels:
        wide, high = width_of(text, size), HIGH * size
        best: Placed | None = None
        for left, top, ring in _places(x, y, wide, high, away):
            if best is not None and ring > _NEAR:
                break
            box = Box(left, top, left + wide, top + high)
            if not box.within(frame) or any(box.overlaps(other) for other in occupied):
                continue
            found = Placed(text, left, top + 0.95 * size, box, ring > _NEAR)
            if not any(box.crosses(line) for line in lines):
                best = found
                break
            best = best or found
        out.append(best)
        if best is not None:
            occupied.append(Box(best.box.left - _APART, best.box.top, best.box.right + _APART, best.box.bottom))
    return out


def _places(x: float, y: float, wide: float, high: float, away: float) -> Iterator[tuple[float, float, int]]:
    """Right, above, left, below, corners; then the same further and further out."""
    first = (0, -2, 2, -4, 4, 8, -6, 6, -1, 1, -3, 3, -5, 5, -7, 7)
    for ring in _RINGS:
        for step in first[:_SIDES]:
            turn = 2 * pi * step / _SIDES
            # Boxes keep clear of the mark: the middle is as far out as the box is wide in that direction.
            across, down = cos(turn), sin(turn)
            reach = away + 2 + ring
            middle_x = x + across * (reach + wide / 2)
            middle_y = y + down * (reach + high / 2)
            yield middle_x - wide / 2, middle_y - high / 2, ring
