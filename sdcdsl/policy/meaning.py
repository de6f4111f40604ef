"""What a resolved policy means before any data is there: who is guarded against, which levels a set holds, which
statements compete and which of them no cell can use. Checks, advice, comparison and binding all ask here."""

from __future__ import annotations

import operator
import posixpath
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

from sdcdsl.diagnostics import Diagnostic, Fix, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import constant
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import expression
from sdcdsl.vocabulary.formats import WRITERS
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.option import OptionSpec
from sdcdsl.vocabulary.quantities import QUANTITIES

LEVELS = ("lpl", "upl", "spl")
_S = TypeVar("_S", bound=x.Located)

# ---- blocks ----------------------------------------------------------------------------------------------


def within(statement: d.Statement, block: d.Block) -> bool:
    """Does the statement stand in the block itself, and not in an override of it?"""
    a, b = statement.span, block.span
    return a is not None and b is not None and a.source is b.source and b.start <= a.start and a.end <= b.end


def against_of(block: d.Block) -> tuple[str, ...]:
    """Whom a protect block or a scenario names: of several `against` the last one counts (S7)."""
    said = block.last(d.Against)
    return said.attackers if said is not None else ()


def counts_contributors(table: d.Block) -> bool:
    """Whether its cells hold numbers of contributors, and no magnitude."""
    return any(count.column is None for count in table.all(d.Count))


def scenarios_of(policy: Policy, protect: d.Block) -> list[d.Block]:
    said = protect.last(d.Scenarios)
    return [policy.scenarios[n] for n in said.names if n in policy.scenarios] if said is not None else []


def attackers_of(policy: Policy, protect: d.Block) -> list[str]:
    """Everybody a block protects against, by name or through a scenario."""
    names = [*against_of(protect), *(a for s in scenarios_of(policy, protect) for a in against_of(s))]
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class LevelSet:
    """Levels that must hold against some attackers (S19): the block's, or the block's followed by a scenario's."""

    scenario: str | None
    attackers: tuple[str, ...] | None  # None: nobody is named, and the data brings its attacker along
    levels: tuple[d.Level, ...]


def level_sets(policy: Policy, protect: d.Block) -> list[LevelSet]:
    own, named, scenarios = protect.all(d.Level), against_of(protect), scenarios_of(policy, protect)
    sets = [LevelSet(None, named or None, own)] if named or not scenarios else []
    return sets + [LevelSet(s.name, against_of(s), own + s.all(d.Level)) for s in scenarios]


def brings_levels(policy: Policy, protect: d.Block) -> bool | None:
    """Do the tables come from files with levels of their own (S31)? None: some of them."""
    given = {bool(policy.tables[t].all(d.Origin)) for t in protect.tables if t in policy.tables}
    return None if len(given) > 1 else True in given


# ---- files -----------------------------------------------------------------------------------------------


def files_by_table(path: str, tables: Iterable[str]) -> dict[str, str]:
    """Where each table of a block goes, or came from: one table to a file, named after it if there are several."""
    names = list(tables)
    if len(names) == 1:
        return {names[0]: path}
    stem, suffix = posixpath.splitext(path)
    return {name: f"{stem}-{name}{suffix}" for name in names}


def whole_block(release: d.Release) -> bool:
    """Whether it shows all tables of a block on one page."""
    writer = WRITERS.get(release.file.format)
    return writer is not None and writer.whole_block


def released_files(release: d.Release, tables: Iterable[str]) -> dict[str, str]:
    """The files of one `release`, by table; by "" what is about the whole block."""
    if whole_block(release):
        return {"": release.file.path}
    return files_by_table(release.file.path, tables)


# ---- statements that compete -----------------------------------------------------------------------------


def rivals(statement: d.Statement) -> Hashable | None:
    """Statements of one block compete when this is the same (S6); None for those that compete with nothing."""
    match statement:
        case d.Level(level):
            return ("level", level)
        case d.Conditional(level):
            return ("conditional", level)
        case d.Cost(_, price):
            return ("cost", price)
        case d.Bounds():
            return ("bounds",)
        case _:
            return None


def covered(statements: Iterable[_S]) -> Iterator[tuple[_S, _S | None]]:
    """The competing statements that no cell can use, each with the later one that takes all its cells.

    None stands where the statement's own condition is never true.
    """
    taken: dict[Hashable, _S] = {}
    for statement in reversed(list(statements)):
        where, against = simplified(getattr(statement, "where", None)), getattr(statement, "against", None)
        if where is False:
            yield statement, None
            continue
        keys = [(who, cells) for who in (None, against) for cells in (True, where)]
        later = next((taken[key] for key in keys if key in taken), None)
        if later is not None:
            yield statement, later
        else:
            taken[against, where] = statement


