"""Which way a change of one statement goes: the one place that decides it, for `diff` and for advice on overrides.

A verdict is about what the policy requires in the cells that the statement decides, before or after the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import Sign
from sdcdsl.policy.competition import Amount, LevelStatement, Signs, moves
from sdcdsl.policy.meaning import LEVELS, against_of, attackers_of, brings_levels, level_sets, scenarios_of
from sdcdsl.policy.resolve import Policy


class Verdict(StrEnum):
    TIGHTER = "tighter"
    LOOSER = "looser"
    NEUTRAL = "neutral"
    NEEDS_DATA = "needs data"

    @property
    def opposite(self) -> Verdict:
        return {Verdict.TIGHTER: Verdict.LOOSER, Verdict.LOOSER: Verdict.TIGHTER}.get(self, self)


_T, _N, _D = Verdict.TIGHTER, Verdict.NEUTRAL, Verdict.NEEDS_DATA


def _either_way(verdict: Verdict, why: str) -> tuple[Verdict, str, str]:
    """The change and the change back are said in the same words."""
    return verdict, why, why


class VerdictReason(Enum):
    """A verdict, why, and why the change back has the opposite one."""

    ASKS_MORE = _T, "{} rises", "{} falls"
    KNOWS_MORE = _T, "the attacker knows more", "the attacker knows less"
    GUARDED = _T, "{} is guarded against too", "{} is no longer guarded against"
    MORE_TABLES = _T, "more tables are protected", "fewer tables are protected"
    TABLE_HERE = _T, "tables protected together", "a table is no longer protected here"
    MORE_SENSITIVE = _T, "more cells are sensitive", "fewer cells are sensitive"
    MORE_HIDDEN = _T, "more cells are hidden", "fewer cells are hidden"
    FEWER_PUBLISHED = _T, "fewer cells are published as they are", "more cells are published as they are"
    MORE_REQUIRED = _T, "more is required", "less is required"
    WAIVER_ENDS = _T, "the waiver ends sooner", "the waiver lasts longer"
    RULE_FINDS = _T, "the rule finds more cells", "the rule finds fewer cells"
    RULE_LOOKS = _T, "the rule looks at all cells", "the rule looks at fewer cells"
    MORE_ADDRESSES = _T, "more cells are named", "fewer cells are named"

    SAME = _either_way(_N, "{} is the same")
    UNUSED = _either_way(_N, "no cell uses it")
    IDLE = _either_way(_N, "counts only where a protect block names it")
    COST = _either_way(_N, "moves the choice of cells, not their protection")
    SILENT = _either_way(_N, "says nothing about protection")
    EFFORT = _either_way(_N, "how long to search says nothing about protection")
    ORDER_ONLY = _either_way(_N, "only the order changed")
    WHY_ONLY = _either_way(_N, "only the reason changed")

    MIXED = _either_way(_D, "{} rises in some cells and may fall in others")
    BOUNDS_MOVE = _either_way(_D, "the bounds move, which way shows in the cells")
    ORDER = _either_way(_D, "the order changed, and the last match wins")
    EXCHANGED = _D, "{1} instead of {0}", "{0} instead of {1}"
    ELSEWHERE = _either_way(_D, "{} is guarded against in another way")
    FILE_ATTACKER = _either_way(_D, "without a name, the attacker is the one of the table's file")
    OTHER_METHOD = _either_way(_D, "another method publishes something else")
    PUBLISHED = _either_way(_D, "what is published changes")
    DATA = _either_way(_D, "the data changes")
    TWICE = _either_way(_D, "another release of a table that is protected elsewhere too")
    OTHER_CELLS = _either_way(_D, "it looks at other cells")
    PULLS = _either_way(_D, "the rule's arguments pull in two directions")
    CELLS_TELL = _either_way(_D, "its effect shows in the cells")


@dataclass(frozen=True)
class ChangeVerdict:
    reason: VerdictReason
    undone: bool = False
    about: tuple[str, ...] = ()  # what the reason speaks of

    @property
    def verdict(self) -> Verdict:
        verdict = self.reason.value[0]
        return verdict.opposite if self.undone else verdict

    @property
    def why(self) -> str:
        return self.reason.value[2 if self.undone else 1].format(*self.about)

    @property
    def back(self) -> ChangeVerdict:
        """The judgement of the opposite change."""
        return replace(self, undone=not self.undone)


def by_signs(found: Iterable[Sign], more: VerdictReason, unclear: VerdictReason, what: str = "") -> ChangeVerdict:
    """From the signs of all comparisons: one way in all of them, or only the data can tell."""
    signs, about = set(found), (what,) if what else ()
    if not signs:
        return ChangeVerdict(VerdictReason.UNUSED)
    if None in signs or {-1, 1} <= signs:
        return ChangeVerdict(unclear, about=about)
    if signs == {0}:
        return ChangeVerdict(VerdictReason.SAME, about=about or ("it",))
    return ChangeVerdict(more, undone=-1 in signs, about=about)


# ---- levels and bounds -----------------------------------------------------------------------------------

_UNKNOWN: Amount = (x.Call("unknown", ()),)  # what a block that is not there yet will say
_UNBOUNDED: Amount = (x.Negative(x.Infinity()), x.Negative(x.Infinity()))


class LevelChanges:
    """How the levels and bounds of two policies differ; worked out once, asked statement by statement."""

    def __init__(self, old: Policy, new: Policy):
        self.old, self.new = old, new
        self.signs: dict[int, Signs] = {}
        self.unclear: set[str] = set()  # protect blocks whose levels cannot be set side by side
        self.scenarios: set[str] = set()  # scenarios that were
        for name, attacker in new.attackers.items():
            if name in old.attackers:
                a, b = old.attackers[name].all(d.Bounds), attacker.all(d.Bounds)
                if a != b:
                    moves(a, b, [_UNBOUNDED], self.signs)
        for name in new.protects:
            if name in old.protects:
                self._protect(old.protects[name], new.protects[name])
        if not (old.protects and new.protects):  # house rules: blocks to come say something first
            for name, scenario in new.scenarios.items():
                if name in old.scenarios:
                    self.scenarios.add(name)
                    self._levels(old.scenarios[name].all(d.Level), scenario.all(d.Level), [_UNKNOWN])

    def _protect(self, before: d.Block, after: d.Block) -> None:
        given = {brings_levels(self.old, before), brings_levels(self.new, after)}
        zero: list[Amount] = [] if given == {True} else [(x.Number("0"),)]
        file: list[Amount] = [] if given == {False} else [(x.Name("needed"),)]
        sets = {s.scenario: s for s in level_sets(self.old, before)}
        common = [(sets[s.scenario], s) for s in level_sets(self.new, after) if s.scenario in sets]
        if not common:
            self.unclear.add(after.name)
        self._levels(before.all(d.Conditional), after.all(d.Conditional), [(x.Number("0"),)])
        for a, b in common:
            self._levels(a.levels, b.levels, zero + file)
            if b.scenario is not None:
                self.scenarios.add(b.scenario)

    def _levels(self, old: Sequence[LevelStatement], new: Sequence[LevelStatement], defaults: list[Amount]) -> None:
        for level in LEVELS:
            a, b = [s for s in old if s.level == level], [s for s in new if s.level == level]
            if a != b:
                moves(a, b, defaults, self.signs)

    def judge(self, old: d.Statement | None, new: d.Statement | None, block: d.Block) -> ChangeVerdict:
        """A level or bounds that was added, removed, changed or moved."""
        signs = {sign for s in (old, new) if id(s) in self.signs for sign in self.signs[id(s)]}
        said = new or old
        if isinstance(said, d.Bounds):
            found = by_signs(signs, VerdictReason.KNOWS_MORE, VerdictReason.BOUNDS_MOVE)
        elif block.kind == "protect" and block.name in self.unclear:
            found = ChangeVerdict(VerdictReason.CELLS_TELL)
        elif block.kind == "scenario" and block.name not in self.scenarios:
            found = ChangeVerdict(VerdictReason.IDLE)
        else:
            general = isinstance(said, d.Level | d.Conditional) and said.where is None and said.against is None
            what = "the level" if general or (old and new) else "the level, for some cells,"
            found = by_signs(signs, VerdictReason.ASKS_MORE, VerdictReason.MIXED, what)
        return ChangeVerdict(VerdictReason.ORDER) if found.verdict is _D and old is not None and old == new else found


# ---- who is guarded against ------------------------------------------------------------------------------


def guards(moved: LevelChanges, before: d.Block, after: d.Block) -> ChangeVerdict:
    """A change of `against`, in a protect block or a scenario."""
    if before.kind == "protect" and not (attackers_of(moved.old, before) and attackers_of(moved.new, after)):
        return ChangeVerdict(VerdictReason.FILE_ATTACKER)
    scenario = after.kind == "scenario"
    users = [p for p in moved.new.protects.values() if after in scenarios_of(moved.new, p)] if scenario else [after]
    still = {a for p in users for a in attackers_of(moved.new, p)}
    return _names(against_of(before), against_of(after), still, "attacker")


def scenarios(moved: LevelChanges, before: d.Block, after: d.Block) -> ChangeVerdict:
    """A change of `scenarios`. A set of levels that goes lowers some; but others may take over its attackers."""
    if not (attackers_of(moved.old, before) and attackers_of(moved.new, after)):
        return ChangeVerdict(VerdictReason.FILE_ATTACKER)
    a, b = scenarios_of(moved.old, before), scenarios_of(moved.new, after)
    kept = {s.name for s in a} & {s.name for s in b}
    newly = set(against_of(after)) - set(against_of(before))
    still = {s.name for s in a if s.name not in kept and newly & set(against_of(s))}
    return _names([s.name for s in a], [s.name for s in b], still, "scenario")


def _names(a: Iterable[str], b: Iterable[str], still: set[str], what: str) -> ChangeVerdict:
    gone, come = sorted(set(a) - set(b)), sorted(set(b) - set(a))
    lost, found = f"{what} {', '.join(gone)}", f"{what} {', '.join(come)}"
    if gone and come:
        return ChangeVerdict(VerdictReason.EXCHANGED, about=(lost, found))
    if gone:
        return ChangeVerdict(
            VerdictReason.ELSEWHERE if still & set(gone) else VerdictReason.GUARDED, undone=True, about=(lost,)
        )
    return ChangeVerdict(VerdictReason.GUARDED, about=(found,)) if come else ChangeVerdict(VerdictReason.ORDER_ONLY)


# ---- other statements ------------------------------------------------------------------------------------

_EFFORT = frozenset({"gap", "time_limit", "threads", "backend"})


def methods(a: d.MethodChain, b: d.MethodChain) -> ChangeVerdict:
    if [e.name for e in a.engines] != [e.name for e in b.engines]:
        return ChangeVerdict(VerdictReason.OTHER_METHOD)
    for one, other in zip(a.engines, b.engines, strict=True):
        if _options(one) != _options(other):
            return ChangeVerdict(VerdictReason.PUBLISHED)
    return ChangeVerdict(VerdictReason.EFFORT)


def _options(engine: d.Engine) -> dict[str, list[d.Option]]:
    """By name: options compete with their like (S6), so that only their order counts."""
    out: dict[str, list[d.Option]] = {}
    for option in engine.options:
        if option.name not in _EFFORT:
            out.setdefault(option.name, []).append(option)
    return out
