"""Words of third parties, found through entry points when a name is not ours.

A package adds a method by an entry point in the group `sdcdsl.methods` that loads a `Method`, and likewise in
`sdcdsl.rules` (a `Rule`), `sdcdsl.readers` (a `Format` for `data`). The groups are read only when a policy names a
word that is not built in: an office without plug-ins pays nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sdcdsl.vocabulary.formats import DATA, Format
from sdcdsl.vocabulary.methods import METHODS, Method
from sdcdsl.vocabulary.rules import ALIASES, RULES, Rule


@cache
def _entry_points(group: str) -> dict[str, Any]:
    from importlib.metadata import entry_points  # noqa: PLC0415

    return {point.name: point for point in entry_points(group=group)}


def _plugin(group: str, name: str, kind: type) -> Any:
    point = _entry_points(group).get(name)
    if point is None:
        return None
    loaded = point.load()
    if not isinstance(loaded, kind):
        raise TypeError(f"entry point {name!r} of group {group!r} must load a {kind.__name__}")
    return loaded


def find_method(name: str) -> Method | None:
    return METHODS.get(name)


def find_rule(name: str) -> Rule | None:
    return RULES.get(ALIASES.get(name, name)) or _plugin("sdcdsl.rules", name, Rule)


def find_reader(name: str) -> Format | None:
    return DATA.get(name) or _plugin("sdcdsl.readers", name, Format)


def method_names() -> list[str]:
    return list(METHODS)


def rule_names() -> list[str]:
    return [*RULES, *ALIASES, *_entry_points("sdcdsl.rules")]
