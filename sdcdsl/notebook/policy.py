"""A policy that is put together in Python: what it holds are statements, and it prints as the `.sdc` file that says
them.

    policy = Policy(
        "Turnover by region",
        Dimension("region", codes=["N", "S"], total="Total"),
        Data("enterprises", columns={"unit": "enterprise"}),
        Table("turnover", data="enterprises", by=["region"], sum="turnover"),
        Sensitive("p_percent(10%)"),
        Attacker("external", bounds=(0, "inf")),
        Protect("turnover", lpl="needed", upl="needed", against=["external"], method="suppression"),
    )
    policy.load(data={"enterprises": frame})

Names, codes and texts are values; amounts and conditions are written as in the language, `"10% of value"`. What has no
class here is a statement as text: `Policy("…", …, 'require upl >= 10% of value because "house rules"')`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sdcdsl.diagnostics import Source, has_errors
from sdcdsl.policy import expressions as x
from sdcdsl.policy.write import code, column, quoted
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse
from sdcdsl.vocabulary.formats import CELL_LISTS, HIERARCHIES, READERS, TABLES, WRITERS
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.option import Kind, options_of

Amount = str | int | float | Decimal
Option = str | int | float | Decimal | bool | Sequence[str]
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_ENDS = re.compile(r'"(?:[^"]|"")*"|([;{}#\r\n])')


def _name(text: str) -> str:
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name: letters, digits and underscores, a letter first")
    return text


def _text(text: str) -> str:
    if not isinstance(text, str) or any(sign in text for sign in "\r\n"):
        raise ValueError(f"{text!r} cannot stand in a policy: a text is one line")
    return quoted(text)


def _code(text: str) -> str:
    _text(str(text))
    return code(x.Code(str(text)))


def _amount(amount: Amount) -> str:
    """An expression of the language; nothing that ends a statement or opens a block."""
    if isinstance(amount, bool):
        raise TypeError(f"{amount} is no amount")
    if isinstance(amount, float):
        return "inf" if amount == float("inf") else "-inf" if amount == float("-inf") else f"{Decimal(repr(amount)):f}"
    text = f"{amount:f}" if isinstance(amount, Decimal) else str(amount)
    if (found := next((m for m in _ENDS.finditer(text) if m.group(1)), None)) is not None or not text.strip():
        what = repr(found.group(1)) if found is not None else "nothing in it"
        raise ValueError(f"{text!r} is no expression: there is {what}")
    return text


def _listed(one: str | Iterable[str]) -> list[str]:
    return [one] if isinstance(one, str) else list(one)


def _because(reason: str | None) -> str:
    return f" because {_text(reason)}" if reason is not None else ""


def _where(condition: str | None) -> str:
    return f" where {_amount(condition)}" if condition is not None else ""


def _options(options: Mapping[str, Option], described: type | None) -> str:
    if not options:
        return ""
    known = options_of(described) if described is not None else {}
    return " { " + "; ".join(_option(_name(n), v, known.get(n)) for n, v in options.items()) + " }"


def _option(name: str, value: Option, spec: Any) -> str:
    kind = spec.kind if spec is not None else None
    if value is True:
        return name
    if value is False:
        return f"{name} no"
    if kind is Kind.TEXT:
        return f"{name} {_text(str(value))}"
    if kind is Kind.NAMES:
        return f"{name} {', '.join(column(one) for one in _listed(value))}"  # type: ignore[arg-type]
    return f"{name} {_amount(value)}"  # type: ignore[arg-type]


class _Block:
    """What is written `KIND NAME { … }`."""

    def heading(self) -> str:
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join([f"{self.heading()} {{", *(f"  {line}" for line in self.lines()), "}"])


class File:
    """`FORMAT "path" { options }`: `File("csv", "enterprises.csv", delimiter=";")`."""

    def __init__(self, format: str, path: str, **options: Option):
        self.format, self.path, self.options = _name(format), path, options

    def written(self, *kinds: Mapping[str, Any]) -> str:
        record = next((kind[self.format] for kind in kinds if self.format in kind), None)
        options = _options(self.options, record.options if record is not None else None)
        return f"{self.format} {_text(self.path)}{options}"

    def __repr__(self) -> str:
        return f"<file {self.format} {self.path}>"


class Method:
    """A method with its options: `Method("suppression", time_limit="5 min", gap="1%")`."""

    def __init__(self, name: str, **options: Option):
        self.name, self.options = _name(name), options

    def written(self) -> str:
        record = METHODS.find(self.name)
        return self.name + _options(self.options, record.options if record is not None else None)

    def __repr__(self) -> str:
        return f"<method {self.written()}>"


Hierarchy = File | Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Dimension(_Block):
    """`codes` for codes side by side; `hierarchy` as a file, or as `{"Total": ["A", "B"], "A": ["A1", "A2"]}`; several
    trees by their names, `trees={"coast": …}`; `prefix=(1, 2, 4)` for codes whose first characters are their group."""

    name: str
    codes: Sequence[str] = ()
    total: str | None = None
    hierarchy: Hierarchy | None = None
    prefix: Sequence[int] = ()
    trees: Mapping[str, Hierarchy] = field(default_factory=dict)

    def heading(self) -> str:
        return f"dimension {_name(self.name)}"

    def lines(self) -> Iterator[str]:
        if self.codes:
            yield f"codes {', '.join(map(_code, self.codes))}"
        if self.prefix:
            yield f"hierarchy prefix {', '.join(str(int(length)) for length in self.prefix)}"
        for name, tree in ((None, self.hierarchy), *self.trees.items()):
            suffix = f" as {_name(name)}" if name is not None else ""
            if isinstance(tree, File):
                yield f"hierarchy {tree.written(HIERARCHIES)}{suffix}"
            else:
                for total, parts in (tree or {}).items():
                    yield f"hierarchy {_sum_total(total)} = {' + '.join(map(_code, parts))}{suffix}"
        if self.total is not None:
            yield f"total {_code(self.total)}"


def _sum_total(text: str) -> str:
    return quoted(text) if text in ("tree", "prefix") else _code(text)


@dataclass(frozen=True)
class Data(_Block):
    """Records. Without a file they are a data frame that `load` is given by this name."""

    name: str
    file: File | None = None
    columns: Mapping[str, str] = field(default_factory=dict)  # what it is -> what the column is called

    def heading(self) -> str:
        return f"data {_name(self.name)}"

    def lines(self) -> Iterator[str]:
        yield self.file.written(READERS) if self.file is not None else f"frame {_text(self.name)}"
        for role, called in self.columns.items():
            yield f"column {_role(role)} = {_text(called)}"


def _role(role: str) -> str:
    name, bracket, rank = role.partition("(")
    return _name(name) + (f"({int(rank.rstrip(')'))})" if bracket else "")


@dataclass(frozen=True)
class Table(_Block):
    """Of microdata: `sum`, or `count=True`. Of ready-made cells: `value`, and columns for the rest."""

    name: str
    data: str | None = None
    by: Sequence[str] = ()
    sum: str | None = None
    count: bool | str = False
    value: str | None = None
    largest: Sequence[str] = ()
    weight: str | None = None
    status: str | None = None
    measure: str | None = None
    unit: str | None = None
    integer: bool = False
    only: str | None = None
    file: File | None = None

    def heading(self) -> str:
        return f"table {_name(self.name)}"

    def lines(self) -> Iterator[str]:
        if self.file is not None:
            yield self.file.written(TABLES)
        if self.data is not None:
            yield f"from {_name(self.data)}"
        if self.by:
            yield f"by {', '.join(map(_name, self.by))}"
        if self.sum is not None:
            yield f"sum {_column(self.sum)}"
        if self.value is not None:
            yield f"value {_column(self.value)}"
        if self.count is not False:
            yield "count" if self.count is True else f"count {_column(self.count)}"
        for rank, one in enumerate(self.largest, 1):
            yield f"largest({rank}) {_column(one)}"
        for word, said in (("weight", self.weight), ("status", self.status)):
            if said is not None:
                yield f"{word} {_column(said)}"
        if self.measure is not None:
            yield f"measure {_name(self.measure)}"
        if self.unit is not None:
            yield f"unit {_text(self.unit)}"
        if self.integer:
            yield "integer"
        if self.only is not None:
            yield f"only where {_amount(self.only)}"


def _column(name: str) -> str:
    _text(name)
    return column(name)


@dataclass(frozen=True)
class Attacker(_Block):
    """`bounds=(0, "inf")`; `each="unit"` for one attacker for each contributor; `knows=["counts"]`."""

    name: str
    bounds: tuple[Amount, Amount] | str | None = None  # or "given"
    each: str | None = None
    coalition: str | None = None
    knows: Sequence[str] = ()
    where: str | None = None  # of `each`

    def heading(self) -> str:
        return f"attacker {_name(self.name)}"

    def lines(self) -> Iterator[str]:
        if isinstance(self.bounds, str):
            yield f"bounds {_name(self.bounds)}"
        elif self.bounds is not None:
            yield f"bounds {_amount(self.bounds[0])} .. {_amount(self.bounds[1])}"
        if self.each is not None:
            yield f"each {_name(self.each)}{_where(self.where)}"
        if self.coalition is not None:
            yield f"coalition {_name(self.coalition)}"
        if self.knows:
            yield f"knows {' '.join(map(_name, self.knows))}"


@dataclass(frozen=True)
class Sensitive:
    """Cells that must not be published: by a rule, `Sensitive("p_percent(10%)")`; by their codes,
    `Sensitive(at=[{"region": "N"}])`; by a condition; or from a file."""

    rule: str | None = None
    table: str | None = None
    where: str | None = None
    at: Sequence[Mapping[str, str]] = ()
    file: File | None = None
    because: str | None = None

    def __str__(self) -> str:
        said = f"sensitive {_name(self.table)}" if self.table is not None else "sensitive"
        if self.rule is not None:
            said += f" by {_amount(self.rule)}"
        if self.file is not None:
            said += f" from {self.file.written(CELL_LISTS)}"
        if self.at:
            said += f" at {', '.join(map(_address, self.at))}"
        return said + _where(self.where) + _because(self.because)


def _address(cell: Mapping[str, str]) -> str:
    return "(" + ", ".join(f"{_name(dimension)}: {_code(one)}" for dimension, one in cell.items()) + ")"


@dataclass(frozen=True, init=False)
class Protect(_Block):
    """Levels, attackers, costs and methods of one table, or of several that are protected together."""

    tables: tuple[str, ...]
    name: str | None
    levels: Mapping[str, Amount]
    against: Sequence[str] | str
    cost: Amount | None
    method: str | Method | Sequence[str | Method]
    release: File | Sequence[File]
    more: Sequence[str]

    def __init__(
        self,
        *tables: str,
        name: str | None = None,
        lpl: Amount | None = None,
        upl: Amount | None = None,
        spl: Amount | None = None,
        against: Sequence[str] | str = (),
        cost: Amount | None = None,
        method: str | Method | Sequence[str | Method] = "suppression",
        release: File | Sequence[File] = (),
        more: Sequence[str] = (),  # further statements of the block, as text
    ):
        said = {"lpl": lpl, "upl": upl, "spl": spl}
        levels = {level: amount for level, amount in said.items() if amount is not None}
        for field_name, value in (
            *(("tables", tables), ("name", name), ("levels", levels), ("against", against), ("cost", cost)),
            *(("method", method), ("release", release), ("more", more)),
        ):
            object.__setattr__(self, field_name, value)

    def heading(self) -> str:
        return f"protect {', '.join(map(_name, self.tables))}" + (f" as {_name(self.name)}" if self.name else "")

    def lines(self) -> Iterator[str]:
        for level, amount in self.levels.items():
            yield f"{level} {_amount(amount)}"
        if against := _listed(self.against):
            yield f"against {', '.join(map(_name, against))}"
        if self.cost is not None:
            yield f"cost {_amount(self.cost)}"
        chain = [self.method] if isinstance(self.method, str | Method) else self.method
        methods = [one if isinstance(one, Method) else Method(one) for one in chain]
        yield f"method {' else '.join(one.written() for one in methods)}"
        yield from self.more
        for file in [self.release] if isinstance(self.release, File) else self.release:
            yield f"release {file.written(WRITERS)}"


class Policy:
    """A title and statements in their order; `str` gives the file."""

    def __init__(self, title: str, *statements: _Block | Sensitive | str, seed: int | None = None):
        self.title, self.statements, self.seed = title, statements, seed

    def __str__(self) -> str:
        parts = ["sdc 1", f"policy {_text(self.title)}"]
        if self.seed is not None:
            parts.append(f"seed {int(self.seed)}")
        text = "\n".join([*parts, *map(str, self.statements)]) + "\n"
        parsed, found = parse(Source("policy", text))
        # What is no policy is printed as it is, and refused when it is loaded.
        return text if has_errors(found) else format_text(parsed)

    def load(self, **how: Any) -> Any:
        """As `sdcdsl.load`."""
        from sdcdsl.notebook.loaded import load  # noqa: PLC0415  which knows policies

        return load(self, **how)

    def __repr__(self) -> str:
        return f"<policy {self.title}: {len(self.statements)} statements>"
