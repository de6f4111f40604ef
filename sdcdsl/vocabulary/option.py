"""How an option or a rule's argument is described: a dataclass field that knows what may be written for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.registry import Fault, Registry


class Kind(StrEnum):
    """What may be written behind the word."""

    FLAG = "nothing"
    SWITCH = "nothing, or no"  # what holds without being said, and can be switched off
    WHOLE = "a whole number"
    NUMBER = "a number"
    SHARE = "a percentage"
    DURATION = "a time"
    CHOICE = "a word"
    TEXT = "a text"
    NAMES = "names"
    AMOUNT = "an amount"  # an expression, evaluated per cell; may be repeated with `where`
    RANGE = "a range LOW .. HIGH of amounts"  # per cell, may be repeated with `where`
    CELLS = "a condition"  # `word where …` selects cells
    AMOUNT_CELLS = "an amount and a condition"  # `word AMOUNT where …`


_SECONDS = {"s": 1, "min": 60, "h": 3600}
PER_CELL = frozenset({Kind.AMOUNT, Kind.RANGE, Kind.CELLS, Kind.AMOUNT_CELLS})


@record
class OptionSpec(Record):
    name: str
    kind: Kind
    about: str
    default: Any
    required: bool
    choices: Collection[str] = ()  # or the registry that has them
    least: float | None = None
    most: float | None = None
    where: bool = False  # takes a condition although its kind is not per cell (`sense up where …`)
    tighter: int = 0  # +1: a larger value requires more protection, -1: for less

    @property
    def per_cell(self) -> bool:
        return self.kind in PER_CELL or self.where

    def unusable(self, choice: str) -> Fault | None:
        """Why a choice that a plug-in offers cannot be used, if there is one."""
        return self.choices.fault(choice) if isinstance(self.choices, Registry) else None

    @property
    def form(self) -> str:
        """How it is written, for messages and `--help`."""
        if self.kind is Kind.CHOICE:
            return " | ".join(self.choices)
        return str(self.kind)


def option(
    kind: Kind,
    about: str,
    default: Any = MISSING,
    *,
    choices: Collection[str] = (),
    least: float | None = None,
    most: float | None = None,
    where: bool = False,
    tighter: int = 0,
) -> Any:
    """A dataclass field for an option; without a default it must be given."""
    described = {
        "default": None if default is MISSING else default,
        "kind": kind,
        "about": about,
        "choices": choices,
        "least": least,
        "most": most,
        "where": where,
        "tighter": tighter,
    }
    plain = {} if default is MISSING else {"default": plain_default(kind, default)}
    return field(kw_only=True, metadata={"option": described}, **plain)


def plain_default(kind: Kind, default: Any) -> Any:
    """What `20%` is as a value: 0.2, and `10 min`: 600."""
    if kind is Kind.SHARE and isinstance(default, str):
        return float(default.rstrip("%")) / 100
    if kind is Kind.DURATION and isinstance(default, str):
        number, unit = default.split()
        return float(number) * _SECONDS[unit]
    return default


@cache
def options_of(cls: type) -> dict[str, OptionSpec]:
    """The options a dataclass describes, in their order."""
    out = {}
    for f in fields(cls):
        required = f.default is MISSING and f.default_factory is MISSING
        out[f.name] = OptionSpec(name=f.name, required=required, **f.metadata["option"])
    return out


def no_options(cls: object) -> str | None:
    """Why a class does not describe options, in a sentence; None if it does."""
    if isinstance(cls, type) and is_dataclass(cls) and all("option" in f.metadata for f in fields(cls)):
        return None
    return "its options are not described: each is a field `option(kind, about)` of a dataclass"


@record
class NoOptions(Record):
    """For words that take none."""
