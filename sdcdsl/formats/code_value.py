"""code_value: a code–value file of τ-ARGUS, of releases."""

from __future__ import annotations

from typing import Any

from sdcdsl.formats.pivot import ListOptions
from sdcdsl.record import record
from sdcdsl.vocabulary.formats import Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class CodeValueOptions(ListOptions):
    names: Any = option(Kind.FLAG, "a first line with the names of the columns", False)


WRITER = Writer(
    "code_value", "code–value file of τ-ARGUS", CodeValueOptions, "sdcdsl.released.to_layouts:write_code_value"
)
