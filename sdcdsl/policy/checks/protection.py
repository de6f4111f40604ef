"""Does the policy protect what it calls sensitive, against somebody, by levels that exist, with data that is there?"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic, listed, nearest
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.checks.options import rule_problems
from sdcdsl.policy.meaning import attackers_of, keyed_senses, moved_ends, released_files, scenarios_of
from sdcdsl.policy.plain import largest_needed
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.rules import find_rule


def check(policy: Policy) -> Iterator[Diagnostic]:
    yield from _unprotected(policy)
    for protect in policy.protects.values():
        if policy.is_damaged(protect.span):
            continue
        yield from _against_somebody(policy, protect)
        yield from _levels(policy, protect)
        yield from _attackers_have_data(policy, protect)
        yield from _attackers_have_counts(policy, protect)
        yield from _experiments(protect)
        yield from _seed(policy, protect)
        yield from _parts(protect)
        yield from _conditions(protect)
        yield from _without_effect(protect)
    for scenario in policy.scenarios.values():
        yield from _scenario_levels(policy, scenario)
    yield from _rules_have_data(policy)
    yield from _releases(policy)


def _unprotected(policy: Policy) -> Iterator[Diagnostic]:
    protected = {t for p in policy.protects.values() for t in p.tables}
    if not policy.tables or not policy.protects or any(policy.is_damaged(p.span) for p in policy.protects.values()):
        return
    if not protected <= set(policy.tables):
        return  # a name mistyped there is reported as such
    forgotten: dict[tuple[str, ...], Diagnostic] = {}
    for fact in policy.facts_of(d.Sensitive):
        tables = [fact.cells.table] if fact.cells.table else _tables_of(policy, fact)
        bare = [t for t in tables if t in policy.tables and t not in protected and not policy.may_exist(t)]
        if not bare:
            continue
        if tuple(bare) in forgotten:
            said = forgotten[tuple(bare)]
            forgotten[tuple(bare)] = said.mark(fact.span, "and here") if fact.span else said
            continue
        what = f"found by `{fact.rule.name}`" if fact.rule is not None else "named here"
        first = next(iter(policy.protects.values()))
        found = diagnostic(
            "SDC131",
            f"nothing protects the cells {what} in table {listed(bare)}",
            fact.span,
            "marks cells there",
            help=f"protect {', '.join([*first.tables, *bare])} {{",
        )
        forgotten[tuple(bare)] = found.mark(first.heading, "protects only this")
    yield from forgotten.values()


def _tables_of(policy: Policy, fact: d.Sensitive) -> list[str]:
    """The tables a fact without a table's name is about: those that have every dimension it mentions."""
    if fact.cells.at:
        coordinates = [{name for name, _ in a.coordinates} for a in fact.cells.at]
        return [t for t, b in policy.tables.items() if any(set(_by(b)) == w for w in coordinates)]
    named = {e.dimension for e in x.walk(fact.cells.where) if isinstance(e, (x.Member, x.Under, x.AtLevel))}
    named |= {e.name for e in x.walk(fact.cells.where) if isinstance(e, x.Name) and e.name in policy.dimensions}
    return [t for t, b in policy.tables.items() if named <= set(_by(b))]


def _by(table: d.Block) -> tuple[str, ...]:
    by = table.last(d.By)
    return by.dimensions if by is not None else ()


