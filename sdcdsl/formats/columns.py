"""columns: a hierarchy as a correspondence table, one column a level."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.formats.csv import CsvOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.formats import Reader
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.hierarchy import CodeTree
    from sdcdsl.diagnostics import Diagnostic


@record
class CorrespondenceOptions(CsvOptions):
    levels: Any = option(Kind.NAMES, "the columns, from coarse to fine; all if not given", None)


def read(path: Path, total: str | None, name: str, options: dict[str, Any]) -> tuple[CodeTree | None, list[Diagnostic]]:
    from sdcdsl.bind.options import encoding_of
    from sdcdsl.bind.readers.correspondence import read_correspondence

    return read_correspondence(
        path,
        columns=options["levels"] or (),
        total=total,
        delimiter=options["delimiter"],
        name=name,
        encoding=encoding_of(options),
    )


HIERARCHY = Reader("columns", "correspondence table: one column per level", CorrespondenceOptions, read)
