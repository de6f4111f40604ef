"""hrc: a hierarchy of τ-ARGUS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.hierarchy import CodeTree
    from sdcdsl.diagnostics import Diagnostic


@record
class HrcOptions(Record):
    lead: Any = option(Kind.TEXT, "the sign that is repeated once for each level", "@")


def read(
    path: Path, total: str | None, name: str, options: Mapping[str, Any]
) -> tuple[CodeTree | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.hrc import read_hrc

    return read_hrc(path, total=total or "Total", leader=options["lead"], name=name)


HIERARCHY = Reader("hrc", "τ-ARGUS hierarchy: one code per line, indented by signs", HrcOptions, read)
