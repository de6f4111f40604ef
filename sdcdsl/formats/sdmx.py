"""sdmx: SDMX-CSV, of releases."""

from __future__ import annotations

from typing import Any

from sdcdsl.formats.csv import ReleaseOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.formats import Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class SdmxOptions(ReleaseOptions):
    dataflow: Any = option(
        Kind.TEXT, "the DATAFLOW, AGENCY:ID(VERSION); made from the table's name, if not given", None
    )
    mark_primary: Any = option(
        Kind.FLAG, "tells which hidden cells are sensitive, C instead of D: not for files that the public gets", False
    )


WRITER = Writer(
    "sdmx",
    "SDMX-CSV with OBS_STATUS and CONF_STATUS",
    SdmxOptions,
    "sdcdsl.released.to_sdmx:write_release_sdmx",
)
