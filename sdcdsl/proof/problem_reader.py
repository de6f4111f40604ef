"""The problem as a certificate states it, put together from its records."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.proof.allowance import Allowance
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.families import Families
from sdcdsl.proof.reading import (
    FAMILIES,
    FORMATS,
    LARGEST_WHOLE,
    MOST,
    MalformedCertificate,
    ascending,
    count,
    fields,
    index,
    integers,
    length,
    listed,
    numbers,
)
from sdcdsl.proof.system import ProofPairs, ProofProblem, Regions, System

COUNTS: tuple[str, ...] = ("cells", "relations", "entries", "views", "attackers", "known", "pairs")

MORE: tuple[str, ...] = ("classes", "families", "left out")  # where pairs are stated by families


class ProblemReader:
    """Takes the records of the problem in their order; `problem()` when all are there. Arrays have the sizes that the
    first record declares, which the size of the file allows; no record is read into more."""

    def __init__(self, header: dict[str, Any], allowance: Allowance) -> None:
        if header.get("sdcdsl-certificate") not in FORMATS or type(header["sdcdsl-certificate"]) is not int:
            *others, last = FORMATS
            raise MalformedCertificate(f"not a certificate of format {', '.join(map(str, others))} or {last}")
        if header.get("tolerance") != TOLERANCE:
            raise MalformedCertificate(f"written for another tolerance than {TOLERANCE:g}")
        self.counted = COUNTS + (MORE if header["sdcdsl-certificate"] == FAMILIES else ())
        stated = fields(header.get("counts"), *self.counted)
        self.count = {name: count(value, name) for name, value in zip(self.counted, stated, strict=True)}
        self.count = dict.fromkeys(MORE, 0) | self.count
        count(self.count["views"] * self.count["cells"], "views × cells")
        if (refusal := allowance.refusal(self.count)) is not None:
            raise MalformedCertificate(refusal)
        self.found: dict[str, int] = dict.fromkeys(COUNTS + MORE, 0)  # so far
        self.labels: list[str] = []
        whole, real = np.int64, np.float64
        self._a = np.empty(self.count["cells"])
        self._size, self._b = self._columns("relations", whole, real)
        self._cell, self._coefficient = self._columns("entries", whole, real)
        self._low = self._high = np.empty((0, 0))
        (self._view_of,) = self._columns("attackers", whole)
        self._known = self._columns("known", whole, whole, real, real)
        self._pairs = self._columns("pairs", whole, whole, real, real, real)
        self._class_of: np.ndarray | None = None
        (self._anyone,) = self._columns("classes", whole)
        self._families = self._columns("families", whole, whole, real, real)
        self._left_out = self._columns("left out", whole, whole)

    def _columns(self, what: str, *types: type) -> list[np.ndarray]:
        return [np.empty(self.count[what], dtype=one) for one in types]

    def take(self, kind: str, body: Any) -> None:
        {
            "cells": self._take_cells,
            "relations": self._take_relations,
            "view": self._take_view,
            "attackers": self._take_attackers,
            "known": self._take_known,
            "pairs": self._take_pairs,
            "class": self._take_class,
            "families": self._take_families,
            "left out": self._take_left_out,
        }[kind](body)

    def _take_cells(self, body: Any) -> None:
        self._a[self._more("cells", length(body))] = numbers(body, None, "cells")

    def _take_relations(self, body: Any) -> None:
        sizes, cells, coefficients, b = fields(body, "sizes", "cells", "coefficients", "b")
        mine = self._more("relations", length(sizes))
        size = integers(sizes, None, MOST, "sizes of relations")
        entries = self._more("entries", int(size.sum()))
        many = entries.stop - entries.start
        self._size[mine] = size
        self._cell[entries] = integers(cells, many, self.count["cells"], "cells of relations")
        self._coefficient[entries] = numbers(coefficients, many, "coefficients")
        self._b[mine] = numbers(b, len(size), "right-hand sides")

    def _take_view(self, body: Any) -> None:
        number, like, cells, low, high = fields(body, "number", "like", "cells", "low", "high")
        at = self.found["views"]
        if like is not None and like == number:  # more of the view before
            index(number, at, "view")
            if number != at - 1:
                raise MalformedCertificate("a view that goes on is not the last one")
        else:
            if type(number) is not int or number != at or at >= self.count["views"]:
                raise MalformedCertificate(f"view {at} was expected, or no more views")
            if not at:
                self._counted("cells")
                self._low, self._high = (np.empty((self.count["views"], self.count["cells"])) for _ in range(2))
            model = None if like is None else index(like, at, "view like another")
            self._low[at] = self._a if model is None else self._low[model]
            self._high[at] = self._a if model is None else self._high[model]
            self._more("views", 1)
        last = self.found["views"] - 1
        mine = ascending(cells, self.count["cells"], "cells of a view")
        self._low[last, mine] = numbers(low, len(mine), "lower ends", -np.inf)
        self._high[last, mine] = numbers(high, len(mine), "upper ends", np.inf)

    def _take_attackers(self, body: Any) -> None:
        labels, views = fields(body, "labels", "views")
        texts = [label for label in listed(labels) or () if isinstance(label, str)]
        if listed(labels) is None or len(texts) != len(labels):
            raise MalformedCertificate("labels of attackers are texts")
        mine = self._more("attackers", len(texts))
        self.labels += texts
        self._view_of[mine] = integers(views, len(texts), self.count["views"], "views of attackers")

    def _take_known(self, body: Any) -> None:
        attackers, cells, low, high = fields(body, "attackers", "cells", "low", "high")
        many = length(cells)
        mine = self._more("known", many)
        who, cell, lows, highs = self._known
        who[mine] = integers(attackers, many, self.count["attackers"], "attackers who know more")
        cell[mine] = integers(cells, None, self.count["cells"], "cells somebody knows")
        lows[mine] = numbers(low, many, "lower ends", -np.inf)
        highs[mine] = numbers(high, many, "upper ends", np.inf)

    def _take_pairs(self, body: Any) -> None:
        cells, attackers, *levels = fields(body, "cells", "attackers", "lpl", "upl", "spl")
        many = length(cells)
        mine = self._more("pairs", many)
        cell, attacker, *level = self._pairs
        cell[mine] = integers(cells, None, self.count["cells"], "cells of pairs")
        attacker[mine] = integers(attackers, many, self.count["attackers"], "attackers of pairs")
        for column, values in zip(level, levels, strict=True):
            column[mine] = numbers(values, many, "levels")
            if (column[mine] < 0).any():
                raise MalformedCertificate("a level below zero")

    def _take_class(self, body: Any) -> None:
        anyone, members = fields(body, "anyone", "members")
        at = self._more("classes", 1)
        if self._class_of is None:
            self._counted("attackers")
            self._class_of = np.full(self.count["attackers"], -1, dtype=np.int64)
        mine = ascending(members, self.count["attackers"], "members of a class")
        if (self._class_of[mine] >= 0).any():
            raise MalformedCertificate("an attacker in two classes")
        self._anyone[at] = index(anyone, self.count["attackers"], "the attacker who stands for a class")
        self._class_of[mine] = at.start

    def _take_families(self, body: Any) -> None:
        classes, cells, *levels = fields(body, "classes", "cells", "lpl", "upl")
        many = length(cells)
        mine = self._more("families", many)
        of, cell, *level = self._families
        of[mine] = integers(classes, many, self.count["classes"], "classes of families")
        cell[mine] = integers(cells, None, self.count["cells"], "cells of families")
        for column, values in zip(level, levels, strict=True):
            column[mine] = numbers(values, many, "levels")

    def _take_left_out(self, body: Any) -> None:
        families, attackers = fields(body, "families", "attackers")
        many = length(attackers)
        mine = self._more("left out", many)
        family, attacker = self._left_out
        family[mine] = integers(families, many, self.count["families"], "families that somebody is left out of")
        attacker[mine] = integers(attackers, None, self.count["attackers"], "attackers who are left out")

    def _stated_families(self, regions: Regions, pairs: ProofPairs) -> Families | None:
        """Who stands for a class sees what its members share, knows nothing else, and has the pairs of its families."""
        if self._class_of is None:
            return None
        families = Families(self._class_of, self._anyone, *self._families, *self._left_out)
        anyone, known = families.anyone, regions.known
        if (families.class_of[anyone] >= 0).any() or (known.start[anyone + 1] > known.start[anyone]).any():
            raise MalformedCertificate("who stands for a class is no member of one, and knows nothing of its own")
        members = np.flatnonzero(families.class_of >= 0)
        if (regions.view_of[members] != regions.view_of[anyone[families.class_of[members]]]).any():
            raise MalformedCertificate("a class of attackers with several views")
        if len(np.unique(families.of * self.count["cells"] + families.cell)) < len(families):
            raise MalformedCertificate("two families of one class and cell")
        number = families.number_of(pairs)
        listed = np.flatnonzero(number >= 0)
        if len(listed) != len(families) or len(np.unique(number[listed])) != len(families):
            raise MalformedCertificate("a family without a pair, or with two of them")
        mine = number[listed]
        levels = (pairs.lpl[listed], families.lpl[mine]), (pairs.upl[listed], families.upl[mine])
        if pairs.spl[listed].any() or not all(np.array_equal(x, y) for x, y in levels):
            raise MalformedCertificate("a family with other levels than its pair")
        return families

    def problem(self) -> ProofProblem:
        for what in self.counted:
            self._counted(what)
        equation = np.repeat(np.arange(len(self._size)), self._size)
        system = System(self._a, self._coefficient, self._cell, equation, self._b)
        low, high = (x.reshape(self.count["views"], self.count["cells"]) for x in (self._low, self._high))
        regions, pairs = Regions(low, high, self._view_of, *self._known), ProofPairs(*self._pairs)
        return ProofProblem(system, regions, pairs, self._stated_families(regions, pairs))

    def _more(self, what: str, many: int) -> slice:
        """Where the next ones go, if the first record knows of so many."""
        first = self.found[what]
        self.found[what] += many
        if self.found[what] > self.count[what]:
            raise MalformedCertificate(
                f"the header counts {self.count[what]:,} {what}, the file has {self.found[what]:,} or more"
            )
        return slice(first, first + many)

    def _counted(self, what: str) -> None:
        if self.found[what] != self.count[what]:
            raise MalformedCertificate(
                f"the header counts {self.count[what]:,} {what}, the file has {self.found[what]:,}"
            )


def denominator(value: Any) -> int:
    if type(value) is not int or not 1 <= value < LARGEST_WHOLE:
        raise MalformedCertificate("denominator: a positive whole number was expected")
    return value
