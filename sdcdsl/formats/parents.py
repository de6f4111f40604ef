"""parents: a hierarchy as one row per code, with the code it is part of."""

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
class ParentOptions(CsvOptions):
    child: Any = option(Kind.NAMES, "the column of the code", None)
    parent: Any = option(Kind.NAMES, "the column of the code it is part of", None)


def read(path: Path, total: str | None, name: str, options: dict[str, Any]) -> tuple[CodeTree | None, list[Diagnostic]]:
    from sdcdsl.bind.options import encoding_of
    from sdcdsl.bind.readers.parents import read_parents

    child, parent = options["child"], options["parent"]
    return read_parents(
        path,
        child=child[0] if child else None,
        parent=parent[0] if parent else None,
        total=total,
        delimiter=options["delimiter"],
        name=name,
        encoding=encoding_of(options),
    )


HIERARCHY = Reader("parents", "one row per code, with the code it is part of", ParentOptions, read)
