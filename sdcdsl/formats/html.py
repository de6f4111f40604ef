"""html: a page about the release of a whole block."""

from __future__ import annotations

from typing import Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class PageOptions(Record):
    labels: Any = option(
        Kind.NAMES, "the languages of the labels beside codes; the one that is declared first if not given", None
    )


WRITER = Writer("html", "a page to read", PageOptions, write="sdcdsl.report.page:write_page", whole_block=True)
