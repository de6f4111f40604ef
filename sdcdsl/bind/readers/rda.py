"""τ-ARGUS metadata (`.rda`): which variables a data file has, where they stand, and what each is for.

A line that does not begin with `<` opens a variable:

    Region 12 2 "99"        fixed format: name, first column, width, codes that mean missing
    Region 2 "99"           free format microdata (`<SEPARATOR> ";"` on top): no first column
    Region "99"             tables, always free format: no width either

and the `<KEYWORDS>` below it say what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from sdcdsl.bind.readers.argus_words import words
from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import FIRST, clip, first_ten
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic, did_you_mean

ROLES = {
    "<RECODEABLE>": "code",
    "<RECODABLE>": "code",
    "<NUMERIC>": "number",
    "<WEIGHT>": "weight",
    "<HOLDING>": "holding",
    "<REQUEST>": "request",
    "<FREQUENCY>": "count",
    "<MAXSCORE>": "largest",
    "<STATUS>": "status",
    "<SHADOW>": "shadow",
    "<COST>": "cost",
    "<COSTVAR>": "cost",
    "<LOWERPL>": "lpl",
    "<UPPERPL>": "upl",
    "<RECORDKEY>": "record key",
}
NUMERIC_ROLES = frozenset({"number", "weight", "count", "largest", "shadow", "cost", "lpl", "upl", "record key"})
ONLY_IN_TABLES = {"<FREQUENCY>", "<MAXSCORE>", "<STATUS>", "<SHADOW>", "<COST>", "<COSTVAR>", "<LOWERPL>", "<UPPERPL>"}
STATUS_WORDS = {"<SAFE>": "safe", "<UNSAFE>": "unsafe", "<PROTECT>": "protect"}
ATTRIBUTES = {
    "<CODELIST>": "codelist",
    "<HIERCODELIST>": "hierarchy_file",
    "<HIERLEADSTRING>": "leader",
    "<TOTCODE>": "total",
}
# Known, kept as they are, and used by none of our methods (cell keys, network distances, truncation).
KEPT = {
    "<HIERARCHICAL>", "<DISTANCE>", "<TRUNCABLE>", "<PFILE>", "<PFILE_CONT>", "<PFILE_SEP>", "<CKM>",
    "<INCLUDEZEROS>", "<SEPARATION>", "<PARITY>", "<SCALING>",
}  # fmt: skip
KEYWORDS = {"<SEPARATOR>", "<SPSS>", "<HIERLEVELS>", "<DECIMALS>", *ROLES, *STATUS_WORDS, *ATTRIBUTES, *KEPT}


@dataclass(frozen=True)
class Variable:
    name: str
    line: int
    start: int | None = None  # first column in fixed format, from 1
    width: int | None = None
    missing: tuple[str, ...] = ()
    roles: frozenset[str] = frozenset()
    codelist: str | None = None
    hierarchy_file: str | None = None
    leader: str = "@"
    levels: tuple[int, ...] = ()  # digits a level adds to the code, as the file says it
    total: str = "Total"
    decimals: int = 0
    request: tuple[str, ...] = ()
    kept: tuple[tuple[str, ...], ...] = ()

    @property
    def is_number(self) -> bool:
        return bool(self.roles & NUMERIC_ROLES) and "code" not in self.roles

    @property
    def prefix_lengths(self) -> tuple[int, ...]:
        lengths, reached = [], 0
        for digits in self.levels:
            reached += digits
            lengths.append(reached)
        return tuple(lengths)


@dataclass(frozen=True)
class Metadata:
    name: str
    variables: tuple[Variable, ...]
    is_table: bool
    separator: str | None  # None: fixed format
    safe: str = "S"
    unsafe: str = "U"
    protect: str = "P"

    def variable(self, name: str) -> Variable | None:
        """τ-ARGUS does not tell upper from lower case in names."""
        return next((v for v in self.variables if v.name.lower() == name.lower()), None)

    def with_role(self, role: str) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if role in v.roles)


@dataclass
class _Reading:
    name: str
    is_table: bool
    separator: str | None
    variables: list[Variable] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def complain(
        self, line: int, headline: str, label: str = "", near: tuple[str, Iterable[str]] | None = None
    ) -> None:
        if near and len(self.problems) < FIRST:  # looking for near words costs time, and a broken file has many
            label = did_you_mean(*near)
        self.problems.append(diagnostic("SDC314", headline, FilePlace(self.name, line=line), label))


def read_rda(
    source: Path | Source, *, is_table: bool | None = None, encoding: str | None = None
) -> tuple[Metadata | None, list[Diagnostic]]:
    """`is_table` says whether the data are a table or records; without it, keywords only tables have decide."""
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    rows = [(n, row) for n, line in enumerate(lines(opened.text), 1) if (row := list(words(line)))]
    if is_table is None:
        is_table = any(word in ONLY_IN_TABLES or word in STATUS_WORDS for _, row in rows for word in row)
    reading = _Reading(opened.name, is_table, ";" if is_table else None)
    for line, row in rows:
        if row[0].startswith("<"):
            _keywords(reading, line, row)
        else:
            _open(reading, line, row)
    reading.problems += _layout(reading)
    if not rows or not (reading.variables or reading.problems):
        return None, [diagnostic("SDC308", f"{opened.name} describes no variables", FilePlace(opened.name))]
    if reading.problems:
        return None, first_ten(reading.problems)
    variables = tuple(reading.variables)
    return Metadata(opened.name, variables, is_table, reading.separator, **reading.statuses), []


def _open(reading: _Reading, line: int, row: list[str]) -> None:
    name, rest = row[0], row[1:]
    if not name or name.lower() in reading.names:
        reading.complain(line, f"variable `{clip(name)}` is described twice" if name else "a variable without a name")
    reading.names.add(name.lower())
    needed = 0 if reading.is_table else 2 if reading.separator is None else 1
    numbers = [_whole(word) for word in rest[:needed]]
    if len(numbers) < needed or any(n is None or n < 1 for n in numbers):
        says = "first column and width" if needed == 2 else "width"
        reading.complain(line, f"variable `{clip(name)}` needs its {says}", f"found `{clip(' '.join(rest))}`")
        numbers = [1] * needed
    start = numbers[0] if needed == 2 else None
    width = numbers[-1] if needed else None
    reading.variables.append(Variable(name, line, start, width, tuple(rest[needed:])))


def _keywords(reading: _Reading, line: int, row: list[str]) -> None:
    keyword, rest = row[0], row[1:]
    if keyword not in KEYWORDS:
        reading.complain(line, f"no keyword `{clip(keyword)}` in metadata", near=(keyword, KEYWORDS))
    elif keyword == "<SEPARATOR>":
        if not rest or len(rest[0]) != 1 or not rest[0].isascii():
            reading.complain(line, "a separator is a single character in quotes")
        else:
            reading.separator = rest[0]
    elif keyword == "<SPSS>":
        reading.complain(line, "data in an SPSS file cannot be read", "export them to CSV first")
    elif keyword in STATUS_WORDS:
        reading.statuses[STATUS_WORDS[keyword]] = rest[0] if rest else ""
    elif not reading.variables:
        reading.complain(line, f"`{keyword}` before the first variable")
    else:
        reading.variables[-1] = _described(reading, line, reading.variables[-1], keyword, rest)


def _described(reading: _Reading, line: int, variable: Variable, keyword: str, rest: list[str]) -> Variable:
    if keyword in ROLES:
        roles = {ROLES[keyword]}
        if keyword == "<REQUEST>":
            variable = replace(variable, request=tuple(rest))
        elif rest:  # `<NUMERIC> <SHADOW>` on one line: the second says what the number is for
            if rest[0] not in ROLES:
                reading.complain(line, f"`{clip(rest[0])}` after `{keyword}`", near=(rest[0], ROLES))
            else:
                roles = {ROLES[rest[0]]}
        return replace(variable, roles=variable.roles | roles)
    if keyword in ATTRIBUTES:
        if not rest:
            reading.complain(line, f"`{keyword}` needs a value")
            return variable
        return replace(variable, **{ATTRIBUTES[keyword]: rest[0]})
    if keyword in ("<HIERLEVELS>", "<DECIMALS>"):
        numbers = [_whole(word) for word in rest]
        if not rest or any(n is None or n < 0 for n in numbers):
            reading.complain(line, f"`{keyword}` takes whole numbers", f"found `{clip(' '.join(rest))}`")
            return variable
        if keyword == "<DECIMALS>":
            return replace(variable, decimals=numbers[0] or 0)
        return replace(variable, levels=tuple(n for n in numbers if n))
    if any(keyword == said for said, *_ in variable.kept):
        reading.complain(line, f"`{keyword}` said twice of `{clip(variable.name)}`")
        return variable
    return replace(variable, kept=(*variable.kept, (keyword, *rest)))


def _layout(reading: _Reading) -> Iterator[Diagnostic]:
    """Levels that do not fill the code, and fields of a fixed format that overlap."""
    for v in reading.variables:
        if v.levels and v.width and sum(v.levels) != v.width:
            headline = f"the levels of `{clip(v.name)}` add up to {sum(v.levels)}, its codes are {v.width} wide"
            yield diagnostic("SDC314", headline, FilePlace(reading.name, line=v.line))
    placed = sorted((v for v in reading.variables if v.start and v.width), key=lambda v: v.start or 0)
    for before, after in pairwise(placed):
        end = (before.start or 0) + (before.width or 0) - 1
        if end >= (after.start or 0):
            headline = f"`{clip(before.name)}` and `{clip(after.name)}` overlap"
            label = f"column {after.start} belongs to both"
            yield diagnostic("SDC314", headline, FilePlace(reading.name, line=after.line), label)


def _whole(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) < 10 else None
