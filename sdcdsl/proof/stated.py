"""The problem as a certificate states it, put together from its records."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.reading import (
    FORMATS,
    LARGEST_WHOLE,
    MOST,
    Malformed,
    ascending,
    count,
    fields,
    index,
    integers,
    numbers,
)
from sdcdsl.proof.system import Pairs, Problem, Regions, System

COUNTS = ("cells", "relations", "entries", "views", "attackers", "known", "pairs")


class Stated:
    """Takes the records of the problem in their order; `problem()` when all are there."""

    def __init__(self, header: dict[str, Any]) -> None:
        if header.get("sdcdsl-certificate") not in FORMATS or type(header["sdcdsl-certificate"]) is not int:
            raise Malformed(f"not a certificate of format {' or '.join(map(str, FORMATS))}")
        if header.get("tolerance") != TOLERANCE:
            raise Malformed(f"written for another tolerance than {TOLERANCE:g}")
        stated = fields(header.get("counts"), *COUNTS)
        self.count = {name: count(value, name) for name, value in zip(COUNTS, stated, strict=True)}
        count(self.count["views"] * self.count["cells"], "views × cells")
        self.labels: list[str] = []
        self._a: list[np.ndarray] = []
        self._relations: list[tuple[np.ndarray, ...]] = []
        self._low: list[np.ndarray] = []
        self._high: list[np.ndarray] = []
        self._view_of: list[np.ndarray] = []
        self._known: list[tuple[np.ndarray, ...]] = []
        self._pairs: list[tuple[np.ndarray, ...]] = []
        self._truth: np.ndarray | None = None

    def take(self, kind: str, body: Any) -> None:
        {
            "cells": self._take_cells,
            "relations": self._take_relations,
            "view": self._take_view,
            "attackers": self._take_attackers,
            "known": self._take_known,
            "pairs": self._take_pairs,
        }[kind](body)

    def _take_cells(self, body: Any) -> None:
        self._a.append(numbers(body, None, "cells"))

    def _take_relations(self, body: Any) -> None:
        sizes, cells, coefficients, b = fields(body, "sizes", "cells", "coefficients", "b")
        size = integers(sizes, None, MOST, "sizes of relations")
        cell = integers(cells, int(size.sum()), self.count["cells"], "cells of relations")
        coefficient = numbers(coefficients, len(cell), "coefficients")
        self._relations.append((size, cell, coefficient, numbers(b, len(size), "right-hand sides")))

    def _take_view(self, body: Any) -> None:
        number, like, cells, low, high = fields(body, "number", "like", "cells", "low", "high")
        at = len(self._low)
        if like is not None and like == number:  # more of the view before
            index(number, at, "view")
            if number != at - 1:
                raise Malformed("a view that goes on is not the last one")
        else:
            if type(number) is not int or number != at or at >= self.count["views"]:
                raise Malformed(f"view {at} was expected, or no more views")
            truth = self._all_cells()
            first = (truth, truth) if like is None else self._view(index(like, at, "view like another"))
            self._low.append(first[0].copy())
            self._high.append(first[1].copy())
        mine = ascending(cells, self.count["cells"], "cells of a view")
        self._low[-1][mine] = numbers(low, len(mine), "lower ends", -np.inf)
        self._high[-1][mine] = numbers(high, len(mine), "upper ends", np.inf)

    def _view(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        return self._low[number], self._high[number]

    def _all_cells(self) -> np.ndarray:
        if self._truth is None:
            self._truth = np.concatenate([np.empty(0), *self._a])
            self._counted("cells", len(self._truth))
        return self._truth

    def _take_attackers(self, body: Any) -> None:
        labels, views = fields(body, "labels", "views")
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise Malformed("labels of attackers are texts")
        self.labels += labels
        self._view_of.append(integers(views, len(labels), self.count["views"], "views of attackers"))

    def _take_known(self, body: Any) -> None:
        attackers, cells, low, high = fields(body, "attackers", "cells", "low", "high")
        cell = integers(cells, None, self.count["cells"], "cells somebody knows")
        self._known.append(
            (
                integers(attackers, len(cell), self.count["attackers"], "attackers who know more"),
                cell,
                numbers(low, len(cell), "lower ends", -np.inf),
                numbers(high, len(cell), "upper ends", np.inf),
            )
        )

    def _take_pairs(self, body: Any) -> None:
        cells, attackers, *levels = fields(body, "cells", "attackers", "lpl", "upl", "spl")
        cell = integers(cells, None, self.count["cells"], "cells of pairs")
        attacker = integers(attackers, len(cell), self.count["attackers"], "attackers of pairs")
        level = [numbers(values, len(cell), "levels") for values in levels]
        if any((values < 0).any() for values in level):
            raise Malformed("a level below zero")
        self._pairs.append((cell, attacker, *level))

    def problem(self) -> Problem:
        a = self._all_cells()
        size, cell, coefficient, b = _joined(self._relations, "qqdd")
        self._counted("relations", len(b))
        self._counted("entries", len(cell))
        self._counted("views", len(self._low))
        self._counted("attackers", len(self.labels))
        known = _joined(self._known, "qqdd")
        self._counted("known", len(known[0]))
        pairs = Pairs(*_joined(self._pairs, "qqddd"))
        self._counted("pairs", len(pairs))
        system = System(a, coefficient, cell, np.repeat(np.arange(len(size)), size), b)
        shape = (len(self._low), len(a))
        low, high = (np.stack(x) if x else np.empty(shape) for x in (self._low, self._high))
        (view_of,) = _joined([(x,) for x in self._view_of], "q")
        return Problem(system, Regions(low, high, view_of, *known), pairs)

    def _counted(self, what: str, found: int) -> None:
        if found != self.count[what]:
            raise Malformed(f"the header counts {self.count[what]:,} {what}, the file has {found:,}")


def _joined(parts: list[tuple[np.ndarray, ...]], codes: str) -> list[np.ndarray]:
    empty = tuple(np.empty(0, dtype=np.int64 if code == "q" else np.float64) for code in codes)
    return [np.concatenate(column) for column in zip(*(parts or [empty]), strict=True)]


def denominator(value: Any) -> int:
    if type(value) is not int or not 1 <= value < LARGEST_WHOLE:
        raise Malformed("denominator: a positive whole number was expected")
    return value
