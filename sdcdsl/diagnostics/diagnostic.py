"""What the program has to say about somebody's text or data, as a value.

Every stage returns its result together with the diagnostics it found; an exception means a bug.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from sdcdsl.diagnostics.codes import CODES
from sdcdsl.diagnostics.source import Place, Span


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place and what is the matter there."""

    place: Place
    label: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement of text that a tool can apply."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The headline says what is wrong in the reader's words, the first mark says where, `help` shows what to write."""

    code: str
    headline: str
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fix: Fix | None = None

    @property
    def severity(self) -> Severity:
        return Severity.WARNING if CODES[self.code].warning else Severity.ERROR

    @property
    def place(self) -> Place | None:
        return self.marks[0].place if self.marks else None

    def mark(self, place: Place | None, label: str = "") -> Diagnostic:
        """One more place; records made by programs may have none to show."""
        return self if place is None else replace(self, marks=(*self.marks, Mark(place, label)))

    def note(self, *notes: str) -> Diagnostic:
        return replace(self, notes=(*self.notes, *notes))


def diagnostic(
    code: str,
    headline: str,
    place: Place | None = None,
    label: str = "",
    *,
    notes: Iterable[str] = (),
    help: str | None = None,
    fix: Fix | None = None,
) -> Diagnostic:
    """A diagnostic with at most one mark, the usual case."""
    if code not in CODES:
        raise KeyError(f"{code} is not in the catalogue of diagnostics")
    marks = (Mark(place, label),) if place is not None else ()
    return Diagnostic(code, headline, marks, tuple(notes), help, fix)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file (in order of first appearance) and by place; equal ones said once."""
    files: dict[str, int] = {}
    unique: dict[tuple, Diagnostic] = {}
    for d in diagnostics:
        place = d.place
        if isinstance(place, Span):
            key = (files.setdefault(place.source.name, len(files)), place.start, place.end)
        elif place is not None:
            key = (files.setdefault(place.name, len(files)), place.line or 0, place.column or 0)
        else:
            key = (-1, 0, 0)
        unique.setdefault((*key, d.code, d.headline), d)
    return [d for _, d in sorted(unique.items(), key=lambda item: item[0])]
