"""Attacker by sensitive cell: the pairs protection must cover, and what single attackers know beyond their view. Pairs
of cells that are not sensitive are conditional: they count in a release that does not publish the cell as it is."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.attackers import Knowledge, dominated
from sdcdsl.bind.levels import LEVELS


class Pairs:
    """Filled one declared attacker at a time.

    A contributor that attacks knows that a cell is at least as large as its own part. Where that leaves less room below
    the value than the level asks for, the level is cut to what it leaves; where nobody else contributes, the pair is
    dropped, since nothing can be hidden from the only one who knows it. Both are counted.
    """

    def __init__(self, sensitive: np.ndarray) -> None:
        self.sensitive = sensitive  # bool [cell]
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

    def add(self, one: Knowledge, cells: np.ndarray, amounts: dict[str, np.ndarray], a: np.ndarray) -> None:
        """One declared attacker with its levels for `cells`."""
        keep = self._kept(one, cells, amounts["lpl"], a)
        number = np.full(len(one.members), -1, dtype=np.int64)
        number[keep] = len(self.labels) + np.arange(len(keep))
        self._cross(one, number, keep, cells, amounts, a)
        chosen = number[one.known_member] >= 0
        cell = one.known_cell[chosen]
        low = np.maximum(one.known_low[chosen], one.low[cell])
        high = np.minimum(one.known_high[chosen], one.high[cell])
        self.known.append((number[one.known_member[chosen]], cell, low, high))
        self.view_of += [len(self.low)] * len(keep)
        self.low.append(one.low)
        self.high.append(one.high)
        self.labels += tuple(one.members[int(m)] for m in keep)
        self.merged += len(one.members) - len(keep)

    def _kept(self, one: Knowledge, cells: np.ndarray, lpl: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Members whom no other member covers. Those treated leniently somewhere cover nobody."""
        asked = np.zeros(len(a))
        asked[cells] = lpl
        room = a[one.known_cell] - one.known_low
        lenient = np.isin(one.known_cell, cells) & ((asked[one.known_cell] > room) | one.alone)
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
        room = np.maximum(a[one.known_cell[touched]] - one.known_low[touched], 0.0)
        self.cut += int(((part["lpl"][at] > room) & ~one.alone[touched]).sum())
        part["lpl"][at] = np.minimum(part["lpl"][at], room)
        wanted = np.ones(len(keep) * wide, dtype=bool)
        wanted[at[one.alone[touched]]] = False
        self.dropped += int((~wanted).sum())
        part |= {"attacker_at": np.repeat(number[keep], wide), "cell_at": np.tile(cells[some], len(keep))}
        self.parts.append({name: values[wanted] for name, values in part.items()})
        self.size += int(wanted.sum())

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
