"""stata: a Stata file (.dta)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sdcdsl.formats.sas import StatisticalOptions
from sdcdsl.vocabulary.formats import Reader

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.statistical_files import read_stata

    return read_stata(path, selection, reading)


READER = Reader("stata", "Stata file (.dta)", StatisticalOptions, read, holds=("stata",))
