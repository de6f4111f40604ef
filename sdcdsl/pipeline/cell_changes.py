"""What a change of policy means for every cell: which became sensitive, whose levels rose or fell, who knows more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.bind.problem import SensitiveCells, StatementCells, TableProblem
from sdcdsl.outcome import Outcome
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.pipeline.alignment import Alignment, align
from sdcdsl.pipeline.cell_facts import Statement
from sdcdsl.policy.meaning import LEVELS

SAME = 1e-9  # relative: less than that is no change
PRICES = {"w": "cost", "w_up": "cost up", "w_down": "cost down", "w_fixed": "cost fixed"}


@dataclass(frozen=True)
class ChangedCell:
    """One cell of a list; amounts where the list has any."""

    label: str
    old: float | None = None
    new: float | None = None
    why: tuple[Statement, ...] = ()


@dataclass(frozen=True, eq=False)
class CellList:
    """Cells that something happened to, the most changed first. Labels are made when they are required."""

    label: Callable[[int], str]
    cells: np.ndarray
    old: np.ndarray | None = None
    new: np.ndarray | None = None
    why: Callable[[int], tuple[Statement, ...]] = lambda at: ()

    def __len__(self) -> int:
        return len(self.cells)

    def rows(self, most: int | None = None) -> Iterator[ChangedCell]:
        for at in range(len(self))[:most]:
            old = float(self.old[at]) if self.old is not None else None
            new = float(self.new[at]) if self.new is not None else None
            yield ChangedCell(self.label(int(self.cells[at])), old, new, self.why(at))


@dataclass(frozen=True, eq=False)
class LevelChange:
    attacker: str
    level: str
    tighter: CellList
    looser: CellList


@dataclass(frozen=True)
class AttackerChange:
    """A declared attacker; None where it does not count on that side."""

    name: str
    old: int | None  # how many stand behind it
    new: int | None
    knows_more: int = 0  # cells of which it knows closer bounds than before
    knows_less: int = 0
    old_parts: int = 0  # cells of which those behind it know their own part, all together
    new_parts: int = 0

    @property
    def changed(self) -> bool:
        same = self.old == self.new and self.old_parts == self.new_parts
        return not same or bool(self.knows_more or self.knows_less)


@dataclass(frozen=True, eq=False)
class ProtectionChange:
    """The two releases beside each other."""

    old: Outcome
    new: Outcome
    newly_published: CellList | None  # None: one of them has no release
    no_longer_published: CellList | None

    @property
    def changed(self) -> bool:
        lists = (self.newly_published, self.no_longer_published)
        return self.old.verdict != self.new.verdict or any(found is not None and len(found) for found in lists)


@dataclass(frozen=True, eq=False)
class BlockChange:
    """One protect block; without one of the problems it is in one policy only, and nothing else is said."""

    name: str
    old: TableProblem | None
    new: TableProblem | None
    both: int = 0
    lists: dict[str, CellList] = field(default_factory=dict[str, CellList])
    levels: tuple[LevelChange, ...] = ()
    attackers: tuple[AttackerChange, ...] = ()
    protection: ProtectionChange | None = None

    @property
    def changed(self) -> bool:
        if self.old is None or self.new is None:
            return True
        levels = any(len(one.tighter) or len(one.looser) for one in self.levels)
        attackers = any(one.changed for one in self.attackers)
        protection = self.protection is not None and self.protection.changed
        return levels or attackers or protection or any(len(found) for found in self.lists.values())


def compare(
    old: dict[str, TableProblem],
    new: dict[str, TableProblem],
    outcomes: tuple[dict[str, Outcome], dict[str, Outcome]] | None = None,
) -> list[BlockChange]:
    """Blocks of one name are compared; so are those that are left over if each policy has one of them."""
    left, right = [n for n in old if n not in new], [n for n in new if n not in old]
    pairs: list[tuple[str | None, str | None]] = [(n, n) for n in old if n in new]
    if len(left) == len(right) == 1:
        pairs.append((left[0], right[0]))
    else:
        pairs += [(n, None) for n in left] + [(None, n) for n in right]
    out: list[BlockChange] = []
    for a, b in pairs:
        if a is None or b is None:
            out.append(BlockChange(a or b or "", old.get(a or ""), new.get(b or "")))
            continue
        before, after = (outcomes[0].get(a), outcomes[1].get(b)) if outcomes is not None else (None, None)
        # A run binds its policy itself: its own problem is compared, so that cells have one number.
        out.append(
            _compared(b, before.problem if before else old[a], after.problem if after else new[b], before, after)
        )
    return out


def _compared(
    name: str, old: TableProblem, new: TableProblem, before: Outcome | None, after: Outcome | None
) -> BlockChange:
    made = align(old, new)
    lists = {
        **_alone("only_old", "no_longer_protected_sums", old, made.only_old),
        **_alone("only_new", "newly_protected_sums", new, made.only_new),
        **_statuses(old, new, made),
        **_amounts(old, new, made),
    }
    protection = _protection(before, after, made) if before is not None and after is not None else None
    shown = int(new.dataset["published"].values[made.new].sum())
    return BlockChange(
        name, old, new, shown, lists, tuple(_levels(old, new, made)), tuple(_attackers(old, new, made)), protection
    )


def _alone(cells: str, sums: str, problem: TableProblem, alone: np.ndarray) -> dict[str, CellList]:
    published = problem.dataset["published"].values[alone]
    return {cells: CellList(problem.label, alone[published]), sums: CellList(problem.label, alone[~published])}


# ---- what cells are --------------------------------------------------------------------------------


def _statuses(old: TableProblem, new: TableProblem, made: Alignment) -> dict[str, CellList]:
    """Sensitive, published by a statement, hidden by one: what came and what went, and which statements say so."""
    was, now = old.dataset["status"].values[made.old], new.dataset["status"].values[made.new]
    marks, had = _Saying(new.marked), _Saying(old.marked)
    said, spoke = _Saying(new.stated), _Saying(old.stated)
    out: dict[str, CellList] = {}
    for letter, name, words in (
        ("u", "sensitive", ()),
        ("z", "fixed", ("publish", "fix")),
        ("m", "suppressed", ("suppress",)),
    ):
        came, went = (
            np.flatnonzero((now == letter) & (was != letter)),
            np.flatnonzero((now != letter) & (was == letter)),
        )

        def arrived(at: int, came: np.ndarray = came, words: tuple[str, ...] = words) -> tuple[Statement, ...]:
            cell = int(made.new[came[at]])
            return said.of(cell, words) if words else marks.of(cell)

        def left(at: int, went: np.ndarray = went, words: tuple[str, ...] = words) -> tuple[Statement, ...]:
            there, here = int(made.new[went[at]]), int(made.old[went[at]])
            if words:
                return spoke.of(here, words)
            return said.of(there, ("waive",)) or had.of(here)

        out[f"newly_{name}"] = CellList(new.label, made.new[came], why=arrived)
        out[f"no_longer_{name}"] = CellList(new.label, made.new[went], why=left)
    return out


class _Saying:
    """Which statements speak of a cell; looked up often."""

    def __init__(self, stated: tuple[SensitiveCells, ...] | tuple[StatementCells, ...]) -> None:
        self._stated = stated
        self._cells: list[set[int]] | None = None

    def of(self, cell: int, words: tuple[str, ...] = ()) -> tuple[Statement, ...]:
        if self._cells is None:
            self._cells = [set((s.at if isinstance(s, SensitiveCells) else s.cells).tolist()) for s in self._stated]
        return tuple(
            Statement.of(s.span, s.what)
            for s, cells in zip(self._stated, self._cells, strict=True)
            if cell in cells and (isinstance(s, SensitiveCells) or s.word in words)
        )


def _differ(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.abs(new - old) > SAME * np.maximum(np.maximum(np.abs(old), np.abs(new)), SAME)


def _changed(
    new: TableProblem, made: Alignment, old_amounts: np.ndarray, amounts: np.ndarray, at: np.ndarray
) -> CellList:
    at = at[np.argsort(-np.abs(amounts[at] - old_amounts[at]), kind="stable")]
    return CellList(new.label, made.new[at], old_amounts[at], amounts[at])


def _amounts(old: TableProblem, new: TableProblem, made: Alignment) -> dict[str, CellList]:
    """Values and costs."""
    out: dict[str, CellList] = {}
    for letter, name in {"a": "value", **PRICES}.items():
        if letter in old.dataset or letter in new.dataset:  # prices that are not stated are the cost itself
            was = old.dataset[letter if letter in old.dataset else "w"].values[made.old]
            now = new.dataset[letter if letter in new.dataset else "w"].values[made.new]
            out[name] = _changed(new, made, was, now, np.flatnonzero(_differ(was, now)))
    return out


# ---- levels and attackers --------------------------------------------------------------------------


def _levels(old: TableProblem, new: TableProblem, made: Alignment) -> Iterator[LevelChange]:
    """Of cells that are sensitive on both sides, or on neither (conditional levels)."""
    same = (old.dataset["status"].values[made.old] == "u") == (new.dataset["status"].values[made.new] == "u")
    before = {one.attacker: one for one in old.attacker_levels}
    for one in new.attacker_levels:
        if one.attacker not in before:
            continue
        for level in LEVELS:
            was, now = before[one.attacker].amounts[level][made.old], one.amounts[level][made.new]
            moved = same & _differ(was, now)
            yield LevelChange(
                one.attacker,
                level,
                _changed(new, made, was, now, np.flatnonzero(moved & (now > was))),
                _changed(new, made, was, now, np.flatnonzero(moved & (now < was))),
            )


def _attackers(old: TableProblem, new: TableProblem, made: Alignment) -> Iterator[AttackerChange]:
    """View i of a problem is that of its i-th declared attacker."""
    before, after = (_declared(problem) for problem in (old, new))
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        more, less = _knowledge(old, new, made, was.view, now.view) if was is not None and now is not None else (0, 0)
        yield AttackerChange(
            name,
            was.members if was is not None else None,
            now.members if now is not None else None,
            more,
            less,
            was.parts if was is not None else 0,
            now.parts if now is not None else 0,
        )


@dataclass(frozen=True)
class _Declared:
    view: int
    members: int
    parts: int


def _declared(problem: TableProblem) -> dict[str, _Declared]:
    view_of = problem.dataset["view_of"].values
    views = len(problem.attacker_levels)
    members = np.bincount(view_of, minlength=views)
    parts = np.bincount(view_of[problem.dataset["known_attacker"].values], minlength=views)
    return {one.attacker: _Declared(i, int(members[i]), int(parts[i])) for i, one in enumerate(problem.attacker_levels)}


def _knowledge(old: TableProblem, new: TableProblem, made: Alignment, was: int, now: int) -> tuple[int, int]:
    """Cells about which the attacker knows closer bounds, and wider ones. What is published by a statement is known to
    everybody and counted there."""
    d, e = old.dataset, new.dataset
    open_cells = (d["status"].values[made.old] != "z") & (e["status"].values[made.new] != "z")
    open_cells &= e["published"].values[made.new]
    more, less = np.zeros(len(made.old), dtype=bool), np.zeros(len(made.old), dtype=bool)
    for end, sign in (("low", 1.0), ("high", -1.0)):
        with np.errstate(invalid="ignore"):
            before = sign * (d["a"].values[made.old] - d[end].values[was, made.old])
            after = sign * (e["a"].values[made.new] - e[end].values[now, made.new])
            moved = np.where(np.isfinite(before) & np.isfinite(after), _differ(before, after), before != after)
        more |= moved & (after < before)
        less |= moved & (after > before)
    return int((more & open_cells).sum()), int((less & open_cells).sum())


# ---- the releases ----------------------------------------------------------------------------------


def _protection(before: Outcome, after: Outcome, made: Alignment) -> ProtectionChange:
    if before.pattern is None or after.pattern is None:
        return ProtectionChange(before, after, None, None)
    shown = after.problem.dataset["published"].values[made.new]
    was, now = before.pattern.status[made.old] == EXACT, after.pattern.status[made.new] == EXACT
    label = after.problem.label
    return ProtectionChange(
        before,
        after,
        CellList(label, made.new[shown & now & ~was]),
        CellList(label, made.new[shown & was & ~now]),
    )
