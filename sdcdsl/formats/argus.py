"""argus: files of τ-ARGUS with their metadata (`.rda`), of data and of releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.formats.csv import ReleaseOptions
from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader, Writer
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


@record
class ArgusOptions(Record):
    metadata: Any = option(Kind.TEXT, "the .rda file that describes the columns", None)
    encoding: Any = option(Kind.TEXT, "the text encoding of both files", "utf-8")


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.argus_data import read_argus

    return read_argus(path, selection, reading)


READER = Reader("argus", "τ-ARGUS microdata or table with its .rda file", ArgusOptions, read, holds=("text",))
WRITER = Writer(
    "argus",
    "a table of τ-ARGUS with its .rda file",
    ReleaseOptions,
    "sdcdsl.released.to_argus:write_release_argus",
    beside="sdcdsl.released.to_argus:files_beside",
)
