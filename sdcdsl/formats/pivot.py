"""pivot: a list of τ-ARGUS for pivot tables, of releases."""

from __future__ import annotations

from typing import Any

from sdcdsl.formats.cross_table import LayoutOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.formats import Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class ListOptions(LayoutOptions):
    status: Any = option(Kind.FLAG, "the status of each cell behind its value: S with a figure, U without", False)
    leave_out_zeros: Any = option(Kind.FLAG, "no line for cells that are published as zero", False)


WRITER = Writer("pivot", "list of τ-ARGUS for pivot tables", ListOptions, "sdcdsl.released.to_layouts:write_pivot")
