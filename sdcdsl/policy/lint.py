"""Advice: what is allowed and yet probably not meant. Each lint is a small function; the list at the end names them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import constant
from sdcdsl.policy.lint_counts import groups_unwatched
from sdcdsl.policy.lint_options import idle_options, idle_slides
from sdcdsl.policy.lint_sharing import apart
from sdcdsl.policy.meaning import (
    attackers_of,
    bind_arguments,
    constant_parts,
    counts_contributors,
    covered,
    keyed_senses,
    level_sets,
    moved_ends,
    rivals,
    within,
)
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.verdicts import ChangeVerdict, LevelChanges, Verdict, VerdictReason, guards, scenarios
from sdcdsl.policy.write import expression, fact
from sdcdsl.vocabulary.methods import METHODS, Limits, Method
from sdcdsl.vocabulary.option import Kind, options_of
from sdcdsl.vocabulary.rules import find_rule


def lint(policy: Policy, today: datetime.date) -> list[Diagnostic]:
    return [found for one in LINTS for found in one(policy, today)]


def _is_library(policy: Policy) -> bool:
    """House rules meant for `use`: they protect nothing themselves."""
    return not policy.protects


def _own(policy: Policy, blocks: Iterable[d.Block]) -> Iterator[d.Block]:
    """Blocks declared in the file itself: what a used file declares is for others too."""
    return (b for b in blocks if not policy.is_used(b.span))


def unused(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    if _is_library(policy):
        return
    used = {
        "dimension": {n for t in policy.tables.values() for s in t.all(d.By) for n in s.dimensions},
        "data": {s.data for t in policy.tables.values() for s in t.all(d.From)},
        "table": {t for p in policy.protects.values() for t in p.tables},
        "attacker": {a for p in policy.protects.values() for a in attackers_of(policy, p)},
        "scenario": {s.scenario for p in policy.protects.values() for s in level_sets(policy, p)},
    }
    for parameter in policy.parameters.values():
        if parameter.name in policy.unused and not policy.is_used(parameter.span):
            yield diagnostic(
                "SDC201", f"parameter `{parameter.name}` is never used", parameter.span, "nothing names it"
            )
    for kind, names in used.items():
        for block in _own(policy, policy.blocks[kind].values()):
            if block.name not in names:
                what = "no protect block names it" if kind == "table" else "nothing uses it"
                yield diagnostic("SDC201", f"{kind} `{block.name}` is never used", block.heading, what)


def _engines(protect: d.Block) -> list[tuple[d.Engine, Method | None]]:
    """The methods a block uses, and what is known of each."""
    chain = protect.last(d.MethodChain)
    return [(e, METHODS.get(e.name)) for e in chain.engines] if chain is not None else []


def waivers(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for waive in policy.facts_of(d.Waive):
        if waive.until is None:
            yield diagnostic(
                "SDC202", "this waiver never ends", waive.span, help=f"until {today.year + 2}-12-31 before `because`"
            )
        elif waive.until < today.isoformat():
            yield diagnostic(
                "SDC203",
                f"this waiver ended on {waive.until}",
                waive.span,
                help="renew the consent, or delete the line",
            )


def idle_seed(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    if policy.seed is None or _is_library(policy):
        return
    random = any(
        p.all(d.Assess)
        or any(keyed_senses(p))
        or any(moved_ends(p))
        or any(method is None or method.stochastic for _, method in _engines(p))
        for p in policy.protects.values()
    )
    seed = next((s for f in reversed(policy.files) for s in f.document.all(d.Seed)), None)
    if not random and (seed is None or not policy.is_used(seed.span)):  # that of a used file is for others too
        yield diagnostic("SDC204", "nothing in this policy draws random numbers", seed.span if seed else None)


def centred(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Seed 000: intervals from symmetric levels lie around the true value, so that the midpoint gives it away."""
    for protect in policy.protects.values():
        risky = [
            e
            for e, method in _engines(protect)
            if method is not None and method.intervals and not any(o.name == "avoid_centre" for o in e.options)
        ]
        upper = next(_symmetric(policy, protect), None) if risky else None
        if upper is not None:
            yield diagnostic(
                "SDC205",
                "equal levels below and above put the true value in the middle of most intervals",
                upper.span,
                notes=["an attacker who takes the midpoint is often right"],
                help="choose different levels, or add the option avoid_centre",
            )


