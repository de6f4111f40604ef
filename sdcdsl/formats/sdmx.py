"""sdmx: SDMX-CSV, of releases."""

from __future__ import annotations

from typing import Any

from sdcdsl.formats.csv import ReleaseOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.formats import Review, Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class SdmxOptions(ReleaseOptions):
    dataflow: Any = option(
        Kind.TEXT, "the DATAFLOW, AGENCY:ID(VERSION); made from the table's name, if not given", None
    )
    version: Any = option(Kind.WHOLE, "of SDMX-CSV: 1, or 2 with STRUCTURE and ACTION", 1, least=1, most=2)
    mark_primary: Any = option(
        Kind.FLAG, "tells which hidden cells are sensitive, C instead of D: not for files that the public gets", False
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
