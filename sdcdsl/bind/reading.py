"""What the reader of a format makes of a file. A reader of somebody else may not keep to its form, or raise."""

from __future__ import annotations

from typing import Any

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.registry import PluginFailed, Registry, Unusable, load
from sdcdsl.vocabulary.formats import Reader


def read_by(
    readers: Registry[Reader], format: str, of: type, span: Span | None, *arguments: Any
) -> tuple[Any, list[Diagnostic]]:
    """A value of that type or None, and what was found."""
    try:
        read = load(readers[format].read)
    except Unusable as error:
        return None, [unusable_reader(format, str(error), span)]

    def value_and_found(*arguments: Any) -> tuple[Any, list[Diagnostic]]:
        value, found = read(*arguments)
        return value, list(found)

    try:
        value, found = readers.call(format, value_and_found, *arguments)
    except PluginFailed as error:
        return None, [diagnostic("SDC148", str(error), span)]
    if value is None or isinstance(value, of):
        return value, found
    why = f"its reader returns a {type(value).__name__}, and not a {of.__name__}"
    return None, [*found, unusable_reader(format, why, span)]


def unusable_reader(format: str, why: str, span: Span | None) -> Diagnostic:
    return diagnostic("SDC148", f"the format `{format}` cannot be read: {why}", span)
