"""For a person at a terminal: headline, the lines of the text with the place underlined, notes, help."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sdcdsl.diagnostics.diagnostic import Diagnostic, Mark, Severity
from sdcdsl.diagnostics.foreign import all_visible, visible
from sdcdsl.diagnostics.source import FilePlace, Source, Span

WIDEST = 150
LONGEST = 2000  # of a headline, a label, a note
STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "bold": "\x1b[1m",
    "frame": "\x1b[1;34m",
    "help": "\x1b[1;36m",
}
RESET = "\x1b[0m"


class _Paint:
    def __init__(self, on: bool):
        self.on = on

    def __call__(self, style: str, text: str) -> str:
        return f"{STYLES[style]}{text}{RESET}" if self.on and text else text


def render(diagnostics: Iterable[Diagnostic], colour: bool = False) -> str:
    return "\n".join(render_one(d, colour) for d in diagnostics)


def render_one(d: Diagnostic, colour: bool = False) -> str:
    paint = _Paint(colour)
    style = d.severity.value
    lines = [paint(style, f"{d.severity.value}[{d.code}]") + paint("bold", f": {printable(d.headline)}")]
    numbers = [m.place.first[0] for m in d.marks if isinstance(m.place, Span)]
    gutter = " " * max((len(str(n)) for n in numbers), default=1)
    bar = paint("frame", f"{gutter}  |")
    for index, mark in enumerate(d.marks):
        arrow = "-->" if index == 0 else ":::"
        lines.append(f"{gutter} {paint('frame', arrow)} {visible(str(mark.place))}")
        if isinstance(mark.place, FilePlace):
            if mark.label:
                lines.append(f"{gutter}  {paint('frame', '=')} {printable(mark.label)}")
            continue
        if index == 0:
            lines.append(bar)
        lines += _frame(mark, mark.place, gutter, bar, paint, primary=index == 0, severity=d.severity)
    lines += _remarks(d, gutter, paint)
    return "\n".join(lines) + "\n"


def _remarks(d: Diagnostic, gutter: str, paint: _Paint) -> Iterable[str]:
    equals = paint("frame", "=")
    for note in d.notes:
        first, *rest = printable(note, keep_lines=True).split("\n")
        yield f"{gutter}  {equals} {first}"
        yield from (f"{gutter}    {line}" for line in rest)
    if d.help:
        first, *rest = printable(d.help, keep_lines=True).split("\n")
        yield f"{gutter}  {equals} {paint('help', 'help')}: {first}"
        yield from (f"{gutter}          {line}" for line in rest)


def _frame(
    mark: Mark, span: Span, gutter: str, bar: str, paint: _Paint, primary: bool, severity: Severity
) -> Iterable[str]:
    source = span.source
    number, column = span.first
    last_number, last_column = span.last
    if primary and number > 1:
        above, _, _ = _window(source, number - 1, 0, 1)
        if above.strip():
            yield _numbered(number - 1, above, gutter, paint)
    start = column - 1
    first, stop = source.bounds(number)
    end = last_column - 1 if last_number == number else stop - first
    shown, start, end = _window(source, number, start, max(end, start + 1))
    yield _numbered(number, shown, gutter, paint)
    pad = " " * width(expand(shown[:start]))
    carets = ("^" if primary else "-") * max(1, width(expand(shown[:end])) - len(pad))
    label = f" {printable(mark.label)}" if mark.label else ""
    yield f"{bar} {pad}" + paint(severity.value if primary else "frame", carets + label)


def _numbered(number: int, text: str, gutter: str, paint: _Paint) -> str:
    return f"{paint('frame', f' {number:>{len(gutter)}} |')} {expand(text)}".rstrip()


def _window(source: Source, number: int, start: int, end: int) -> tuple[str, int, int]:
    """A line of a sane length that contains the marked part; the rest of a line of megabytes is never copied."""
    first, stop = source.bounds(number)
    size = stop - first
    if size <= WIDEST:
        return source.text[first:stop], start, end
    left = max(0, min(start - WIDEST // 3, size - WIDEST + 1))
    right = min(size, left + WIDEST - (left > 0))
    head, tail = "…" if left else "", "…" if right < size else ""
    shift = len(head) - left
    return head + source.text[first + left : first + right] + tail, start + shift, min(end, right) + shift


def expand(text: str) -> str:
    return all_visible(text.replace("\t", "    "))


def printable(text: str, keep_lines: bool = False) -> str:
    """Nothing that moves the reader's cursor or sets colours; and a name of megabytes hides the rest."""
    return visible(clipped(text), lines=keep_lines)


def clipped(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def width(text: str) -> int:
    """Columns on a terminal: wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
