"""What is in force without standing here: arguments by their names, and levels that scenarios and overrides bring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcdsl.editing.opened import Opened
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import LEVELS, level_sets, within
from sdcdsl.policy.write import expression
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.rules import find_rule


@dataclass(frozen=True)
class Hint:
    offset: int
    text: str
    argument: bool = False  # stands before an argument; others stand at the end of a line


def hints(opened: Opened) -> list[Hint]:
    found = [*_arguments(opened), *_levels(opened)]
    return sorted(found, key=lambda hint: hint.offset)


def _arguments(opened: Opened) -> Iterator[Hint]:
    for item in opened.file.document.all(d.Sensitive):
        rule = find_rule(item.rule.name) if item.rule is not None else None
        if item.rule is None or rule is None:
            continue
        for name, argument in zip(options_of(rule.arguments), item.rule.arguments, strict=False):
            if argument.name is None and argument.value.span is not None:
                yield Hint(argument.value.span.start, f"{name}:", argument=True)


def _levels(opened: Opened) -> Iterator[Hint]:
    """At the heading of a protect block: the levels of each set, where a scenario or an override has a say."""
    for block in opened.policy.protects.values():
        if block.heading is None or block.heading.source is not opened.source:
            continue
        sets = level_sets(opened.policy, block)
        apart = any(s.scenario is not None for s in sets) or any(not within(s, block) for s in block.all(d.Level))
        if apart:
            end = opened.source.text.find("\n", block.heading.end)
            yield Hint(end if end >= 0 else len(opened.source.text), "; ".join(map(_of_set, sets)))


def _of_set(levels) -> str:
    last = {level.level: expression(level.amount) for level in levels.levels if level.where is None}
    said = ", ".join(f"{name} {last[name]}" for name in LEVELS if name in last) or "no levels"
    who = ", ".join(levels.attackers or ()) or "everybody"
    return f"{said} against {who}" + (f" ({levels.scenario})" if levels.scenario else "")
