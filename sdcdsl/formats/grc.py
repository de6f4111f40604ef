"""grc: a recode of τ-ARGUS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.vocabulary.formats import Reader

if TYPE_CHECKING:
    from sdcdsl.diagnostics import Diagnostic
    from sdcdsl.policy.coarser import Groups


def read(
    path: Path, leaves: Sequence[str], codes: Sequence[str], options: Mapping[str, Any]
) -> tuple[Groups | None, list[Diagnostic]]:
    from sdcdsl.bind.readers.grc import read_grc

    return read_grc(path, leaves, codes)


RECODE = Reader("grc", "τ-ARGUS recode: one new code per line, and the codes it stands for", read=read)
