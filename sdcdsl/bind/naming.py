"""How messages name cells: the first ten, and how many more there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import SupportsInt

SHOWN = 10


def first_cells(cells: Iterable[SupportsInt], name: Callable[[int], str]) -> str:
    """`a; b; c and 1,204 more`"""
    listed = [int(c) for c in cells]
    more = f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return "; ".join(name(c) for c in listed[:SHOWN]) + more


def noun(found: Sized) -> str:
    return "cell" if len(found) == 1 else "cells"


def cells(found: Sized) -> str:
    """`1 cell`, `12 cells`"""
    return f"{len(found):,} {noun(found)}"
