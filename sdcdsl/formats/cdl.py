"""cdl: the code list of τ-ARGUS."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.formats.csv_labels import CdlOptions
from sdcdsl.vocabulary.formats import Reader

if TYPE_CHECKING:
    from sdcdsl.bind.readers.code_labels import Labels
    from sdcdsl.diagnostics import Diagnostic


def read(path: Path, language: str | None, options: Mapping[str, Any]) -> tuple[Labels | None, list[Diagnostic]]:
    from sdcdsl.bind.options import encoding_of
    from sdcdsl.bind.readers.code_labels import read_cdl

    return read_cdl(path, language, encoding=encoding_of(dict(options)))


LABELS = Reader("cdl", "τ-ARGUS code list: one code per line, a comma, and its label", CdlOptions, read)
