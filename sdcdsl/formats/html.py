"""html: a page about the release of a whole block."""

from __future__ import annotations

from sdcdsl.vocabulary.formats import Writer

WRITER = Writer("html", "a page to read", write="sdcdsl.report.page:write_page", whole_block=True)
