"""hst: cells and what is said about them, in an a-priori file of τ-ARGUS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.vocabulary.formats import Reader, Review

if TYPE_CHECKING:
    from sdcdsl.bind.cell_lists import CellEntry
    from sdcdsl.diagnostics import Diagnostic


def read(path: Path, dimensions: Sequence[str], options: Mapping[str, Any]) -> tuple[list[CellEntry], list[Diagnostic]]:
    from sdcdsl.bind.cell_lists import CellEntry
    from sdcdsl.bind.readers.hst import read_hst
    from sdcdsl.diagnostics import FilePlace

    records, problems = read_hst(path, dimensions=len(dimensions))
    if records is None or problems:
        return [], problems
    return [CellEntry(r.codes, r.status, FilePlace(str(path), line=r.line), r.levels) for r in records], []


CELL_LIST = Reader("hst", "τ-ARGUS a-priori file", read=read)
REVIEW = Review(
    "hst",
    "a-priori file of τ-ARGUS with the status and the levels of every cell",
    ".hst",
    "sdcdsl.report.review.apriori:write_apriori",
)