# ---- conditions ------------------------------------------------------------------------------------------

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def simplified(condition: x.Expression | None) -> x.Expression | bool:
    """The condition without its constant parts; True (also for no condition) or False where nothing else is left."""
    match condition:
        case None:
            return True
        case x.Compare(sign, left, right) if sign in _HOLDS:
            a, b = constant(left), constant(right)
            return condition if a is None or b is None else _HOLDS[sign](a, b)
        case x.Not(value):
            inner = simplified(value)
            return not inner if isinstance(inner, bool) else condition if inner is value else x.Not(inner)
        case x.Every(parts):
            return _joined(condition, parts, x.Every, False)
        case x.Some(parts):
            return _joined(condition, parts, x.Some, True)
        case _:
            return condition


def _joined(whole: x.Expression, parts: tuple[x.Expression, ...], join: type, decides: bool) -> x.Expression | bool:
    inner = [simplified(p) for p in parts]
    if any(p is decides for p in inner):
        # S10: a dimension that is named, however idly, leaves out the tables that lack it.
        return whole if any(_names_a_dimension(p) for p in parts) else decides
    left = tuple(p for p in inner if not isinstance(p, bool))
    if not left:
        return not decides
    if len(left) == len(parts) and all(a is b for a, b in zip(left, parts, strict=True)):
        return whole
    return left[0] if len(left) == 1 else join(left)


def _names_a_dimension(e: x.Expression) -> bool:
    return any(
        isinstance(part, x.Member | x.Under | x.AtLevel) or (isinstance(part, x.Name) and part.name not in QUANTITIES)
        for part in x.walk(e)
    )


def constant_parts(said: object) -> Iterator[x.Expression]:
    """The outermost conditions, anywhere in a statement, that are true of all cells or of none."""
    pending: list[object] = [said]
    while pending:
        at = pending.pop()
        if isinstance(at, tuple):
            pending += reversed(cast(tuple[object, ...], at))
        elif isinstance(at, x.Compare | x.Not | x.Every | x.Some) and isinstance(simplified(at), bool):
            yield at
        elif isinstance(at, x.Located):
            parts: list[object] = list(at.__dict__.values())
            pending += reversed(parts)


# ---- rules -----------------------------------------------------------------------------------------------


def bind_arguments(call: x.Call, known: dict[str, OptionSpec]) -> tuple[dict[str, x.Argument], list[Diagnostic]]:
    """Positional and named arguments of a rule by their names."""
    bound: dict[str, x.Argument] = {}
    wrong: list[Diagnostic] = []
    order = list(known)
    for i, argument in enumerate(call.arguments):
        name = argument.name or (order[i] if i < len(order) else None)
        takes = f"`{call.name}` takes {listed(known) or 'nothing'}"
        value = argument.value
        if isinstance(value, x.Compare) and value.operator == "=" and isinstance(value.left, x.Name):
            instead = f"{value.left.name}: {expression(value.right)}"
            fix = Fix(argument.span, instead) if argument.span else None
            headline = "an argument is named with a colon"
            wrong.append(diagnostic("SDC114", headline, argument.span, f"write {instead}", fix=fix))
        elif name is None:
            wrong.append(diagnostic("SDC114", f"one argument too many for `{call.name}`", argument.span, notes=[takes]))
        elif name not in known:
            label = did_you_mean(name, known)
            headline = f"`{call.name}` has no argument `{name}`"
            wrong.append(diagnostic("SDC114", headline, argument.span, label, notes=[takes]))
        elif name in bound:
            wrong.append(diagnostic("SDC114", f"`{name}` is given twice", argument.span))
        else:
            bound[name] = argument
    return bound, wrong


def keyed_senses(protect: d.Block) -> Iterator[d.Option]:
    """Options by which a method takes senses from its contributors' keys."""
    for chain in protect.all(d.MethodChain):
        for engine in chain.engines:
            for option in engine.options:
                if option.name == "sense" and any(isinstance(v, x.Name) and v.name == "keyed" for v in option.values):
                    yield option


def keyed_noise(policy: Policy, table: str) -> Iterator[d.Engine]:
    """Methods that draw noise for a table by the keys of its records."""
    for protect in policy.protects.values():
        for chain in protect.all(d.MethodChain):
            for engine in chain.engines if table in protect.tables else ():
                if engine.name in METHODS and METHODS[engine.name].random_noise:
                    yield engine


def moved_ends(protect: d.Block) -> Iterator[d.Option]:
    """Options by which ends of intervals are moved at random."""
    for chain in protect.all(d.MethodChain):
        for engine in chain.engines:
            yield from (option for option in engine.options if option.name == "avoid_centre")
