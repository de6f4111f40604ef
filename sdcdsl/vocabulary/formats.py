"""What a file format is, by what the file is for: one file in `sdcdsl/formats` each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.registry import Registry, unloadable
from sdcdsl.vocabulary.option import Kind, NoOptions, no_options, option


@record
class StatusOptions(Record):
    """Which entries of a status column mean what; the letters of JJ files if not given."""

    sensitive: Any = option(Kind.NAMES, "entries that mark a cell sensitive", None)
    safe: Any = option(Kind.NAMES, "entries that mark a cell safe", None)
    fixed: Any = option(Kind.NAMES, "entries of cells to publish as they are", None)
    hidden: Any = option(Kind.NAMES, "entries of cells already hidden", None)


@record
class ValueOptions(Record):
    absent: Any = option(
        Kind.CHOICE,
        "what a leaf without a row is: refused where no total shows that it is empty, or zero",
        "refused",
        choices=("refused", "zero"),
    )


@record
class Reader(Record):
    """A format that is read. What `read` takes and returns depends on what the file is for; a function in the file of
    the record, or "module:function" of one that loads a library of data:

    readers      read(path, selection: ColumnSelection, reading: Reading) -> (Records | None, [Diagnostic])
                 (of a reader without files: its name instead of the path)
    tables       read(path, options) -> (JJTable | None, [Diagnostic])
    hierarchies  read(path, total, name, options) -> (CodeTree | None, [Diagnostic])
    recodes      read(path, leaves, codes, options) -> (((code, (code, …)), …) | None, [Diagnostic])
    labels       read(path, language, options) -> ({language: {code: label}} | None, [Diagnostic])
                 (`language` as the policy says it, or None: all that the file has; "" is one that nobody names)
    cell_lists   read(path, dimensions, options) -> ([CellEntry], [Diagnostic])

    Bad input is a diagnostic, and never raises.
    """

    name: str
    about: str
    options: type = NoOptions
    read: Callable[..., Any] | str | None = None
    suffix: str | None = None  # of data: the files of this format in a folder; None: it is one file
    late: bool = False  # the rows are read when they are needed: a damaged file may show only then
    holds: tuple[str, ...] = ()  # of data: what such a file looks like (`bind.readers.file_kinds`); () is not looked at
    no_file: bool = False  # of data: what stands in quotation marks is a name, which `read` is given instead of a path
    digest_of_records: bool = False  # of data: a lock has the digest of what was read, and not of the whole file

    def incomplete(self) -> str | None:
        if self.read is None:
            return "it is described and has no implementation: give `read`"
        return no_options(self.options) or unloadable(self.read)


@record
class Writer(Record):
    """A format that a release is written in, one table a file:

    write(problem, pattern, table, path, **options)

    or, for a page about the whole block, write(path, outcomes, provenance, public=True, **options).
    """

    name: str
    about: str
    options: type = NoOptions
    write: Callable[..., None] | str | None = None
    beside: Callable[..., Any] | str | None = None  # (path, dimensions) -> what may be written beside the file
    whole_block: bool = False

    def incomplete(self) -> str | None:
        if self.write is None:
            return "it is described and has no implementation: give `write`"
        wrong = no_options(self.options) or unloadable(self.write)
        return wrong or (unloadable(self.beside) if self.beside is not None else None)


@record
class Review(Record):
    """A file for those who review a release, one for each table: with true values and reasons, so it stays inside.

    write(outcome, table, path, context: ReviewContext)
    """

    name: str
    about: str
    suffix: str  # of the file
    write: Callable[..., None] | str | None = None

    def incomplete(self) -> str | None:
        return unloadable(self.write) if self.write is not None else "it has no implementation: give `write`"


READERS = Registry("readers", Reader)
TABLES = Registry("tables", Reader)
HIERARCHIES = Registry("hierarchies", Reader)
RECODES = Registry("recodes", Reader)
LABELS = Registry("labels", Reader)
CELL_LISTS = Registry("cell_lists", Reader)
WRITERS = Registry("writers", Writer)
REVIEWS = Registry("reviews", Review)
# What a file is for, in words, and what it may be written in.
FORMATS: dict[str, Registry[Reader] | Registry[Writer]] = {
    "data": READERS,
    "a table": TABLES,
    "a hierarchy": HIERARCHIES,
    "a recode": RECODES,
    "labels": LABELS,
    "a list of sensitive cells": CELL_LISTS,
    "a release": WRITERS,
}
