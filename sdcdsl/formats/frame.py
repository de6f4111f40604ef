"""frame: data that a Python program hands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcdsl.vocabulary.formats import Reader

if TYPE_CHECKING:
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


def read(name: str, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.diagnostics import diagnostic

    headline = f'the data frame "{name}" was not handed in'
    help = "in Python: sdcdsl.load(policy, data={NAME: frame}); or name a file when running: --data NAME=PATH"
    return None, [diagnostic("SDC302", headline, reading.span, help=help)]


READER = Reader("frame", "a data frame of a Python program", read=read, no_file=True)
