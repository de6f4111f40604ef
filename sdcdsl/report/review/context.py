"""What a file for reviewers may say of the run beside the cells."""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.report.provenance import Provenance


@dataclass(frozen=True)
class ReviewContext:
    provenance: Provenance
    released: tuple[tuple[str, str], ...] = ()  # the released files of the table: name and sha256
