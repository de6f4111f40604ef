"""Mistakes that a tool can put right: the replacements that diagnostics carry, applied to a text.

Only those that are certain: where `dominance(2,85%)` has one argument or two, the author decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, Fix, Source
from sdcdsl.editing.opened import open_text


def fixes(source: Source, diagnostics: Iterable[Diagnostic]) -> list[Fix]:
    """Those of one text, in its order. Of two that overlap the first counts: the other is found again when it is in."""
    certain = [d.fix for d in diagnostics if d.fix is not None and d.fix.certain]
    found = {(fix.span.start, fix.span.end, fix.text): fix for fix in certain if fix.span.source is source}
    out: list[Fix] = []
    for _, fix in sorted(found.items(), key=lambda item: item[0]):
        if not out or fix.span.start >= out[-1].span.end:
            out.append(fix)
    return out


def fixed(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with all replacements made."""
    parts, at = [], 0
    for fix in fixes(source, diagnostics):
        parts += [source.text[at : fix.span.start], fix.text]
        at = fix.span.end
    return "".join([*parts, source.text[at:]])


MOST_ROUNDS = 20  # one replacement may bring the next mistake to light


def fixed_policy(text: str, path: Path, name: str) -> tuple[str, int]:
    """The text of a policy with all that is certain put right, and how many replacements that took."""
    count = 0
    for _ in range(MOST_ROUNDS):
        opened = open_text(text, path, name)
        made = fixes(opened.source, opened.mistakes)
        if not made:
            break
        count, text = count + len(made), fixed(opened.source, opened.mistakes)
    return text, count
