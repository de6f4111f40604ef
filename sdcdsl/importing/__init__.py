"""From the files of τ-ARGUS, and structures of SDMX, to a policy: one module for each kind of file, and a remark for
whatever stays behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic
from sdcdsl.importing.arb import policy_from_arb
from sdcdsl.importing.hst import policy_from_hst
from sdcdsl.importing.jj import policy_from_jj
from sdcdsl.importing.sdmx import policy_from_sdmx

ENDINGS = (".arb", ".jj", ".hst", ".xml")


@dataclass(frozen=True)
class ImportOptions:
    """What the person who imports can say besides the file."""

    folder: Path | None = None  # where the policy will lie, if not beside the source
    dimensions: Sequence[str] = ()  # of the cells in a .hst file
    table: str | None = None  # which table a .hst file is about
    encoding: str | None = None


def policy_from(source: Path, options: ImportOptions) -> tuple[str | None, list[Diagnostic]]:
    """The canonical text of a policy, or None where the source is malformed; warnings name what was left behind."""
    match source.suffix.lower():
        case ".arb":
            return policy_from_arb(source, options.folder, options.encoding)
        case ".jj":
            return policy_from_jj(source, options.folder)
        case ".hst":
            return policy_from_hst(source, options.dimensions, options.table, options.encoding)
        case ".xml":
            return policy_from_sdmx(source, options.folder)
    raise ValueError(f"nothing imports {source.suffix}")
