"""The report as one page that opens from disk: an internal one with the true values, and one for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcdsl.outcome import Outcome
from sdcdsl.report.provenance import Provenance


def write_page(
    path: Path,
    outcomes: Sequence[Outcome],
    provenance: Provenance,
    *,
    public: bool,
    labels: Sequence[str] | None = None,
) -> None:
    """The same outcomes give the same bytes. With `public` the page tells what the released files tell."""
    from sdcdsl.report.page.assembling import page  # noqa: PLC0415

    path.write_text(page(outcomes, provenance, public=public, labels=labels), encoding="utf-8", newline="\n")
