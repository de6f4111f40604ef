"""The file formats a policy may name, by what the file is for."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.option import Kind, NoOptions, option


@record
class CsvOptions(Record):
    delimiter: Any = option(Kind.TEXT, "what stands between two fields; detected if not given", None)
    decimal: Any = option(Kind.TEXT, "the decimal sign", ".")
    encoding: Any = option(Kind.TEXT, "the text encoding", "utf-8")
    missing: Any = option(Kind.TEXT, "what a missing value looks like", "")


@record
class HrcOptions(Record):
    lead: Any = option(Kind.TEXT, "the sign that is repeated once for each level", "@")


@record
class CorrespondenceOptions(CsvOptions):
    levels: Any = option(Kind.NAMES, "the columns, from coarse to fine; all if not given", None)


@record
class ParentOptions(CsvOptions):
    child: Any = option(Kind.NAMES, "the column of the code", None)
    parent: Any = option(Kind.NAMES, "the column of the code it is part of", None)


@record
class StatusOptions(Record):
    """Which entries of a status column mean what; the letters of JJ files if not given."""

    sensitive: Any = option(Kind.NAMES, "entries that mark a cell sensitive", None)
    safe: Any = option(Kind.NAMES, "entries that mark a cell safe", None)
    fixed: Any = option(Kind.NAMES, "entries of cells to publish as they are", None)
    hidden: Any = option(Kind.NAMES, "entries of cells already hidden", None)


@record
class ValueOptions(Record):
    absent: Any = option(
        Kind.CHOICE,
        "what a leaf without a row is: refused where no total shows that it is empty, or zero",
        "refused",
        choices=("refused", "zero"),
    )


@record
class ArgusOptions(Record):
    metadata: Any = option(Kind.TEXT, "the .rda file that describes the columns", None)
    encoding: Any = option(Kind.TEXT, "the text encoding of both files", "utf-8")


@record
class ReleaseOptions(Record):
    """What formats with printed figures take."""

    decimals: Any = option(
        Kind.WHOLE, "at most this many decimals; all that are needed, if not given", None, least=0, most=15
    )


@record
class CsvReleaseOptions(ReleaseOptions):
    delimiter: Any = option(Kind.TEXT, "what stands between two fields", ",")
    decimal: Any = option(Kind.TEXT, "the decimal sign", ".")
    spreadsheet_safe: Any = option(
        Kind.SWITCH,
        "an apostrophe before codes that a spreadsheet would take for formulas, which is the rule, and every field in "
        "quotation marks; no: codes as they are",
        None,
    )


@record
class SdmxOptions(ReleaseOptions):
    dataflow: Any = option(
        Kind.TEXT, "the DATAFLOW, AGENCY:ID(VERSION); made from the table's name, if not given", None
    )
    mark_primary: Any = option(
        Kind.FLAG, "tells which hidden cells are sensitive, C instead of D: not for files that the public gets", False
    )


@record
class Format(Record):
    name: str
    about: str
    options: type = NoOptions


def _by_name(*formats: Format) -> MappingProxyType[str, Format]:
    return MappingProxyType({f.name: f for f in formats})


DATA = _by_name(
    Format("csv", "comma- or otherwise separated text", CsvOptions),
    Format("parquet", "Apache Parquet"),
    Format("argus", "τ-ARGUS microdata or table with its .rda file", ArgusOptions),
)
TABLES = _by_name(Format("jj", "a JJ file of τ-ARGUS or CSPLIB: values, bounds, levels, weights and relations"))
HIERARCHIES = _by_name(
    Format("hrc", "τ-ARGUS hierarchy: one code per line, indented by signs", HrcOptions),
    Format("columns", "correspondence table: one column per level", CorrespondenceOptions),
    Format("parents", "one row per code, with the code it is part of", ParentOptions),
)
CELL_LISTS = _by_name(
    Format("csv", "one row per cell: a column for each dimension", CsvOptions),
    Format("hst", "τ-ARGUS a-priori file"),
)
RELEASES = _by_name(
    Format("csv", "comma-separated text", CsvReleaseOptions),
    Format("parquet", "Apache Parquet", ReleaseOptions),
    Format("sdmx", "SDMX-CSV with OBS_STATUS and CONF_STATUS", SdmxOptions),
    Format("jj", "JJ file of τ-ARGUS"),
    Format("argus", "a table of τ-ARGUS with its .rda file", ReleaseOptions),
    Format("html", "a page to read"),
)
STATUS = StatusOptions
VALUE = ValueOptions
