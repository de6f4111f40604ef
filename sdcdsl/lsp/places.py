"""Offsets in a text and positions of the protocol, which counts in units of the encoding that was agreed on."""

from __future__ import annotations

from lsprotocol import types as lsp

from sdcdsl.diagnostics import FilePlace, Place, Source, Span

UTF8, UTF16 = lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf16


class Places:
    def __init__(self, encoding: str = UTF16):
        self.encoding = encoding

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == lsp.PositionEncodingKind.Utf32:
            return len(text)
        return len(text.encode("utf-8")) if self.encoding == UTF8 else len(text.encode("utf-16-le")) // 2

    def position(self, source: Source, offset: int) -> lsp.Position:
        line, column = source.position(min(offset, len(source.text)))
        start = source.line_starts[line - 1]
        return lsp.Position(line - 1, self._units(source.text[start : start + column - 1]))

    def offset(self, source: Source, position: lsp.Position) -> int:
        """Beyond the end of a line: its end; beyond the last line: the end of the text."""
        if position.line >= len(source.line_starts):
            return len(source.text)
        start, end = source.bounds(position.line + 1)
        line = source.text[start:end]
        if line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for at, letter in enumerate(line):
            if units >= position.character:
                return start + at
            units += self._units(letter)
        return end

    def range(self, span: Span) -> lsp.Range:
        return lsp.Range(self.position(span.source, span.start), self.position(span.source, span.end))

    def of_place(self, place: Place | None, source: Source) -> lsp.Range:
        """Where something is said in the file that is open: its first line, if it is about another file."""
        if isinstance(place, Span) and place.source is source:
            return self.range(place)
        line = place.line - 1 if isinstance(place, FilePlace) and place.line and place.name == source.name else 0
        return lsp.Range(lsp.Position(line, 0), lsp.Position(line + 1, 0))
