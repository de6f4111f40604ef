"""jj: a whole table in one file of τ-ARGUS or CSPLIB; also of releases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.vocabulary.formats import Reader, Writer

if TYPE_CHECKING:
    from sdcdsl.bind.readers.jj import JJTable
    from sdcdsl.diagnostics import Diagnostic


def read(path: Path, options: Mapping[str, Any]) -> tuple[JJTable | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.jj import read_jj

    return read_jj(path)


TABLE = Reader("jj", "a JJ file of τ-ARGUS or CSPLIB: values, bounds, levels, weights and relations", read=read)
WRITER = Writer("jj", "JJ file of τ-ARGUS", write="sdcdsl.released.to_jj:write_release_jj")
