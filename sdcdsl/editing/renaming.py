"""A name changed wherever it stands, in all files of the policy."""

from __future__ import annotations

from sdcdsl.diagnostics import Span
from sdcdsl.editing.names import ALIAS, PARAM, Names, declared_of
from sdcdsl.editing.opened import Opened
from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.quantities import QUANTITIES


class Refused(Exception):
    """Why a name cannot be changed, in a sentence."""


def renameable(opened: Opened, offset: int) -> Span:
    """The word that would change."""
    names = Names(opened.policy)
    found = names.at(opened.parsed, offset)
    if found is None:
        raise Refused("there is no name of the policy's own here")
    _, said = found
    if said.kind == ALIAS:
        raise Refused("what a used file is called is changed in its `use` line")
    if said.kind == "protect" and not any(o.declares and m == said for o, m in names.words if o.kind == "protect"):
        raise Refused("this block has the name of its table: give it one of its own, protect … as NAME")
    return said.span


def rename(opened: Opened, offset: int, new: str) -> list[Span]:
    """The places to write `new` at."""
    renameable(opened, offset)
    names = Names(opened.policy)
    found = names.at(opened.parsed, offset)
    assert found is not None
    _, said = found
    _check(new, said.kind)
    prefix = said.whole.rpartition(".")[0]
    whole = f"{prefix}.{new}" if prefix else new
    if whole != said.whole and whole in declared_of(opened.policy, said.kind):
        raise Refused(f"there is {said.kind} `{whole}` already")
    return names.uses(said)


def _check(new: str, kind: str) -> None:
    if not new.isidentifier():
        raise Refused(f"`{new}` is not a name: letters, digits and _, and no digit at the start")
    if new in RESERVED:
        raise Refused(f"`{new}` is a reserved word")
    if kind in ("dimension", PARAM) and (new in QUANTITIES or new in FUNCTIONS):
        raise Refused(f"`{new}` means something else in expressions")
