"""sas: a SAS file (.sas7bdat, .xpt)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


@record
class StatisticalOptions(Record):
    """Of SAS, SPSS and Stata alike."""

    encoding: Any = option(
        Kind.TEXT, "the text encoding, where the file does not say its own, or not the right one", None
    )
    missing: Any = option(Kind.TEXT, "what a missing value of a text looks like", "")


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.statistical_files import read_sas

    return read_sas(path, selection, reading)


READER = Reader("sas", "SAS file (.sas7bdat, .xpt)", StatisticalOptions, read, holds=("sas",))
