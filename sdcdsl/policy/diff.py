"""What a change of policy means, statement by statement.

Each edit says whether protection became `tighter` or `looser`, stayed the same (`neutral`), or whether only the data
can tell (`needs data`). Of statements that compete (R1) or are said once, what counts is compared; of all others, every
one. The verdict is about what the policy requires: a cost moves the choice of cells, not the protection they get, and
is neutral.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sdcdsl.diagnostics import Span
from sdcdsl.policy import document as d
from sdcdsl.policy import fact_verdicts, verdicts
from sdcdsl.policy.checks.blocks import ONCE
from sdcdsl.policy.meaning import rivals, simplified
from sdcdsl.policy.parameters import Parameter
from sdcdsl.policy.resolve import KINDS, Policy, resolve
from sdcdsl.policy.verdicts import ChangeVerdict, LevelChanges, Verdict, VerdictReason
from sdcdsl.policy.write import fact, heading, param, statement

__all__ = ["Edit", "Verdict", "diff", "overall"]


@dataclass(frozen=True)
class Edit:
    """One change: `old` is None for what was added, `new` for what was taken away."""

    verdict: Verdict
    where: str  # the block, or "policy"
    old: str | None
    new: str | None
    old_span: Span | None = None
    new_span: Span | None = None
    why: str = ""

    @property
    def kind(self) -> str:
        return "added" if self.old is None else "removed" if self.new is None else "changed"


def diff(old: Policy, new: Policy) -> list[Edit]:
    """A parameter that both declare, with another value, is one change, however many statements it stands in: the rest
    is compared as if it had kept its value."""
    changed = [
        (was, now)
        for name, now in new.parameters.items()
        if (was := old.parameters.get(name)) is not None and was.value != now.value and was.kind == now.kind
    ]
    values = {name: p.text for name, p in new.parameters.items()} | {was.name: was.text for was, _ in changed}
    before = resolve(new.files, values)[0] if changed else new
    edits = [*_parameters(old, new), *_statements(old, before)]
    for was, now in changed:
        values[now.name] = now.text
        after, _ = resolve(new.files, values)
        edits.append(_set_anew(was, now, _statements(before, after)))
        before = after
    return edits


def _parameters(old: Policy, new: Policy) -> Iterator[Edit]:
    """Parameters that only one of them has, or of another kind."""
    for name in dict.fromkeys([*old.parameters, *new.parameters]):
        a, b = old.parameters.get(name), new.parameters.get(name)
        if a is None or b is None or a.kind != b.kind:
            found = ChangeVerdict(VerdictReason.SILENT)
            said = [None if p is None else param(name, p.value) for p in (a, b)]
            spans = [None if p is None else p.span for p in (a, b)]
            yield Edit(found.verdict, "policy", said[0], said[1], spans[0], spans[1], found.why)


def _set_anew(was: Parameter, now: Parameter, effect: Sequence[Edit]) -> Edit:
    verdict = overall(effect)
    reasons = list(dict.fromkeys(e.why for e in effect if e.verdict is verdict))
    many = f"{len(effect)} statements name it" if len(effect) > 1 else "one statement names it"
    why = f"{many}: {'; '.join(reasons[:3])}" if effect else "nothing names it"
    old, new = param(was.name, was.value), param(now.name, now.value)
    return Edit(verdict, "policy", old, new, was.span, now.span, why)


def _statements(old: Policy, new: Policy) -> list[Edit]:
    edits = list(_settings(old, new))
    moved = LevelChanges(old, new)
    for kind in KINDS:
        edits += _blocks(moved, old.blocks[kind], new.blocks[kind])
    edits += _facts(old, new)
    return edits


def overall(edits: Iterable[Edit]) -> Verdict:
    """The verdict of all edits together: loosening somewhere is loosening, unless only the data can tell."""
    found = {e.verdict for e in edits}
    for verdict in (Verdict.LOOSER, Verdict.NEEDS_DATA, Verdict.TIGHTER):
        if verdict in found:
            return verdict
    return Verdict.NEUTRAL


def _settings(old: Policy, new: Policy) -> Iterator[Edit]:
    for word, a, b in (("policy", old.title, new.title), ("seed", old.seed, new.seed)):
        if a != b:
            found = ChangeVerdict(VerdictReason.SILENT)
            yield Edit(found.verdict, "policy", _said(word, a), _said(word, b), why=found.why)


def _said(word: str, value: object) -> str | None:
    return None if value is None else f'{word} "{value}"' if isinstance(value, str) else f"{word} {value}"


# ---- blocks --------------------------------------------------------------------------------------------


def _blocks(moved: LevelChanges, old: Any, new: Any) -> Iterator[Edit]:
    for name in [*old, *(n for n in new if n not in old)]:
        a, b = old.get(name), new.get(name)
        if b is None:
            found = _whole(a, new).back
            yield Edit(found.verdict, heading(a), heading(a), None, a.heading, why=found.why)
        elif a is None:
            found = _whole(b, old)
            yield Edit(found.verdict, heading(b), None, heading(b), new_span=b.heading, why=found.why)
        else:
            yield from _block(moved, a, b)


_WHOLE = {
    "dimension": VerdictReason.PUBLISHED,
    "data": VerdictReason.DATA,
    "table": VerdictReason.PUBLISHED,
    "attacker": VerdictReason.IDLE,
    "scenario": VerdictReason.IDLE,
    "protect": VerdictReason.MORE_TABLES,
}


def _whole(block: d.Block, others: Any) -> ChangeVerdict:
    """The judgement of adding a whole block; taking it away is the opposite."""
    if block.kind == "protect" and any(set(block.tables) & set(o.tables) for o in others.values()):
        return ChangeVerdict(VerdictReason.TWICE)
    return ChangeVerdict(_WHOLE[block.kind])


def _block(moved: LevelChanges, old: d.Block, new: d.Block) -> Iterator[Edit]:
    where = heading(new)
    if old.tables != new.tables:
        found = _tables(set(old.tables), set(new.tables))
        yield Edit(found.verdict, where, heading(old), heading(new), old.heading, new.heading, found.why)
    for a, b in _pairs(old, new):
        found = _judged(moved, a, b, old, new)
        if a is not None and a == b and found.verdict is Verdict.NEUTRAL and not isinstance(a, d.Cost):
            continue  # it stands elsewhere, and no cell can tell
        yield Edit(found.verdict, where, _text(a), _text(b), _span(a), _span(b), found.why)


def _tables(old: set[str], new: set[str]) -> ChangeVerdict:
    if old == new:
        return ChangeVerdict(VerdictReason.ORDER_ONLY)
    return ChangeVerdict(VerdictReason.TABLE_HERE, undone=bool(old - new))


def _text(s: d.Statement | None) -> str | None:
    return " ".join(statement(s).split()) if s is not None else None


def _span(s: d.Statement | None) -> Span | None:
    return s.span if s is not None else None


def _judged(
    moved: LevelChanges, a: d.Statement | None, b: d.Statement | None, old: d.Block, new: d.Block
) -> ChangeVerdict:
    match a or b:
        case d.Level() | d.Conditional() | d.Bounds():
            return moved.judge(a, b, new)
        case d.Against():
            return verdicts.guards(moved, old, new)
        case d.Scenarios():
            return verdicts.scenarios(moved, old, new)
        case d.Cost():
            return ChangeVerdict(VerdictReason.ORDER_ONLY if a == b else VerdictReason.COST)
        case d.Release() | d.Assess() | d.UnitOf() | d.Labels():
            return ChangeVerdict(VerdictReason.SILENT)
        case d.Knows() | d.Coalition() if a is None or b is None:
            return ChangeVerdict(VerdictReason.KNOWS_MORE, undone=b is None)
        case d.MethodChain() if isinstance(a, d.MethodChain) and isinstance(b, d.MethodChain):
            return verdicts.methods(a, b)
        case _:
            return ChangeVerdict(VerdictReason.CELLS_TELL)


# ---- which statements differ ---------------------------------------------------------------------------

Pair = tuple[d.Statement | None, d.Statement | None]
_SETS: tuple[Hashable, ...] = (d.Knows, d.Integer)  # said twice is said once
_IN_ORDER = (d.Codes, d.HierarchyFile, d.HierarchySum, d.HierarchyPrefix, d.HierarchyTree)  # the first tree is meant


def _pairs(old: d.Block, new: d.Block) -> Iterator[Pair]:
    """Statements that differ, two versions of one side by side."""
    before, after = _families(old), _families(new)
    for family in dict.fromkeys([*before, *after]):
        a, b = before.get(family, []), after.get(family, [])
        if a != b:
            yield from _differing(a, b)


def _families(block: d.Block) -> dict[Hashable, list[d.Statement]]:
    """Statements that are set side by side: those that compete, the last of what is said once, all others by kind."""
    once = {kind for kind, _ in ONCE[block.kind]}
    out: dict[Hashable, list[d.Statement]] = {}
    for s in block.statements:
        if type(s) in once:
            out[type(s)] = [s]
        elif isinstance(s, _IN_ORDER):
            out.setdefault(_IN_ORDER, []).append(s)
        else:
            out.setdefault(rivals(s) or type(s), []).append(s)
    return {key: list(dict.fromkeys(said)) if key in _SETS else said for key, said in out.items()}


def _differing(old: Sequence[d.Statement], new: Sequence[d.Statement]) -> Iterator[Pair]:
    """Compared as multisets, from the last one on: of equal statements that compete, the last counts."""
    (_, gone), (_, come) = _split(old, Counter(new)), _split(new, Counter(old))
    waiting: dict[Hashable, list[d.Statement]] = {}
    for s in come:
        waiting.setdefault(_key(s), []).append(s)
    partner: dict[int, d.Statement] = {}
    for s in reversed(gone):
        if queue := waiting.get(_key(s)):
            partner[id(s)] = queue.pop()
    taken = {id(s) for s in partner.values()}
    yield from ((s, partner.get(id(s))) for s in gone)
    yield from ((None, s) for s in come if id(s) not in taken)
    yield from _moved(old, new)


def _moved(old: Sequence[d.Statement], new: Sequence[d.Statement]) -> Iterator[Pair]:
    """Statements that both hold, in another order, where the order counts."""
    if not old or not (isinstance(old[0], _IN_ORDER) or rivals(old[0])):
        return
    shared = Counter(old) & Counter(new)
    (a, _), (b, _) = _split(old, shared), _split(new, shared)
    if a == b:
        return
    if isinstance(old[0], d.Level | d.Conditional | d.Bounds):  # every one is judged
        place: dict[d.Statement, d.Statement] = dict(zip(a, a, strict=True))
        yield from ((place[s], s) for s in b)
    else:
        at = next(i for i, (one, other) in enumerate(zip(a, b, strict=True)) if one != other)
        yield next(s for s in a if s == b[at]), b[at]


def _split(
    statements: Sequence[d.Statement], others: Counter[d.Statement]
) -> tuple[list[d.Statement], list[d.Statement]]:
    """Those that are among the others, as often as they are, and those that are left; the last are found first."""
    left = Counter(others)
    both: list[d.Statement] = []
    alone: list[d.Statement] = []
    for s in reversed(statements):
        (both if left[s] > 0 else alone).append(s)
        left[s] -= 1
    return both[::-1], alone[::-1]


def _key(s: d.Statement) -> Hashable:
    """What makes two statements versions of one, for the reader."""
    match s:
        case d.Level(level, _, against, where) | d.Conditional(level, _, against, where):
            return (level, against, simplified(where))
        case d.Cost(_, _, where) | d.Bounds(_, _, where):
            return simplified(where)
        case d.Column(role, _, rank, _) | d.ColumnOf(role, _, rank):
            return (type(s), role, rank)
        case d.Recode(dimension):
            return ("recode", dimension)
        case d.HierarchySum(total, _, name):
            return ("sum", total, name)
        case d.HierarchyFile(_, name) | d.HierarchyPrefix(_, name) | d.HierarchyTree(_, name):
            return ("hierarchy", name)
        case d.Labels(file, language):
            return ("labels", language or file.path)
        case d.Release(file):
            return file.path
        case d.Knows():
            return s
        case _:
            return type(s)


# ---- facts -----------------------------------------------------------------------------------------------


def _facts(old: Policy, new: Policy) -> Iterator[Edit]:
    for a, b in fact_verdicts.paired(old.facts, new.facts):
        if a is not None and b is not None:
            found = fact_verdicts.changed(a, b)
            yield Edit(found.verdict, "policy", fact(a), fact(b), a.span, b.span, found.why)
        elif a is not None:
            found = fact_verdicts.added(a).back
            yield Edit(found.verdict, "policy", fact(a), None, a.span, why=found.why)
        elif b is not None:
            found = fact_verdicts.added(b)
            yield Edit(found.verdict, "policy", None, fact(b), new_span=b.span, why=found.why)
