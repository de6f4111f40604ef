"""Mistakes that a tool can put right: the replacements that diagnostics carry, applied to a text."""

from __future__ import annotations

from collections.abc import Iterable

from sdcdsl.diagnostics import Diagnostic, Fix, Source


def fixes(source: Source, diagnostics: Iterable[Diagnostic]) -> list[Fix]:
    """Those of one text, in its order. Of two that overlap the first counts: the other is found again when it is in."""
    found = sorted(
        {(d.fix.span.start, d.fix.span.end, d.fix.text): d.fix for d in diagnostics if d.fix is not None}.values(),
        key=lambda fix: (fix.span.start, fix.span.end),
    )
    out: list[Fix] = []
    for fix in found:
        if fix.span.source is source and (not out or fix.span.start >= out[-1].span.end):
            out.append(fix)
    return out


def fixed(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with all replacements made."""
    parts, at = [], 0
    for fix in fixes(source, diagnostics):
        parts += [source.text[at : fix.span.start], fix.text]
        at = fix.span.end
    return "".join([*parts, source.text[at:]])
