"""sdmx: SDMX-CSV and SDMX-ML, of data; code lists, their labels, and hierarchies of structure messages; SDMX-CSV, of
releases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.formats.csv import ReleaseOptions
from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader, Review, Writer
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.hierarchy import CodeTree
    from sdcdsl.bind.readers.code_labels import Labels
    from sdcdsl.bind.readers.records import ColumnSelection, Reading, Records
    from sdcdsl.diagnostics import Diagnostic


@record
class SdmxDataOptions(Record):
    missing: Any = option(Kind.TEXT, "what a missing value looks like", "NaN")


@record
class SdmxCodelistOptions(Record):
    codelist: Any = option(
        Kind.TEXT, "the code list, `CL_AREA` or in full `ESTAT:CL_AREA(1.0)`; the only one, if not given", None
    )


@record
class SdmxHierarchyOptions(SdmxCodelistOptions):
    hierarchy: Any = option(Kind.TEXT, "the hierarchy, instead of a code list", None)


def read(path: Path, selection: ColumnSelection, reading: Reading) -> tuple[Records | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.sdmx_data import read_sdmx_data

    return read_sdmx_data(path, selection, reading)


def read_tree(
    path: Path, total: str | None, name: str, options: dict[str, Any]
) -> tuple[CodeTree | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.sdmx_hierarchy import read_sdmx_hierarchy

    return read_sdmx_hierarchy(path, total, name, options)


@record
class SdmxOptions(ReleaseOptions):
    dataflow: Any = option(
        Kind.TEXT, "the DATAFLOW, AGENCY:ID(VERSION); made from the table's name, if not given", None
    )
    version: Any = option(Kind.WHOLE, "of SDMX-CSV: 1, or 2 with STRUCTURE and ACTION", 1, least=1, most=2)
    mark_primary: Any = option(
        Kind.FLAG, "tells which hidden cells are sensitive, C instead of D: not for files that the public gets", False
    )


def read_labels(path: Path, language: str | None, options: Mapping[str, Any]) -> tuple[Labels | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.sdmx_hierarchy import read_sdmx_labels

    return read_sdmx_labels(path, language, options)


LABELS = Reader("sdmx", "the names of an SDMX-ML code list, in all its languages", SdmxCodelistOptions, read_labels)
READER = Reader("sdmx", "SDMX-CSV or SDMX-ML data", SdmxDataOptions, read, holds=("text", "gzip", "zstd", "xml"))
HIERARCHY = Reader(
    "sdmx", "a code list or a hierarchy of an SDMX-ML structure message", SdmxHierarchyOptions, read_tree
)
WRITER = Writer(
    "sdmx",
    "SDMX-CSV with OBS_STATUS and CONF_STATUS",
    SdmxOptions,
    "sdcdsl.released.to_sdmx:write_release_sdmx",
)
REVIEW = Review(
    "sdmx",
    "SDMX-CSV 2.0 with all true values, and the reason of confidentiality in CONF_STATUS",
    ".sdmx.csv",
    "sdcdsl.report.review.sdmx:write_transmission",
)
