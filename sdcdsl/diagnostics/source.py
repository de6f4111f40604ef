"""Texts, and places in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, eq=False)
class Source:
    """One text with the name people know it by. Compared by identity: two reads of a file are two sources."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        start, end = self.bounds(number)
        return self.text[start:end]

    def bounds(self, number: int) -> tuple[int, int]:
        """Where a line starts and where it ends, without its line end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return start, end

    def __reduce__(self):
        return Source, (self.name, self.text)


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` up to, not including, `end` of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def first(self) -> tuple[int, int]:
        return self.source.position(self.start)

    @property
    def last(self) -> tuple[int, int]:
        """Line and column just behind the span."""
        return self.source.position(self.end)

    def __str__(self) -> str:
        line, column = self.first
        return f"{self.source.name}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A place in a file that is not a policy: a data file, a row and column of it, a group of its cells."""

    name: str
    detail: str = ""
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = self.name if self.line is None else f"{self.name}:{self.line}"
        if self.line is not None and self.column is not None:
            place += f":{self.column}"
        return f"{place} ({self.detail})" if self.detail else place


Place = Span | FilePlace