def _symmetric(policy: Policy, protect: d.Block) -> Iterator[d.Level]:
    """Upper levels that are stated like the lower ones against somebody, whom the block or a scenario names."""
    for one in level_sets(policy, protect):
        for attacker in one.attackers or (None,):
            mine = [s for s in one.levels if s.where is None and s.against in (None, attacker)]
            lower, upper = ([s for s in mine if s.level == level] for level in ("lpl", "upl"))
            if lower and upper and lower[-1].amount == upper[-1].amount:
                yield upper[-1]


def shadowed(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """R1: a later statement for the same cells leaves nothing to an earlier one."""
    file = {id(s): o.span.source for o in policy.overrides if o.span is not None for s in o.statements}
    for blocks in policy.blocks.values():
        for block in blocks.values():
            # What an override replaces is the business of `loosened`, except by another one of the same file.
            groups: dict[Hashable, list[d.Statement]] = {}
            for s in block.statements:
                if s.span is not None and not within(s, block) and id(s) not in file:
                    continue  # of the block that it is like: there it counts
                if (key := rivals(s)) is not None:
                    groups.setdefault((key, id(file.get(id(s)))), []).append(s)
            for group in groups.values():
                yield from _unused_in(group)
    for protect in policy.protects.values():
        for engine, method in _engines(protect):
            known = options_of(method.options) if method is not None else {}
            by_name: dict[str, list[d.Option]] = {}
            for option in engine.options:
                spec = known.get(option.name)
                if spec is not None and spec.per_cell and spec.kind is not Kind.CELLS:
                    by_name.setdefault(option.name, []).append(option)
            for options in by_name.values():
                yield from _unused_in(options)


def _unused_in(rivalling: Iterable[d.Statement] | Iterable[d.Option]) -> Iterator[Diagnostic]:
    for statement, later in covered(rivalling):
        if later is None or later == statement:
            continue  # `pointless_conditions` and `repeated` tell
        found = diagnostic("SDC206", "no cell uses this statement", statement.span)
        cells = "all cells" if getattr(later, "where", None) is None else "the same cells"
        yield found.mark(later.span, f"this one, for {cells}, comes later")


def loosened(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Overrides against what they override: the declaration, and the overrides of files used before."""
    added = {id(s) for o in policy.overrides for s in o.statements}
    blocks = {
        kind: {
            name: replace(b, statements=tuple(s for s in b.statements if id(s) not in added))
            for name, b in named.items()
        }
        for kind, named in policy.blocks.items()
    }
    before = replace(policy, blocks=blocks)
    for _, group in groupby(policy.overrides, key=lambda o: id(o.span.source) if o.span is not None else 0):
        appended: dict[tuple[str, str], tuple[d.Statement, ...]] = {}
        for o in group:
            appended[o.kind, o.name] = (*appended.get((o.kind, o.name), ()), *o.statements)
        blocks = {kind: dict(named) for kind, named in before.blocks.items()}
        for (kind, name), statements in appended.items():
            old = blocks[kind][name]
            blocks[kind][name] = replace(old, statements=old.statements + statements)
        after = replace(policy, blocks=blocks)
        moved = LevelChanges(before, after)
        for (kind, name), statements in appended.items():
            yield from _loosened_in(moved, before.blocks[kind][name], after.blocks[kind][name], statements)
        before = after


def _loosened_in(
    moved: LevelChanges, old: d.Block, new: d.Block, statements: Iterable[d.Statement]
) -> Iterator[Diagnostic]:
    last = {(rivals(s) or type(s), getattr(s, "against", None)): s for s in old.statements}
    for s in statements:
        kind = rivals(s) or type(s)
        replaced = last.get((kind, getattr(s, "against", None))) or last.get((kind, None))
        found = _overridden(moved, old, new, s, replaced)
        if found is not None and found.verdict in (Verdict.LOOSER, Verdict.NEEDS_DATA):
            does = "loosens" if found.verdict is Verdict.LOOSER else "may loosen"
            headline = f"this override {does} {new.kind} `{new.name}`"
            advice = diagnostic("SDC207", headline, s.span, found.why)
            yield advice.mark(replaced.span, "before") if replaced is not None else advice


def _overridden(
    moved: LevelChanges, old: d.Block, new: d.Block, s: d.Statement, replaced: d.Statement | None
) -> ChangeVerdict | None:
    if isinstance(s, d.Level | d.Conditional | d.Bounds):
        return moved.judge(None, s, new)
    if replaced is None or replaced == s or s is not new.last(type(s)):
        return None
    match s:
        case d.Against():
            return guards(moved, old, new)
        case d.Scenarios():
            return scenarios(moved, old, new)
        case d.Each() | d.Coalition():
            return ChangeVerdict(VerdictReason.CELLS_TELL)
        case _:
            return None


def untitled(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    if policy.title is None and policy.files:
        source = policy.files[-1].parsed.source
        first = policy.files[-1].parsed.tree.node("edition")
        if first is not None:
            span = policy.files[-1].parsed.span(first)
            yield diagnostic("SDC208", f"{source.name} has no title", span, help='policy "What is published, and when"')


def unreleased(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for protect in _own(policy, policy.protects.values()):
        if not protect.all(d.Release):
            yield diagnostic(
                "SDC209", f"protect `{protect.name}` releases no file", protect.heading, help='release csv "table.csv"'
            )


def zero_levels(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for protect in policy.protects.values():
        levels = [s for one in level_sets(policy, protect) for s in one.levels]
        if levels and all(constant(s.amount) == 0 for s in levels):
            yield diagnostic("SDC210", "levels of zero protect nothing", levels[-1].span)


def unlimited(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    limit = options_of(Limits)["time_limit"].default
    for protect in policy.protects.values():
        if all(policy.tables[t].all(d.Values) for t in protect.tables if t in policy.tables):
            continue  # a typed-in table is small
        for engine, method in _engines(protect):
            if method is not None and method.exact and not any(o.name == "time_limit" for o in engine.options):
                yield diagnostic(
                    "SDC211",
                    f"`{engine.word}` states no time limit, and stops after {limit}",
                    engine.span,
                    notes=["on a large table the proof that nothing is cheaper may take days"],
                    help=f"time_limit {limit} says so; after it the best valid result found until then is released",
                )


def unpriced(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """What is hidden depends on it. Of counts each cell costs the same, and a JJ file brings its weights along."""
    for protect in policy.protects.values():
        tables = [policy.tables[t] for t in protect.tables if t in policy.tables]
        if protect.all(d.Cost) or not any(t.all(d.By) and not counts_contributors(t) for t in tables):
            continue
        headline = "no `cost` is stated: a hidden cell costs its value, a unit that is moved 1"
        help = "cost value, or cost 1 where every cell is as dear as every other"
        yield diagnostic("SDC221", headline, protect.heading, help=help)


def untreated(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Two programs read a weight in two ways, and mark other cells."""
    looking = [find_rule(s.rule.name) for s in policy.facts_of(d.Sensitive) if s.rule is not None]
    if not any(rule is not None and rule.name in ("dominance", "p_percent", "pq") for rule in looking):
        return
    for data in _own(policy, policy.data.values()):
        for column in data.all(d.Column):
            if column.role == "weight" and column.treatment is None:
                yield diagnostic(
                    "SDC220",
                    "this weight does not say what it means to rules: it scales contributions",
                    column.span,
                    notes=["in τ-ARGUS a record of weight 4 is four contributors of its size"],
                    help=f'column weight = "{column.column}" counts units, or scales contributions',
                )


def one_sided(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """A level that is not stated requires nothing."""
    for protect in policy.protects.values():
        for one in level_sets(policy, protect):
            stated = {s.level for s in one.levels}
            for level, other, way in (("lpl", "upl", "below"), ("upl", "lpl", "above")):
                if other in stated and level not in stated and "spl" not in stated:
                    place = next(s for s in reversed(one.levels) if s.level == other)
                    headline = f"`{other}` is stated and `{level}` is not: nothing is required {way} the value"
                    notes = ["whoever knows the one end of a cell knows how far its value may be from there"]
                    help = f"{level} {expression(place.amount)}, or {level} 0 where that is meant"
                    yield diagnostic("SDC219", headline, place.span, notes=notes, help=help)


def low_threshold(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for sensitive in policy.facts_of(d.Sensitive):
        rule = find_rule(sensitive.rule.name) if sensitive.rule is not None else None
        if rule is None or sensitive.rule is None or rule.name not in ("threshold", "contributors"):
            continue
        known = options_of(rule.arguments)
        bound, _ = bind_arguments(sensitive.rule, known)
        n = bound.get(next(iter(known)))
        if n is not None and isinstance(n.value, x.Number) and n.value.value < 3:
            yield diagnostic(
                "SDC212",
                "with two contributors in a cell, each knows the other's value",
                n.span,
                help=f"{sensitive.rule.name}(3) is the usual least",
            )


def unassessed(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for protect in policy.protects.values():
        engine = next((e for e, method in _engines(protect) if method is not None and method.traceable), None)
        if engine is not None and not protect.all(d.Assess):
            yield diagnostic(
                "SDC213",
                "an adjusted table is safe only as long as the attacker does not know how it was adjusted",
                engine.span,
                help="assess B1, B2, B3, C measures what an attacker can recompute",
            )


def needed_by_nobody(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    facts = policy.facts_of(d.Sensitive)
    rules = [f for f in facts if f.rule is not None or f.file is not None]
    named = [f for f in facts if f.rule is None and f.file is None]
    if not named or rules:
        return
    for protect in policy.protects.values():
        if any(policy.tables[t].all(d.Origin) for t in protect.tables if t in policy.tables):
            continue
        for level in protect.all(d.Level):
            if level.amount == x.Name("needed"):
                found = diagnostic(
                    "SDC214", "no rule gives a level: `needed` is zero for cells that are named", level.span
                )
                yield found.mark(named[0].span, "named here")


def repeated(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    seen: dict[d.Fact, d.Fact] = {}
    for said in policy.facts:
        first = seen.setdefault(said, said)
        if first is not said:
            found = diagnostic("SDC215", f"`{_short(fact(said))}` is said twice", said.span)
            yield found.mark(first.span, "said here first")
    for blocks in policy.blocks.values():
        for block in blocks.values():
            yield from _repeated_in(block)


def _repeated_in(block: d.Block) -> Iterator[Diagnostic]:
    seen: dict[d.Statement, d.Statement] = {}
    for statement in block.statements:
        first = seen.setdefault(statement, statement)
        said_once = (d.Level, d.Conditional, d.Cost, d.Bounds, d.Knows, d.Column)
        if first is not statement and isinstance(statement, said_once):
            found = diagnostic("SDC215", "this statement is said twice", statement.span)
            yield found.mark(first.span, "said here first")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def pointless_conditions(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """A condition that is always or never true leaves a statement without effect, or the condition without one."""
    statements = (s for blocks in policy.blocks.values() for b in blocks.values() for s in b.statements)
    for said in (*policy.facts, *statements):
        for condition in constant_parts(said):
            yield diagnostic("SDC206", f"`{_short(expression(condition))}` does not depend on the cell", condition.span)


LINTS: tuple[Callable[[Policy, datetime.date], Iterator[Diagnostic]], ...] = (
    unused,
    waivers,
    idle_seed,
    centred,
    shadowed,
    loosened,
    untitled,
    unreleased,
    zero_levels,
    unlimited,
    unpriced,
    one_sided,
    untreated,
    low_threshold,
    unassessed,
    needed_by_nobody,
    repeated,
    pointless_conditions,
    idle_options,
    idle_slides,
    apart,
    groups_unwatched,
)
