"""Expressions as values. Two that say the same are equal, wherever they stand: places do not count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from typing import cast

from sdcdsl.diagnostics import Span
from sdcdsl.record import Record, record


@record
class Located(Record):
    """Knows its place in the text; the place is no part of what it says."""

    span: Span | None = field(default=None, compare=False, kw_only=True)


@record
class Number(Located):
    """As it was written: `0.10` stays `0.10`, and `01` can still be a code."""

    text: str

    @property
    def value(self) -> float:
        return float(self.text)


@record
class Percent(Located):
    text: str  # without the sign

    @property
    def value(self) -> float:
        """The share it stands for: 0.1 for 10%."""
        return float(self.text) / 100


@record
class Text(Located):
    value: str


@record
class Duration(Located):
    text: str
    unit: str

    @property
    def seconds(self) -> float:
        return float(self.text) * {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}[self.unit]


@record
class Infinity(Located):
    pass


@record
class Name(Located):
    name: str


@record
class Argument(Located):
    name: str | None
    value: Expression


@record
class Call(Located):
    name: str
    arguments: tuple[Argument, ...] = ()


@record
class Negative(Located):
    value: Expression


@record
class Binary(Located):
    """`+ - * / ^`, and `of`, which multiplies by a percentage."""

    operator: str
    left: Expression
    right: Expression


@record
class Compare(Located):
    operator: str
    left: Expression
    right: Expression


@record
class Code(Located):
    """A code of a dimension: bare or quoted, `01` and `"01"` are the same."""

    text: str


@record
class Member(Located):
    dimension: str
    codes: tuple[Code, ...]
    negated: bool = False


@record
class Under(Located):
    dimension: str
    code: Code
    negated: bool = False


@record
class AtLevel(Located):
    dimension: str
    level: int
    negated: bool = False


@record
class Not(Located):
    value: Expression


@record
class Every(Located):
    parts: tuple[Expression, ...]


@record
class Some(Located):
    parts: tuple[Expression, ...]


@record
class Cond(Located):
    condition: Expression
    then: Expression
    otherwise: Expression


@record
class Range(Located):
    """`LOW .. HIGH`, the value of an option."""

    low: Expression
    high: Expression


Expression = (
    Number | Percent | Text | Duration | Infinity | Name | Call | Negative | Binary | Compare
    | Code | Member | Under | AtLevel | Not | Every | Some | Cond | Range
)  # fmt: skip


def walk(expression: object) -> Iterator[Located]:
    """The expression and everything inside it."""
    if isinstance(expression, Located):
        yield expression
        for f in fields(expression):
            if f.name != "span":
                yield from walk(getattr(expression, f.name))
    elif isinstance(expression, tuple):
        for part in cast(tuple[object, ...], expression):
            yield from walk(part)
