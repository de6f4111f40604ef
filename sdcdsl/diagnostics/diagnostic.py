"""What the program has to say about somebody's text or data, as a value.

Every stage returns its result together with the diagnostics it found; an exception means a bug.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from sdcdsl.diagnostics.codes import CODES
from sdcdsl.diagnostics.confidential import has_secrets, nothing_left, quoted, readable
from sdcdsl.diagnostics.source import FilePlace, Place, Span

MOST_PROBLEMS = 100  # listed for each file


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place and what is the matter there."""

    place: Place
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", quoted(self.label))


@dataclass(frozen=True, slots=True)
class Fix:
    """A replacement of text that a tool can apply; unasked only where it is `certain` that it was meant."""

    span: Span
    text: str
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """The headline says what is wrong in the reader's words, the first mark says where, `help` shows what to write."""

    code: str
    headline: str
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    unlisted: int = 0  # SDC008 alone: how many problems it stands for

    def __post_init__(self) -> None:
        object.__setattr__(self, "headline", quoted(self.headline))
        object.__setattr__(self, "notes", tuple(quoted(note) for note in self.notes))
        if self.help is not None:
            object.__setattr__(self, "help", quoted(self.help))

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


def public(d: Diagnostic) -> Diagnostic:
    """The same as it may be shown: without what the data says, unless somebody has asked for that."""
    if not any(has_secrets(text) for text in (d.headline, *d.notes, d.help or "", *(m.label for m in d.marks))):
        return d
    marks = tuple(Mark(m.place, "" if nothing_left(m.label) else readable(m.label)) for m in d.marks)
    help = readable(d.help) if d.help is not None else None
    return replace(d, headline=readable(d.headline), marks=marks, notes=tuple(map(readable, d.notes)), help=help)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(d.severity is Severity.ERROR for d in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file (in order of first appearance) and by place; equal ones said once, and last what is not listed."""
    files: dict[str, int] = {}
    unique: dict[tuple, Diagnostic] = {}
    for d in diagnostics:
        place = d.place
        if isinstance(place, Span):
            key = (files.setdefault(place.source.name, len(files)), place.start, place.end)
        elif d.unlisted and place is not None:
            key = (files.setdefault(place.name, len(files)), math.inf, 0)
        elif place is not None:
            key = (files.setdefault(place.name, len(files)), place.line or 0, place.column or 0)
        else:
            key = (-1, 0, 0)
        unique.setdefault((*key, d.code, d.headline), d)
    return [d for _, d in sorted(unique.items(), key=lambda item: item[0])]


def not_listed(name: str, count: int) -> Diagnostic:
    """What stands for the problems of a file that are counted only."""
    what = "1 more problem in {} is not listed" if count == 1 else f"{count} more problems in {{}} are not listed"
    return Diagnostic("SDC008", what.format(name), (Mark(FilePlace(name)),), unlisted=count)


def count(diagnostics: Iterable[Diagnostic]) -> int:
    return sum(d.unlisted or 1 for d in diagnostics)


def for_reading(diagnostics: Iterable[Diagnostic], most: int = MOST_PROBLEMS) -> list[Diagnostic]:
    """The first problems of each file and how many more there are: what anybody reads before trying again."""
    listed: dict[str | None, list[Diagnostic]] = {}
    more: dict[str, int] = {}
    for d in diagnostics:
        place = d.place
        name = place.source.name if isinstance(place, Span) else place.name if place is not None else None
        first = listed.setdefault(name, [])
        if name is not None and (d.unlisted or len(first) >= most):
            more[name] = more.get(name, 0) + (d.unlisted or 1)
        else:
            first.append(d)
    for name, hidden in more.items():
        listed[name].append(not_listed(name, hidden))
    return [d for first in listed.values() for d in first]
