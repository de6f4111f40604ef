"""Methods, rules, formats, experiments: do they exist, and do their options and arguments fit their dataclasses?"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import compare, constant
from sdcdsl.policy.checks.names import word_in
from sdcdsl.policy.checks.statements import dimensions_of, variables
from sdcdsl.policy.meaning import bind_arguments
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import Checker, opening
from sdcdsl.policy.write import expression
from sdcdsl.registry import Fault, Registry
from sdcdsl.vocabulary.formats import (
    CELL_LISTS,
    HIERARCHIES,
    LABELS,
    READERS,
    RECODES,
    TABLES,
    WRITERS,
    Reader,
    StatusOptions,
    ValueOptions,
    Writer,
)
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS, ExperimentOptions, PeriodOptions, method_names
from sdcdsl.vocabulary.option import Kind, OptionSpec, options_of
from sdcdsl.vocabulary.quantities import Place
from sdcdsl.vocabulary.rules import RULES, Rule, find_rule, rule_names

# What τ-ARGUS and sdcTable call a method, in small letters.
_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("modular", "mod", "hitas", "opt", "optimal", "ghmiter", "gh", "hypercube"), "csp"),
    **dict.fromkeys(("rnd", "round", "crp"), "rounding"),
}


def check(policy: Policy) -> Iterator[Diagnostic]:
    if policy.period is not None:
        yield from check_options(policy, policy.period.options, PeriodOptions, "`period`", ())
    for protect in policy.protects.values():
        yield from _protect(policy, protect)
    for block in (*policy.data.values(), *policy.tables.values()):
        for origin in block.all(d.Origin):
            yield from _file(policy, origin.file, READERS if block.kind == "data" else TABLES)
        for recode in block.all(d.Recode):
            if recode.file is not None:
                yield from _file(policy, recode.file, RECODES)
        for column in block.all(d.ColumnOf):
            if column.options:
                described = StatusOptions if column.quantity == "status" else ValueOptions
                yield from check_options(policy, column.options, described, f"`{column.quantity}`", ())
    for dimension in policy.dimensions.values():
        for hierarchy in dimension.all(d.HierarchyFile):
            yield from _file(policy, hierarchy.file, HIERARCHIES)
        for labels in dimension.all(d.Labels):
            yield from _file(policy, labels.file, LABELS)
    for fact in policy.facts_of(d.Sensitive):
        if fact.file is not None:
            yield from _file(policy, fact.file, CELL_LISTS)
        if fact.rule is not None:
            yield from rule_problems(fact.rule)


def _protect(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    for chain in protect.all(d.MethodChain):
        seen: set[str] = set()
        for engine in chain.engines:
            method = METHODS.get(engine.name)
            if method is None and (fault := METHODS.fault(engine.name)) is not None:
                yield _unusable(fault, engine.span)
                continue
            if method is None:
                known = method_names()
                label = did_you_mean(engine.name, known)
                notes = [f"methods: {', '.join(known)}"]
                if (here := _ELSEWHERE.get(engine.name.casefold())) is not None:
                    label = f"did you mean `{here}`?"
                    about = METHODS[here].about
                    notes.insert(0, f"what other programs call {engine.name} is {about}, here `{here}`")
                word = opening(engine.span, engine.name)
                yield diagnostic("SDC106", f"there is no method `{engine.name}`", word, label, notes=notes)
                continue
            if engine.name in seen:
                yield diagnostic("SDC111", f"method `{engine.word}` stands twice in this chain", engine.span)
            seen.add(engine.name)
            owner = f"method `{engine.word}`"
            yield from check_options(policy, engine.options, method.options, owner, protect.tables, engine.span)
    for assess in protect.all(d.Assess):
        for name in assess.experiments:
            if name not in EXPERIMENTS:
                label = did_you_mean(name, EXPERIMENTS)
                notes = [f"known: {listed(EXPERIMENTS)}"]
                word = word_in(assess.span, name)
                yield diagnostic("SDC106", f"there is no experiment `{name}`", word, label, notes=notes)
        yield from check_options(policy, assess.options, ExperimentOptions, "`assess`", ())
    for release in protect.all(d.Release):
        yield from _file(policy, release.file, WRITERS)


def _unusable(fault: Fault, span: Span | None) -> Diagnostic:
    """What stands in place of a plug-in that one half of is missing, or that does not fit."""
    return diagnostic("SDC148", fault.headline, span, help="put the package in order, or take it out")


def _file(policy: Policy, file: d.FileReference, known: Registry[Reader] | Registry[Writer]) -> Iterator[Diagnostic]:
    found = known.get(file.format)
    if found is None and (fault := known.fault(file.format)) is not None:
        yield _unusable(fault, file.span)
    elif found is None:
        label = did_you_mean(file.format, known)
        notes, word = [f"formats: {', '.join(known)}"], opening(file.span, file.format)
        help = None
        if known is TABLES and file.format in READERS:
            help = f'data cells {{ {file.format} "{file.path}" }}, and in the table: from cells'
        yield diagnostic("SDC122", f"there is no format `{file.format}` here", word, label, notes=notes, help=help)
    else:
        yield from check_options(policy, file.options, found.options, f"format `{file.format}`", ())
    yield from _path(file)


def _path(file: d.FileReference) -> Iterator[Diagnostic]:
    if not file.path.strip() or "\x00" in file.path:
        yield diagnostic("SDC140", "the path of a file is missing", file.span)
    elif file.path.startswith(("/", "\\")) or file.path[1:3] in (":\\", ":/") or _leads_out(file.path):
        yield diagnostic(
            "SDC140",
            f'"{file.path}" leaves the policy\'s folder',
            file.span,
            notes=["paths are relative to the policy and stay below its folder, so that it works on every machine"],
            help="name data files elsewhere when running: --data NAME=PATH",
        )


def _leads_out(path: str) -> bool:
    return posixpath.normpath(path.replace("\\", "/")).split("/", 1)[0] == ".."


# ---- options --------------------------------------------------------------------------------------


def check_options(
    policy: Policy,
    options: tuple[d.Option, ...],
    described: type,
    owner: str,
    tables: Iterable[str],
    place: Span | None = None,
) -> Iterator[Diagnostic]:
    known = options_of(described)
    given: dict[str, d.Option] = {}
    for option in options:
        spec = known.get(option.name)
        if spec is None:
            label = did_you_mean(option.name, known)
            notes = [f"{owner} takes: {', '.join(known)}" if known else f"{owner} takes no options"]
            others = [m.name for m in METHODS.values() if option.name in options_of(m.options)]
            if others and owner.startswith("method"):
                notes.insert(0, f"`{option.name}` is an option of {listed(others)}")
            word = opening(option.span, option.name)
            yield diagnostic("SDC108", f"{owner} has no option `{option.name}`", word, label, notes=notes)
            continue
        if option.name in given and not spec.per_cell:
            found = diagnostic("SDC111", f"option `{option.name}` is given twice", option.span)
            yield found.mark(given[option.name].span, "given here first")
        given[option.name] = option
        yield from _option(policy, option, spec, owner, tables)
    for spec in known.values():
        if spec.required and spec.name not in given and place is not None:
            yield diagnostic(
                "SDC110",
                f"{owner} needs the option `{spec.name}`",
                place,
                notes=[f"{spec.name}: {spec.about}"],
                help=f"add to it: {spec.name} {_EXAMPLES.get(spec.kind, '…')}",
            )


def _option(
    policy: Policy, option: d.Option, spec: OptionSpec, owner: str, tables: Iterable[str]
) -> Iterator[Diagnostic]:
    if option.where is not None and not spec.per_cell:
        yield diagnostic("SDC109", f"`{option.name}` is for the whole table: it takes no `where`", option.where.span)
    expected = _count(spec)
    if spec.kind is Kind.SWITCH:
        if [expression(value) for value in option.values] not in ([], ["no"]):
            yield _does_not_fit(option, spec)
        return
    if expected is not None and len(option.values) != expected:
        yield _does_not_fit(option, spec)
        return
    if spec.kind in (Kind.CELLS, Kind.AMOUNT_CELLS) and option.where is None:
        said = " ".join([option.name, *map(expression, option.values)])
        headline = f"`{option.name}` does not say which cells it is for"
        yield diagnostic("SDC109", headline, option.span, help=f"{said} where CONDITION")
    if spec.kind in (Kind.AMOUNT, Kind.AMOUNT_CELLS, Kind.RANGE):
        yield from _amounts(policy, option, spec, tables)
    else:
        for value in option.values:
            yield from check_value(value, spec, f"`{option.name}`")
    if option.where is not None:
        chosen = [t for t in tables if t in policy.tables]
        checker = Checker(policy, Place.SELECT, dimensions_of(policy, chosen), variables(policy, chosen))
        checker.condition(option.where)
        yield from checker.diagnostics


def _count(spec: OptionSpec) -> int | None:
    if spec.kind in (Kind.FLAG, Kind.CELLS):
        return 0
    return None if spec.kind is Kind.NAMES else 1


def _amounts(policy: Policy, option: d.Option, spec: OptionSpec, tables: Iterable[str]) -> Iterator[Diagnostic]:
    (value,) = option.values
    ranged = isinstance(value, x.Range)
    if ranged != (spec.kind is Kind.RANGE):
        yield _does_not_fit(option, spec)
        return
    chosen = [t for t in tables if t in policy.tables]
    checker = Checker(policy, Place.OPTION, dimensions_of(policy, chosen), variables(policy, chosen))
    for amount in (value.low, value.high) if isinstance(value, x.Range) else (value,):
        # `range -30% .. 30%`: in a range a bare percentage is one of the cell's value.
        if not (ranged and _is_percent(amount)):
            checker.amount(amount)
    yield from checker.diagnostics
    if isinstance(value, x.Range):
        if compare(value.low, value.high) == 1:
            yield diagnostic("SDC109", f"the range of `{option.name}` is upside down", value.span, "LOW .. HIGH")
    elif (constant(value) or 0) < 0:
        yield diagnostic("SDC109", f"`{option.name}` is below zero", value.span, spec.about)


def _is_percent(e: x.Expression) -> bool:
    return isinstance(e, x.Percent) or (isinstance(e, x.Negative) and isinstance(e.value, x.Percent))


def _does_not_fit(option: d.Option, spec: OptionSpec) -> Diagnostic:
    given = ", ".join(map(expression, option.values)) or "nothing"
    help = f"{option.name} {_EXAMPLES[spec.kind]}" if spec.kind in _EXAMPLES else None
    if spec.kind is Kind.FLAG:
        help = f"{option.name}, or leave the line out"
    if spec.kind is Kind.SWITCH:
        help = f"{option.name}, or {option.name} no"
    headline = f"`{option.name}` takes {_form(spec)}, not {given}"
    return diagnostic("SDC109", headline, option.span, notes=[f"{spec.name}: {spec.about}"], help=help)


_EXAMPLES = {
    Kind.WHOLE: "3",
    Kind.NUMBER: "0.5",
    Kind.SHARE: "10%",
    Kind.DURATION: "10 min",
    Kind.TEXT: '"…"',
    Kind.AMOUNT: "5",
    Kind.RANGE: "-10% .. 10%",
}


def _form(spec: OptionSpec) -> str:
    return f"one of {spec.form}" if spec.kind is Kind.CHOICE else spec.form


def check_value(value: x.Expression, spec: OptionSpec, owner: str) -> Iterator[Diagnostic]:
    """A single value against what its description allows."""
    number = _as_number(value, spec.kind)
    fits = {
        Kind.CHOICE: isinstance(value, x.Name) and value.name in spec.choices,
        Kind.TEXT: isinstance(value, x.Text),
        Kind.NAMES: isinstance(value, (x.Name, x.Text, x.Number)),
    }.get(spec.kind, number is not None)
    if not fits:
        word = value.name if isinstance(value, x.Name) else ""
        if (fault := spec.unusable(word)) is not None:
            yield _unusable(fault, value.span)
            return
        label = did_you_mean(word, spec.choices) if word else ""
        yield diagnostic(
            "SDC109",
            f"{owner} takes {_form(spec)}, not {expression(value)}",
            value.span,
            label,
            notes=[f"{spec.name}: {spec.about}"],
            help=_example(value, spec),
        )
        return
    if number is None:
        return
    scale = 100 if spec.kind is Kind.SHARE else 1
    if spec.least is not None and number * scale < spec.least:
        yield diagnostic("SDC109", f"{owner} is at least {spec.least:g}{_unit(spec)}", value.span, spec.about)
    elif spec.most is not None and number * scale > spec.most:
        yield diagnostic("SDC109", f"{owner} is at most {spec.most:g}{_unit(spec)}", value.span, spec.about)


def _unit(spec: OptionSpec) -> str:
    return {Kind.SHARE: "%", Kind.DURATION: " s"}.get(spec.kind, "")


def _example(value: x.Expression, spec: OptionSpec) -> str | None:
    if spec.kind is Kind.SHARE and isinstance(value, x.Number):
        return f"{value.text}%" if value.value >= 1 else f"{value.value * 100:g}%"
    if spec.kind is Kind.DURATION and isinstance(value, x.Number):
        return f"{value.text} s, {value.text} min or {value.text} h"
    if spec.kind is Kind.TEXT and isinstance(value, (x.Name, x.Number)):
        return f'"{expression(value)}"'
    return None


def _as_number(value: x.Expression, kind: Kind) -> float | None:
    sign = 1
    if isinstance(value, x.Negative):
        sign, value = -1, value.value
    if kind is Kind.SHARE and isinstance(value, x.Percent):
        return sign * value.value
    if kind is Kind.DURATION and isinstance(value, x.Duration):
        return value.seconds
    if kind is Kind.WHOLE and isinstance(value, x.Number) and value.text.isdigit():
        return sign * int(value.text)
    if kind is Kind.NUMBER and isinstance(value, x.Number):
        return sign * value.value
    return None


# ---- rules ---------------------------------------------------------------------------------------------


def rule_problems(call: x.Call) -> Iterator[Diagnostic]:
    """What is wrong with a rule's name or arguments."""
    rule = find_rule(call.name)
    if rule is None and (fault := RULES.fault(call.name)) is not None:
        yield _unusable(fault, call.span)
        return
    if rule is None:
        known = rule_names()
        label = did_you_mean(call.name, known)
        alike = next((name for name in known if name.casefold() == call.name.casefold()), None)
        if alike is not None:
            label = f"did you mean `{_as_written_here(call, find_rule(alike))}`?"
        notes, word = [f"rules: {', '.join(known)}"], opening(call.span, call.name)
        yield diagnostic("SDC107", f"there is no rule `{call.name}`", word, label, notes=notes)
        return
    known_arguments = options_of(rule.arguments)
    bound, wrong = bind_arguments(call, known_arguments)
    yield from wrong
    for name, argument in bound.items():
        yield from check_value(argument.value, known_arguments[name], f"`{name}` of `{call.name}`")
    missing = [s.name for s in known_arguments.values() if s.required and s.name not in bound]
    if missing and not wrong:
        takes = ", ".join(f"{s.name}: {s.about}" for s in known_arguments.values())
        yield diagnostic("SDC114", f"rule `{call.name}` needs {listed(missing)}", call.span, notes=[takes])


def _as_written_here(call: x.Call, rule: Rule | None) -> str:
    """`P(10,1)` of τ-ARGUS → `p_percent(10%, 1)`."""
    if rule is None:
        return call.name
    texts: list[str] = []
    for i, argument in enumerate(call.arguments):
        spec = next((s for j, s in enumerate(options_of(rule.arguments).values()) if j == i), None)
        percent = spec is not None and spec.kind is Kind.SHARE and isinstance(argument.value, x.Number)
        texts.append(expression(argument.value) + ("%" if percent else ""))
    return f"{rule.name}({', '.join(texts)})" if texts else rule.name
