"""cross_table: a cross table of τ-ARGUS, of releases."""

from __future__ import annotations

from typing import Any

from sdcdsl.formats.csv import ReleaseOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.formats import Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class LayoutOptions(ReleaseOptions):
    quotes: Any = option(Kind.SWITCH, "codes in quotation marks, which is the rule; no: only where they must be", True)
    spreadsheet_safe: Any = option(
        Kind.SWITCH, "an apostrophe before codes that a spreadsheet would take for formulas, which is the rule", None
    )


WRITER = Writer(
    "cross_table",
    "cross table of τ-ARGUS: the last dimension across",
    LayoutOptions,
    "sdcdsl.released.to_layouts:write_cross_table",
)
