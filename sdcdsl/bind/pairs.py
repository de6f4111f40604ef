"""Attacker by sensitive cell: the pairs protection must cover, and what single attackers know beyond their view. Pairs
of cells that are not sensitive are conditional: they count in a release that does not publish the cell as it is.

Where contributors attack and the pairs would be many, they are families (`proof.families`): of a class of contributors
the list has an attacker who knows only what they share, and the members whose own part changes what is required. All
other members have the same levels, and get a row only when a release leaves one of them too little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.attackers import Knowledge, dominated
from sdcdsl.bind.implied_bounds import slack_left
from sdcdsl.bind.levels import LEVELS
from sdcdsl.bind.relations import Relations
from sdcdsl.proof.families import Families

MOST_LISTED = 20_000  # pairs of one class of contributors that are listed


def asked_for(amounts: dict[str, np.ndarray]) -> int:
    """How many cells have a level."""
    return int(np.count_nonzero(np.sum(list(amounts.values()), axis=0) > 0))


@dataclass(frozen=True, eq=False)
class _Class:
    """The families of one declared attacker."""

    anyone: int
    cell: np.ndarray
    lpl: np.ndarray
    upl: np.ndarray
    without_family: np.ndarray
    without_attacker: np.ndarray


class PairBuilder:
    """Filled one declared attacker at a time.

    A contributor that attacks knows that a cell is at least as large as its own part, and what follows from that for
    sums (`implied_bounds`). Where that leaves less slack around the value than the level requires, the level is cut to
    what it leaves; where nobody else contributes, the pair is dropped, since nothing can be hidden from the only one
    who knows it. Both are counted.
    """

    def __init__(self, sensitive: np.ndarray, relations: Relations) -> None:
        self.sensitive, self.relations = sensitive, relations  # bool [cell]
        self.labels: tuple[str, ...] = ()
        self.view_of: list[int] = []
        self.low: list[np.ndarray] = []
        self.high: list[np.ndarray] = []
        self.parts: list[dict[str, np.ndarray]] = []
        self.known: list[tuple[np.ndarray, ...]] = []
        self.cut = 0
        self.dropped = 0
        self.merged = 0
        self.size = 0
        self.class_of: list[int] = []
        self.classes: list[_Class] = []

    def by_families(self, one: Knowledge, cells: np.ndarray, amounts: dict[str, np.ndarray]) -> bool:
        """Whether the pairs of this attacker are too many for a list. Sliding and conditional levels stay in one."""
        listed = not len(one.known_cell) or (amounts["spl"] > 0).any() or not self.sensitive[cells].all()
        return not listed and len(one.members) * asked_for(amounts) > MOST_LISTED

    def add(self, one: Knowledge, cells: np.ndarray, amounts: dict[str, np.ndarray], a: np.ndarray) -> None:
        """One declared attacker with its levels for `cells`."""
        slack = slack_left(one, self.relations, a)
        keep = self._kept(one, cells, amounts, slack, a)
        number = np.full(len(one.members), -1, dtype=np.int64)
        number[keep] = len(self.labels) + np.arange(len(keep))
        families = self.by_families(one, cells, amounts)
        (self._class if families else self._cross)(one, number, keep, cells, amounts, slack, a)
        labels = [one.members[int(m)] for m in keep] + [one.name] * families
        self.class_of += [len(self.classes) - 1 if families else -1] * len(keep) + [-1] * families
        chosen = number[one.known_member] >= 0
        cell = one.known_cell[chosen]
        low = np.maximum(one.known_low[chosen], one.low[cell])
        high = np.minimum(one.known_high[chosen], one.high[cell])
        self.known.append((number[one.known_member[chosen]], cell, low, high))
        self.view_of += [len(self.low)] * len(labels)
        self.low.append(one.low)
        self.high.append(one.high)
        self.labels += tuple(labels)
        self.merged += len(one.members) - len(keep)

    def _kept(
        self, one: Knowledge, cells: np.ndarray, amounts: dict[str, np.ndarray], slack: np.ndarray, a: np.ndarray
    ) -> np.ndarray:
        """Members whom no other member covers. Those treated leniently somewhere cover nobody."""
        asked = np.zeros((2, len(a)))
        asked[:, cells] = amounts["lpl"], amounts["upl"]
        cut = (asked[:, one.known_cell] > slack).any(axis=0)
        lenient = np.isin(one.known_cell, cells) & (cut | one.alone)
        spared = np.zeros(len(one.members), dtype=bool)
        spared[one.known_member[lenient]] = True
        return np.flatnonzero(~dominated(one, spared))

    def _cross(
        self,
        one: Knowledge,
        number: np.ndarray,
        keep: np.ndarray,
        cells: np.ndarray,
        amounts: dict[str, np.ndarray],
        slack: np.ndarray,
        a: np.ndarray,
    ) -> None:
        some = np.flatnonzero(np.sum(list(amounts.values()), axis=0) > 0)
        wide = len(some)
        part = {level: np.tile(amounts[level][some], len(keep)) for level in LEVELS}
        row = np.full(len(one.members), -1, dtype=np.int64)
        row[keep] = np.arange(len(keep))
        column = np.full(len(a), -1, dtype=np.int64)
        column[cells[some]] = np.arange(wide)
        touched = np.flatnonzero((row[one.known_member] >= 0) & (column[one.known_cell] >= 0))
        at = row[one.known_member[touched]] * wide + column[one.known_cell[touched]]
        below, above = slack[:, touched]
        self.cut += int((((part["lpl"][at] > below) | (part["upl"][at] > above)) & ~one.alone[touched]).sum())
        part["lpl"][at], part["upl"][at] = np.minimum(part["lpl"][at], below), np.minimum(part["upl"][at], above)
        wanted = np.ones(len(keep) * wide, dtype=bool)
        wanted[at[one.alone[touched]]] = False
        self.dropped += int((~wanted).sum())
        part |= {"attacker_at": np.repeat(number[keep], wide), "cell_at": np.tile(cells[some], len(keep))}
        self.parts.append({name: values[wanted] for name, values in part.items()})
        self.size += int(wanted.sum())

    def _class(
        self,
        one: Knowledge,
        number: np.ndarray,
        keep: np.ndarray,
        cells: np.ndarray,
        amounts: dict[str, np.ndarray],
        slack: np.ndarray,
        a: np.ndarray,
    ) -> None:
        """The pairs of the attacker who stands for the class, after its members, and those with levels of their own."""
        some = np.flatnonzero(np.sum(list(amounts.values()), axis=0) > 0)
        column = np.full(len(a), -1, dtype=np.int64)
        column[cells[some]] = np.arange(len(some))
        touched = np.flatnonzero((number[one.known_member] >= 0) & (column[one.known_cell] >= 0))
        family, who = column[one.known_cell[touched]], number[one.known_member[touched]]
        below, above = slack[:, touched]
        alone = one.alone[touched]
        cut = ((amounts["lpl"][some][family] > below) | (amounts["upl"][some][family] > above)) & ~alone
        self.cut += int(cut.sum())
        self.dropped += int(alone.sum())
        left_out = cut | alone
        everybody = np.bincount(family[left_out], minlength=len(some)) < len(keep)
        anyone = len(self.labels) + len(keep)
        attacker = np.concatenate([np.full(int(everybody.sum()), anyone), who[cut]])
        at = np.concatenate([np.flatnonzero(everybody), family[cut]])
        part = {level: amounts[level][some][at] for level in LEVELS}
        for name, left in (("lpl", below), ("upl", above)):
            part[name][int(everybody.sum()) :] = np.minimum(amounts[name][some][family[cut]], left[cut])
        self.parts.append({**part, "attacker_at": attacker, "cell_at": cells[some][at]})
        self.size += len(at)
        place = np.cumsum(everybody) - 1
        left_out &= everybody[family]
        self.classes.append(
            _Class(
                anyone,
                cells[some][everybody],
                amounts["lpl"][some][everybody],
                amounts["upl"][some][everybody],
                place[family[left_out]],
                who[left_out],
            )
        )

    def families(self) -> Families | None:
        if not self.classes:
            return None
        sizes = [len(one.cell) for one in self.classes]
        before = np.cumsum([0, *sizes[:-1]])
        without = np.concatenate([first + one.without_family for first, one in zip(before, self.classes, strict=True)])
        who = np.concatenate([one.without_attacker for one in self.classes])
        order = np.lexsort((who, without))
        return Families(
            class_of=np.array(self.class_of, dtype=np.int64),
            anyone=np.array([one.anyone for one in self.classes], dtype=np.int64),
            of=np.repeat(np.arange(len(sizes)), sizes),
            cell=np.concatenate([one.cell for one in self.classes]),
            lpl=np.concatenate([one.lpl for one in self.classes]),
            upl=np.concatenate([one.upl for one in self.classes]),
            without_family=without[order],
            without_attacker=who[order],
        )

    def variables(self) -> dict[str, tuple]:
        """As variables of the problem's dataset."""
        known = [np.concatenate(column) for column in zip(*self.known, strict=True)]
        names = ("known_attacker", "known_cell", "known_low", "known_high")
        pairs = {
            name: np.concatenate([part[name] for part in self.parts]) for name in (*LEVELS, "cell_at", "attacker_at")
        }
        conditional = ~self.sensitive[pairs["cell_at"]]
        if conditional.any():
            pairs["conditional"] = conditional
        return {
            **{name: ("pair", values) for name, values in pairs.items()},
            "low": (("view", "cell"), np.stack(self.low)),
            "high": (("view", "cell"), np.stack(self.high)),
            "view_of": ("attacker", np.array(self.view_of, dtype=np.int64)),
            **{name: ("known", values) for name, values in zip(names, known, strict=True)},
        }
