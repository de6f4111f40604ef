"""Does everything that is named exist?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.quantities import KNOWLEDGE, ROLES

_CODES = {
    "dimension": "SDC101",
    "table": "SDC102",
    "attacker": "SDC103",
    "scenario": "SDC104",
    "data": "SDC105",
}


def check(policy: Policy) -> Iterator[Diagnostic]:
    for blocks in policy.blocks.values():
        for block in blocks.values():
            for table in block.tables:
                yield from _unknown(policy, "table", table, block.heading)
            for statement in block.statements:
                yield from _statement(policy, statement)
    for fact in policy.facts:
        table = _table_of(fact)
        if table is not None:
            yield from _unknown(policy, "table", table, fact.span)
        elif isinstance(fact, d.Sensitive) and fact.file is not None and len(policy.tables) > 1:
            headline = "the policy has several tables: say which one the file is about"
            help = f"sensitive {next(iter(policy.tables))} from …"
            yield diagnostic("SDC118", headline, fact.span, help=help)


def _table_of(fact: d.Fact) -> str | None:
    cells = None if isinstance(fact, d.Require) else fact.cells
    return cells.table if cells is not None else None


def _statement(policy: Policy, s: d.Statement) -> Iterator[Diagnostic]:
    match s:
        case d.From(data):
            yield from _unknown(policy, "data", data, s.span)
        case d.By(dimensions) | d.Attribute(dimensions):
            yield from _all(policy, "dimension", dimensions, s.span)
        case d.Recode(dimension):
            yield from _unknown(policy, "dimension", dimension, s.span)
        case d.Against(attackers):
            yield from _all(policy, "attacker", attackers, s.span)
        case d.Level(against=str() as attacker) | d.Conditional(against=str() as attacker):
            yield from _unknown(policy, "attacker", attacker, s.span)
        case d.Scenarios(scenarios):
            yield from _all(policy, "scenario", scenarios, s.span)
        case d.Each(role) | d.Coalition(role):
            if role not in ("unit", "group"):
                label = did_you_mean(role, ("unit", "group"))
                headline = f"contributors are `unit` or `group`, not `{role}`"
                yield diagnostic("SDC112", headline, word_in(s.span, role), label)
        case d.Knows(what):
            if what not in KNOWLEDGE:
                label = did_you_mean(what, KNOWLEDGE)
                notes = [f"one can know: {listed(KNOWLEDGE)}"]
                yield diagnostic("SDC112", f"nobody can know `{what}`", word_in(s.span, what), label, notes=notes)
        case d.Column(role, _, rank, treatment):
            if treatment is not None and role != "weight":
                headline = f"`{treatment}` says what a weight means, and `{role}` is none"
                yield diagnostic("SDC112", headline, s.span, help='column weight = "COLUMN" counts units')
            if rank is not None and role != "largest":
                yield diagnostic("SDC112", "only `largest(K)` has a rank", s.span, notes=[f"roles: {listed(ROLES)}"])
        case _:
            pass


def _all(policy: Policy, kind: str, names: Iterable[str], span: Span | None) -> Iterator[Diagnostic]:
    for name in names:
        yield from _unknown(policy, kind, name, span)


def _unknown(policy: Policy, kind: str, name: str, span: Span | None) -> Iterator[Diagnostic]:
    known = policy.blocks[kind]
    if name in known or policy.may_exist(name) or kind in policy.nameless:
        return
    here = word_in(span, name)
    label = did_you_mean(name, known)
    other = next((k for k, blocks in policy.blocks.items() if name in blocks and k != "protect"), None)
    notes = [f"`{name}` is declared as {'an' if other[0] == 'a' else 'a'} {other}"] if other else []
    prefixed = policy.prefixed(kind, name)
    if prefixed:
        label = f"did you mean `{prefixed}`?"
    notes += _other_alphabet(name)
    if not known:
        notes.append(f"the policy declares no {kind} at all")
    what = "data" if kind == "data" else f"{kind}"
    yield diagnostic(_CODES[kind], f"there is no {what} `{name}`", here, label, notes=notes)


def _other_alphabet(name: str) -> list[str]:
    """A Cyrillic letter in a Latin word looks right and is not."""
    odd = [c for c in name if not c.isascii() and not unicodedata.name(c, "LATIN").startswith("LATIN")]
    if not odd or not any(c.isascii() and c.isalpha() for c in name):
        return []
    return [f"its letter `{odd[0]}` is the {unicodedata.name(odd[0]).lower()}"]


def word_in(span: Span | None, word: str) -> Span | None:
    """The word inside the statement, as the place to point at."""
    if span is None:
        return None
    for candidate in (word, word.rpartition(".")[2]):
        found = list(re.finditer(rf"(?<![\w.]){re.escape(candidate)}(?![\w.])", span.text))
        if found:
            return Span(span.source, span.start + found[-1].start(), span.start + found[-1].end())
    return span