def _against_somebody(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    given = all(policy.tables[t].all(d.Origin) for t in protect.tables if t in policy.tables)
    if not protect.all(d.Against) and not protect.all(d.Scenarios):
        if given and protect.tables:
            return  # a JJ file brings its attacker's bounds along
        known = list(policy.attackers)
        yield diagnostic(
            "SDC133",
            f"protect `{protect.name}` does not say against whom",
            protect.heading,
            help=f"against {known[0]}" if known else "declare an attacker, and add: against external",
        )
        return
    attackers = attackers_of(policy, protect)
    for level in (*protect.all(d.Level), *protect.all(d.Conditional)):
        if level.against is not None and level.against in policy.attackers and level.against not in attackers:
            yield diagnostic(
                "SDC141",
                f"`{protect.name}` does not protect against `{level.against}`",
                level.span,
                help=f"against {', '.join([*attackers, level.against])}",
            )


def _scenario_levels(policy: Policy, scenario: d.Block) -> Iterator[Diagnostic]:
    attackers = [a for s in scenario.all(d.Against) for a in s.attackers]
    for level in scenario.all(d.Level):
        if level.against in policy.attackers and level.against not in attackers and attackers:
            headline = f"scenario `{scenario.name}` is not against `{level.against}`"
            yield diagnostic(
                "SDC141", headline, level.span, help=f"against {', '.join([*attackers, level.against or ''])}"
            )


def _levels(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    """Every attacker must meet a lower or an upper level."""
    tables = [policy.tables[t] for t in protect.tables if t in policy.tables]
    if len(tables) < len(protect.tables):
        return  # a name mistyped there is reported as such
    methods = {e.name for chain in protect.all(d.MethodChain) for e in chain.engines}
    if methods == {"rounding"} or (tables and all(t.all(d.Origin) for t in tables)):
        return
    levels = [*protect.all(d.Level), *(s for sc in scenarios_of(policy, protect) for s in sc.all(d.Level))]
    if not any(level.level in ("lpl", "upl", "spl") for level in levels):
        yield diagnostic(
            "SDC134",
            f"protect `{protect.name}` does not say how uncertain its cells must stay",
            protect.heading,
            help="lpl needed and upl needed take the levels of the rules; or an amount such as lpl 10% of value",
        )


def _attackers_have_data(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    for name in attackers_of(policy, protect):
        attacker = policy.attackers.get(name)
        each = attacker.last(d.Each) if attacker is not None else None
        if attacker is None or each is None:
            continue
        roles = ({each.role} | {c.role for c in attacker.all(d.Coalition)}) & {"unit", "group"}
        for table in protect.tables:
            block = policy.tables.get(table)
            if block is None or policy.is_damaged(block.span):
                continue
            origin = block.last(d.From)
            data = policy.data.get(origin.data) if origin is not None else None
            if origin is not None and (data is None or policy.is_damaged(data.span)):
                continue
            if not any(isinstance(s, (d.From, d.Values, d.Origin)) for s in block.statements):
                continue
            columns = {c.role for c in data.all(d.Column)} if data is not None else set[str]()
            missing = sorted(roles - columns)
            if missing:
                found = diagnostic(
                    "SDC132",
                    f"attacker `{name}` needs to know who contributes, and table `{table}` does not",
                    attacker.heading,
                    f"needs the column {listed(missing)}",
                    help=f'column {missing[0]} = "…" in the data of `{table}`',
                )
                found = found.mark(block.heading, "this table")
                meant = nearest(missing[0], columns)
                near = next((c.span for c in data.all(d.Column) if c.role == meant), None) if data and meant else None
                yield found.mark(near, f"did you mean `{missing[0]}`?")


def _attackers_have_counts(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    """Who knows counts knows something only where there are counts, and where it is clear what they tell."""
    for name in attackers_of(policy, protect):
        attacker = policy.attackers.get(name)
        said = next((k for k in attacker.all(d.Knows) if k.what == "counts"), None) if attacker is not None else None
        if said is None:
            continue
        for table in protect.tables:
            block = policy.tables.get(table)
            if block is None or policy.is_damaged(block.span):
                continue
            origin, summed, counted = block.last(d.From), block.all(d.Sum), block.all(d.Count)
            if origin is None and not block.all(d.Values) and not block.all(d.Origin):
                continue  # that it comes from nowhere is reported as such
            from_records = bool(summed) or any(c.column is None for c in counted)
            if origin is None or not (from_records or counted):
                headline = f"attacker `{name}` knows counts, and table `{table}` does not say how many contribute"
                help = "count COLUMN in a table of ready-made cells; microdata are counted"
                yield diagnostic("SDC132", headline, said.span, help=help).mark(block.heading, "this table")
                continue
            data = policy.data.get(origin.data)
            weight = next((c for c in data.all(d.Column) if c.role == "weight"), None) if data is not None else None
            if weight is not None and counted and from_records and not summed:
                headline = f"attacker `{name}` knows counts, and table `{table}` publishes weighted ones"
                found = diagnostic(
                    "SDC146",
                    headline,
                    said.span,
                    help="say what they know as bounds: bounds 0 .. 0 where count = 0",
                )
                yield found.mark(weight.span, "weights").mark(block.heading, "this table")


def _experiments(protect: d.Block) -> Iterator[Diagnostic]:
    for assess in protect.all(d.Assess):
        engines = [e.name for chain in protect.all(d.MethodChain) for e in chain.engines]
        known = [METHODS[e] for e in engines if e in METHODS]
        if known and len(known) == len(engines) and not any(m.adjusts for m in known):
            adjusting = [m.name for m in METHODS.values() if m.adjusts]
            yield diagnostic(
                "SDC139",
                f"`assess` is for adjusted tables, and `{engines[0]}` adjusts nothing",
                assess.span,
                notes=[f"methods that adjust: {', '.join(adjusting)}"],
            )


def _seed(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    if policy.seed is not None or "seed" in policy.unreadable:
        return
    for chain in protect.all(d.MethodChain):
        for engine in chain.engines:
            if engine.name in METHODS and METHODS[engine.name].stochastic:
                yield diagnostic(
                    "SDC121",
                    f"method `{engine.word}` draws random numbers: the policy needs a seed",
                    engine.span,
                    help="seed 2025",
                )
                return
    secrets = (
        (keyed_senses, "`sense keyed` draws keys: without a secret seed they are no secret"),
        (moved_ends, "`avoid_centre` moves ends at random: without a secret seed they can be moved back"),
    )
    for drawing, headline in secrets:
        option = next(drawing(protect), None)
        if option is not None:
            yield diagnostic("SDC121", headline, option.span, help="seed NUMBER, one that nobody can guess")
            return
    for assess in protect.all(d.Assess):
        yield diagnostic(
            "SDC121", "`assess` draws random numbers: the policy needs a seed", assess.span, help="seed 2025"
        )
        return


def _parts(protect: d.Block) -> Iterator[Diagnostic]:
    for chain in protect.all(d.MethodChain):
        for engine in chain.engines:
            method = METHODS.get(engine.name)
            if method is None or not method.parts:
                continue
            given = [o.name for o in engine.options if o.name in method.parts]
            if not given:
                yield diagnostic(
                    "SDC144",
                    f"`{engine.word}` does not say which cells are published how",
                    engine.span,
                    notes=[f"parts: {', '.join(method.parts)}"],
                    help="interval where CONDITION",
                )
            caps = {"cap_hidden": "suppress", "cap_intervals": "interval", "cap_changed": "perturb"}
            for option in engine.options:
                part = caps.get(option.name)
                if part is not None and given and part not in given:
                    yield diagnostic(
                        "SDC144", f"`{option.name}` has nothing to count: there is no `{part}` part", option.span
                    )


def _conditions(protect: d.Block) -> Iterator[Diagnostic]:
    """Conditional levels speak of cells that are hidden or have an interval: who changes values has neither."""
    said = protect.all(d.Conditional)
    for engine in (e for chain in protect.all(d.MethodChain) for e in chain.engines):
        if said and engine.name in METHODS and not METHODS[engine.name].conditional:
            able = [m.name for m in METHODS.values() if m.conditional]
            found = diagnostic(
                "SDC145",
                f"`{engine.word}` does not know levels of cells that are not sensitive",
                said[0].span,
                notes=[f"methods that do: {', '.join(able)}"],
            )
            yield found.mark(engine.span, "this method")


def _without_effect(protect: d.Block) -> Iterator[Diagnostic]:
    """Options that would be read and forgotten."""
    for chain in protect.all(d.MethodChain):
        for at, engine in enumerate(chain.engines):
            lacks = METHODS[engine.name].lacks if engine.name in METHODS else ()
            elsewhere = any(o.name == "backend" and o.values != (x.Name("highs"),) for o in engine.options)
            for option in engine.options:
                if option.name in lacks and not (option.name == "threads" and elsewhere):
                    headline = f"`{option.name}` has no effect on `{engine.word}`"
                    why = _NO_EFFECT.get(option.name, "this method does not look at it")
                    yield diagnostic("SDC147", headline, option.span, why, help="leave it out")
                for other, excluded in METHODS[engine.name].excludes if engine.name in METHODS else ():
                    if option.name == excluded and any(o.name == other for o in engine.options):
                        headline = f"`{excluded}` has no effect beside `{other}`"
                        yield diagnostic("SDC147", headline, option.span, help="leave one of them out")
                if option.name == "unions" and at > 0:
                    first = next((o.values for o in chain.engines[0].options if o.name == "unions"), (x.Name("on"),))
                    if option.values != first:
                        headline = "`unions` is one choice for all methods of a chain"
                        help = f"say it of the first method, `{chain.engines[0].word}`"
                        yield diagnostic("SDC147", headline, option.span, "the first method decides", help=help)


_NO_EFFECT = {
    "gap": "it tries tables, and does not know how far the best one is from the least",
    "threads": "it uses one core; several blocks or a cluster use more",
}


def _rules_have_data(policy: Policy) -> Iterator[Diagnostic]:
    protected = {t for p in policy.protects.values() for t in p.tables}
    for fact in policy.facts_of(d.Sensitive):
        rule = find_rule(fact.rule.name) if fact.rule is not None else None
        if rule is None:
            continue
        tables = [fact.cells.table] if fact.cells.table else sorted(protected)
        with_attribute = [t for t in tables if t in policy.tables and policy.tables[t].all(d.Attribute)]
        if rule.judges_groups and not fact.cells.table:  # about tables that have one
            tables = with_attribute or tables
        for name in tables:
            table = policy.tables.get(name)
            if table is None or table.all(d.Origin) or policy.is_damaged(table.span) or not _has_cells(table):
                continue
            ranks = _largest_needed(fact.rule)
            needs = ("largest", *rule.needs) if ranks else rule.needs
            missing = [need for need in needs if not _provides(policy, table, need, ranks)]
            if missing:
                found = diagnostic(
                    "SDC135",
                    f"rule `{rule.name}` needs {_WORDS[missing[0]]}, which table `{name}` does not give",
                    fact.span,
                    help=_HELP[missing[0]],
                )
                yield found.mark(table.heading, "this table")


def _has_cells(table: d.Block) -> bool:
    """Does the table say what its cells hold? If not, that is the mistake to put right first."""
    measured = table.all(d.Sum) or table.all(d.Count) or any(s.quantity == "value" for s in table.all(d.ColumnOf))
    return bool(table.all(d.Values) or (table.all(d.From) and measured))


_WORDS = {
    "count": "the number of contributors",
    "largest": "the largest contributions",
    "units": "to know who contributes",
    "status": "a status column",
    "groups": "to know which dimension is an attribute",
}
_HELP = {
    "count": "count COLUMN in a table of ready-made cells",
    "largest": "largest(1) COLUMN, largest(2) COLUMN in a table of ready-made cells",
    "units": 'a table from microdata with column unit = "…" and column request = "…"',
    "status": "status COLUMN in the table",
    "groups": "attribute DIMENSION in the table",
}


def _largest_needed(call: x.Call | None) -> int:
    """How many of the largest contributions a rule looks at; 0 where its arguments are wrong, which is said there."""
    return largest_needed(call) if call is not None and not any(rule_problems(call)) else 0


def _provides(policy: Policy, table: d.Block, need: str, largest: int) -> bool:
    micro = bool(table.all(d.Sum)) or any(c.column is None for c in table.all(d.Count))
    ranks = {s.rank for s in table.all(d.ColumnOf) if s.quantity == "largest"}
    match need:
        case "count":
            return micro or any(c.column is not None for c in table.all(d.Count))
        case "largest":
            return micro or (largest <= len(ranks) and all(rank in ranks for rank in range(1, largest + 1)))
        case "groups":
            return bool(table.all(d.Attribute))
        case "status":
            return any(s.quantity == "status" for s in table.all(d.ColumnOf))
        case "units":
            origin = table.last(d.From)
            data = policy.data.get(origin.data) if origin is not None else None
            return micro and data is not None and any(c.role in ("unit", "request") for c in data.all(d.Column))
        case _:
            return True


def _releases(policy: Policy) -> Iterator[Diagnostic]:
    seen: dict[str, d.Release] = {}
    for protect in policy.protects.values():
        for release in protect.all(d.Release):
            for path in released_files(release, protect.tables).values():
                first = seen.setdefault(posixpath.normpath(path).casefold(), release)
                if first is not release:
                    found = diagnostic("SDC138", f'two releases write "{path}"', release.span)
                    yield found.mark(first.span, "the other one")
                    break
