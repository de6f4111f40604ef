"""Advice: what is allowed and yet probably not meant. Each lint is a small function; the list at the end names them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import compare, constant
from sdcdsl.policy.checks.blocks import within
from sdcdsl.policy.checks.options import bind_arguments
from sdcdsl.policy.checks.protection import attackers_of, scenarios_of
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import expression, fact
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.plugins import find_rule

EXACT = ("csp", "ip", "rounding", "perturb", "combined")


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
        "scenario": {n for p in policy.protects.values() for s in p.all(d.Scenarios) for n in s.names},
    }
    for kind, names in used.items():
        for block in _own(policy, policy.blocks[kind].values()):
            if block.name not in names:
                what = "no protect block names it" if kind == "table" else "nothing uses it"
                yield diagnostic("SDC201", f"{kind} `{block.name}` is never used", block.heading, what)


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
        p.all(d.Assess) or any(e.name not in METHODS or METHODS[e.name].stochastic or e.options for e in c.engines)
        for p in policy.protects.values()
        for c in p.all(d.MethodChain)
    )
    if not random:
        seed = next((s for f in reversed(policy.files) for s in f.document.all(d.Seed)), None)
        yield diagnostic("SDC204", "nothing in this policy draws random numbers", seed.span if seed else None)


def centred(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """Seed 000: intervals from symmetric levels lie around the true value, so that the midpoint gives it away."""
    for protect in policy.protects.values():
        engines = [e for c in protect.all(d.MethodChain) for e in c.engines]
        risky = [e for e in engines if e.name == "ip" and not any(o.name == "avoid_centre" for o in e.options)]
        lower = [s for s in protect.all(d.Level) if s.level == "lpl" and s.where is None]
        upper = [s for s in protect.all(d.Level) if s.level == "upl" and s.where is None]
        if risky and lower and upper and lower[-1].amount == upper[-1].amount:
            yield diagnostic(
                "SDC205",
                "equal levels below and above put the true value in the middle of most intervals",
                upper[-1].span,
                notes=["an attacker who takes the midpoint is often right"],
                help="choose different levels, or add the option avoid_centre",
            )


def shadowed(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """R1: a later statement for all cells leaves nothing to an earlier one."""
    for blocks in policy.blocks.values():
        for block in blocks.values():
            last: dict[tuple, d.Statement] = {}
            for statement in reversed(block.statements):
                key = _competes(statement)
                if key is None or not within(statement, block):
                    continue  # what an override replaces is the business of `loosened`
                later = last.get(key) or last.get((*key[:-1], None))
                if later is not None:
                    found = diagnostic("SDC206", "no cell uses this statement", statement.span)
                    yield found.mark(later.span, "this one, for all cells, comes later")
                elif getattr(statement, "where", None) is None:
                    last[key] = statement


def _competes(statement: d.Statement) -> tuple | None:
    match statement:
        case d.Level(level, _, against):
            return ("level", level, against)
        case d.Cost(_, price):
            return ("cost", price, None)
        case d.Bounds():
            return ("bounds", None)
    return None


def loosened(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for override in policy.overrides:
        merged = policy.blocks[override.kind].get(override.name)
        if merged is None:
            continue
        for statement in override.statements:
            at = next(i for i, s in enumerate(merged.statements) if s is statement)
            before = [s for s in merged.statements[:at] if type(s) is type(statement)]
            old = next((s for s in reversed(before) if _competes(s) == _competes(statement)), None)
            if old is not None and _loosens(old, statement):
                found = diagnostic("SDC207", f"this override loosens {override.kind} `{override.name}`", statement.span)
                yield found.mark(old.span, "before")


def _loosens(old: d.Statement, new: d.Statement) -> bool:
    if isinstance(old, d.Level) and isinstance(new, d.Level):
        return compare(new.amount, old.amount) == -1
    if isinstance(old, d.Bounds) and isinstance(new, d.Bounds):
        return compare(new.low, old.low) == -1 or compare(new.high, old.high) == 1
    return False


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
        if scenarios_of(policy, protect):
            continue
        levels = [s for s in protect.all(d.Level) if s.level in ("lpl", "upl")]
        if levels and all(constant(s.amount) == 0 for s in levels):
            yield diagnostic("SDC210", "levels of zero protect nothing", levels[-1].span)


def unlimited(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    for protect in policy.protects.values():
        for chain in protect.all(d.MethodChain):
            for engine in chain.engines:
                if engine.name in EXACT and not any(o.name == "time_limit" for o in engine.options):
                    if all(policy.tables[t].all(d.Values) for t in protect.tables if t in policy.tables):
                        continue  # a typed-in table is small
                    yield diagnostic(
                        "SDC211",
                        f"`{engine.name}` may run for days on a large table",
                        engine.span,
                        help="time_limit 10 min releases the best valid result found until then",
                    )


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
        for chain in protect.all(d.MethodChain):
            engine = next((e for e in chain.engines if e.name == "cta"), None)
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
                    "SDC214", "no rule asks for a level: `needed` is zero for cells that are named", level.span
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
        if first is not statement and isinstance(statement, (d.Level, d.Cost, d.Bounds, d.Knows, d.Column)):
            found = diagnostic("SDC215", "this statement is said twice", statement.span)
            yield found.mark(first.span, "said here first")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def pointless_conditions(policy: Policy, today: datetime.date) -> Iterator[Diagnostic]:
    """A condition that is always or never true leaves a statement without effect, or the condition without one."""
    for protect in policy.protects.values():
        for statement in protect.statements:
            where = getattr(statement, "where", None)
            if isinstance(where, x.Compare):
                order = compare(where.left, where.right)
                left, right = constant(where.left), constant(where.right)
                if order is not None and left is not None and right is not None:
                    yield diagnostic("SDC206", f"`{expression(where)}` does not depend on the cell", where.span)


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
    low_threshold,
    unassessed,
    needed_by_nobody,
    repeated,
    pointless_conditions,
)
