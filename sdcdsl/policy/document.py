"""One file, statement by statement: a frozen record that knows where each statement stands.

A block (`dimension`, `table`, …) is its name and its statements in order. Nothing is merged here: `override` and `use`
are applied by `resolve`, which works on these records.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar

from sdcdsl.diagnostics import Source, Span
from sdcdsl.policy.expressions import Call, Code, Duration, Expression, Located, Negative, Number, Percent, Text
from sdcdsl.record import Record, record

_S = TypeVar("_S", bound=Located)

# ---- pieces ------------------------------------------------------------------------------


@record
class Option(Located):
    """`NAME [VALUE, …] [where CONDITION]`"""

    name: str
    values: tuple[Expression, ...] = ()
    where: Expression | None = None


@record
class FileReference(Located):
    """`FORMAT "path" { options }`"""

    format: str
    path: str
    options: tuple[Option, ...] = ()


@record
class Address(Located):
    """One cell: `(region: A, size: small)`."""

    coordinates: tuple[tuple[str, Code], ...]


@record
class Cells(Located):
    """Which cells a fact is about: addresses, or a condition; of one table, or of every table that fits."""

    table: str | None = None
    at: tuple[Address, ...] = ()
    where: Expression | None = None


# ---- in a dimension ----------------------------------------------------------------------


@record
class Codes(Located):
    codes: tuple[Code, ...]


@record
class Total(Located):
    code: Code


@record
class HierarchyFile(Located):
    file: FileReference
    name: str | None = None


@record
class HierarchySum(Located):
    """`hierarchy TOTAL = A + B - C`"""

    total: Code
    parts: tuple[tuple[int, Code], ...]
    name: str | None = None


@record
class HierarchyPrefix(Located):
    lengths: tuple[int, ...]
    name: str | None = None


@record
class HierarchyTree(Located):
    """Codes with their depth, in reading order."""

    nodes: tuple[tuple[int, Code], ...]
    name: str | None = None


@record
class Labels(Located):
    """`labels [LANGUAGE] FORMAT "file"`: what the codes mean, in words. Without a language the file says which."""

    file: FileReference
    language: str | None = None


# ---- in data and tables --------------------------------------------------------------------


@record
class Column(Located):
    """`column ROLE = "name in the file"`; `largest(2)` carries its rank, and a weight what it means to rules."""

    role: str
    column: str
    rank: int | None = None
    treatment: str | None = None  # "counts units" or "scales contributions"


@record
class Origin(Located):
    """A file that holds the data of a data block or the whole of a table."""

    file: FileReference


@record
class From(Located):
    data: str


@record
class By(Located):
    """`levels` is empty where no dimension is published to a level only; else it has one entry for each dimension."""

    dimensions: tuple[str, ...]
    levels: tuple[int | None, ...] = ()


@record
class Merged(Located):
    """`CODE = CODE, CODE, …`: published as one."""

    code: Code
    parts: tuple[Code, ...]


@record
class Recode(Located):
    """`recode DIMENSION { … }`, or `recode DIMENSION FORMAT "file"`."""

    dimension: str
    groups: tuple[Merged, ...] = ()
    file: FileReference | None = None


@record
class Sum(Located):
    column: str


@record
class Count(Located):
    """Without a column: the table counts contributors. With one: the column holds the number of contributors."""

    column: str | None = None


@record
class ColumnOf(Located):
    """`value COL`, `weight COL`, `status COL`, `largest(K) COL` of a table of ready-made cells."""

    quantity: str
    column: str
    rank: int | None = None
    options: tuple[Option, ...] = ()


@record
class Measure(Located):
    name: str


@record
class UnitOf(Located):
    text: str


@record
class Integer(Located):
    pass


@record
class Attribute(Located):
    """What must not be learned of somebody: the other dimensions say who they are."""

    dimensions: tuple[str, ...]


@record
class Only(Located):
    where: Expression


@record
class Cell(Located):
    text: str


@record
class Values(Located):
    """An inline table as it was typed: the header, then the rows."""

    rows: tuple[tuple[Cell, ...], ...]


# ---- in an attacker, a scenario, a protect block ----------------------------------------------


@record
class Bounds(Located):
    """`low` and `high` are None for `bounds given`."""

    low: Expression | None
    high: Expression | None
    where: Expression | None = None


@record
class Each(Located):
    role: str
    where: Expression | None = None


@record
class Coalition(Located):
    role: str


@record
class Knows(Located):
    what: str


@record
class Against(Located):
    attackers: tuple[str, ...]


@record
class Level(Located):
    """`lpl | upl | spl AMOUNT [against ATTACKER] [where CONDITION]`"""

    level: str
    amount: Expression
    against: str | None = None
    where: Expression | None = None


@record
class Conditional(Located):
    """`conditional lpl | upl | spl AMOUNT [against ATTACKER] [where CONDITION]`: the level of a cell that is not
    sensitive, should it not be published as it is."""

    level: str
    amount: Expression
    against: str | None = None
    where: Expression | None = None


@record
class Scenarios(Located):
    names: tuple[str, ...]


@record
class Cost(Located):
    amount: Expression
    price: str | None = None  # up, down, fixed
    where: Expression | None = None


@record
class Engine(Located):
    """A method by the name of its record, whichever of its names was written."""

    name: str
    options: tuple[Option, ...] = ()
    written: str = field(default="", compare=False, kw_only=True)

    @property
    def word(self) -> str:
        """Its name as the policy writes it."""
        return self.written or self.name


@record
class MethodChain(Located):
    engines: tuple[Engine, ...]


@record
class Assess(Located):
    experiments: tuple[str, ...]
    options: tuple[Option, ...] = ()


@record
class Release(Located):
    file: FileReference


Statement = (
    Codes | Total | HierarchyFile | HierarchySum | HierarchyPrefix | HierarchyTree | Labels
    | Column | Origin | From | By | Recode | Sum | Count | ColumnOf | Measure | UnitOf | Integer
    | Attribute | Only | Values
    | Bounds | Each | Coalition | Knows | Against | Level | Conditional | Scenarios | Cost | MethodChain
    | Assess | Release
)  # fmt: skip


# ---- at the top of a file ------------------------------------------------------------------------


@record
class Use(Located):
    path: str
    alias: str | None = None


@record
class Title(Located):
    text: str


@record
class Seed(Located):
    number: int


@record
class Param(Located):
    """`param NAME = VALUE`"""

    name: str
    value: Number | Percent | Text | Duration | Negative


@record
class Period(Located):
    """`period NAME "NOW" previous "BEFORE"`"""

    name: str
    now: Text
    previous: Text | None = None
    options: tuple[Option, ...] = ()


@record
class Block(Located):
    """A declaration with statements. `tables` and `like` only for `protect`, whose name may be left out."""

    kind: str
    name: str
    statements: tuple[Statement, ...] = ()
    tables: tuple[str, ...] = ()
    override: bool = False
    like: str | None = None  # the block whose statements come first
    documentation: str = field(default="", compare=False, kw_only=True)
    heading: Span | None = field(default=None, compare=False, kw_only=True)

    def all(self, kind: type[_S]) -> tuple[_S, ...]:
        return tuple(s for s in self.statements if isinstance(s, kind))

    def last(self, kind: type[_S]) -> _S | None:
        found = self.all(kind)
        return found[-1] if found else None

    def the(self, kind: type[_S]) -> _S:
        """The statement of a block that has passed the checks, which know that it must be there."""
        found = self.last(kind)
        assert found is not None, f"{self.kind} {self.name} without {kind.__name__}"
        return found


@record
class Sensitive(Located):
    """Exactly one of: by a rule, by `cells`, together, from a file."""

    cells: Cells
    rule: Call | None = None
    together: bool = False
    file: FileReference | None = None
    because: str | None = None


@record
class Status(Located):
    """`publish`, `suppress` or `fix`."""

    status: str
    cells: Cells
    because: str | None = None


@record
class Waive(Located):
    """Of a contributor (role and code) or of cells."""

    because: str
    role: str | None = None
    code: Code | None = None
    cells: Cells | None = None
    until: str | None = None


@record
class Require(Located):
    condition: Expression
    because: str
    where: Expression | None = None


Fact = Sensitive | Status | Waive | Require
Item = Use | Title | Seed | Param | Period | Block | Fact


@record
class Document(Record):
    edition: int
    items: tuple[Item, ...]
    source: Source | None = field(default=None, compare=False, kw_only=True)

    def all(self, kind: type[_S]) -> tuple[_S, ...]:
        return tuple(i for i in self.items if isinstance(i, kind))
