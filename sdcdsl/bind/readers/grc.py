"""Recode files of τ-ARGUS: a new code a line, then the codes it stands for, one by one or from one to another.

1: 1, 2, 5-8
2: 9-
<MISSING> 98 99
<CODELIST> region.cdl

An open end goes to the first or the last code. Codes of digits are compared as numbers, others as texts. What a file
says of missing codes and of labels changes no table, and is not read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic
from sdcdsl.policy.coarser import Groups

_SILENT = ("<MISSING>", "<CODELIST>")


def read_grc(
    source: Path | Source, leaves: Sequence[str], codes: Iterable[str], encoding: str | None = None
) -> tuple[Groups | None, list[Diagnostic]]:
    """`leaves`: the codes that a stretch from one to another may hold."""
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    known = frozenset(codes)
    groups: list[tuple[str, tuple[str, ...]]] = []
    wrong: list[tuple[FilePlace, str]] = []
    for number, line in enumerate(lines(opened.text), 1):
        text = line.strip()
        if not text or text.upper().startswith(_SILENT):
            continue
        place = FilePlace(opened.name, line=number)
        code, colon, rest = text.partition(":")
        words = [_bare(word) for word in rest.split(",")]
        if not colon or not _bare(code) or not all(words):
            wrong.append((place, f"`{clip(text)}` is not a new code, a colon and codes"))
            continue
        parts = [part for word in words for part in _stretch(word, leaves, known)]
        groups.append((_bare(code), tuple(dict.fromkeys(parts))))
    if wrong:
        return None, [offenders("SDC312", "lines that are no recode", wrong, len(wrong))]
    if not groups:
        return None, [diagnostic("SDC308", f"{opened.name} recodes nothing", FilePlace(opened.name))]
    return tuple(groups), []


def _bare(word: str) -> str:
    return word.strip().strip('"').strip()


def _stretch(word: str, leaves: Sequence[str], known: frozenset[str]) -> list[str]:
    """The codes from one to another; a code that has a minus sign in it is that code."""
    first, minus, last = (part.strip() for part in word.partition("-"))
    if word in known or not minus:
        return [word]
    keys = [code for code in (first, last) if code]
    as_numbers = all(code.isdecimal() for code in (*keys, *leaves))

    def key(code: str) -> int | str:
        return int(code) if as_numbers else code

    inside = [
        code
        for code in leaves
        if (not first or key(first) <= key(code)) and (not last or key(code) <= key(last))  # pyright: ignore
    ]
    return inside or [word]
