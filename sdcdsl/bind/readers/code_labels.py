"""What codes mean, in words: a CSV with a column for each language, or the code list of τ-ARGUS (`.cdl`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from sdcdsl.bind.readers.csv_text import TextRows, read_rows
from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, Source, diagnostic, did_you_mean, listed
from sdcdsl.policy.labels import same_language

Labels = dict[str, dict[str, str]]  # by language, then by code; the language "" is one that nobody names

CODE_WORDS = ("code", "id", "key", "codes")
LABEL_WORDS = ("label", "name", "title", "description", "text", "labels")
_LANGUAGE = re.compile(r"(?:(?:label|name|title|description)[_:. -])?([a-z]{2,3}(?:[-_][A-Za-z]{2,4})?)", re.I)


def chosen(
    labels: Labels, language: str | None, name: str, place: Place | None = None
) -> tuple[Labels | None, list[Diagnostic]]:
    """The labels in one language, or in all that a file has. What a file does not name is in the language asked for."""
    if language is None:
        return labels, []
    for known, words in labels.items():
        if same_language(known, language):
            return {language: words}, []
    if set(labels) == {""}:
        return {language: labels[""]}, []
    headline = f"{name} has no labels in `{language}`"
    near = did_you_mean(language, labels)
    notes = [f"its languages: {listed(known for known in labels if known)}"]
    return None, [diagnostic("SDC344", headline, place or FilePlace(name), near, notes=notes)]


def read_csv_labels(
    source: Path | Source,
    language: str | None = None,
    *,
    code: str | None = None,
    label: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> tuple[Labels | None, list[Diagnostic]]:
    """Columns by name; or else the headers that say what they hold (`code`, `label`, `en`, `label_de`), or else the
    first column and the second."""
    rows, problems = read_rows(source, [c for c in (code, label) if c], delimiter=delimiter, encoding=encoding)
    if rows is None:
        return None, problems
    if len(rows.header) < 2:
        return None, [
            diagnostic("SDC303", f"{rows.name} has one column, code and label take two", FilePlace(rows.name))
        ]
    at = rows.header.index(code) if code is not None else _headed(rows.header, CODE_WORDS)
    at = 0 if at is None else at
    columns = {"": rows.header.index(label)} if label is not None else _languages(rows, at)
    out: dict[str, dict[str, str]] = {}
    for name, column in columns.items():
        pairs = ((FilePlace(rows.name, line=line), row[at], row[column]) for line, row in rows.records)
        out[name], problems = _collected(pairs)
        if problems:
            return None, problems
    return chosen(out, language, rows.name)


def _headed(header: list[str], words: Iterable[str]) -> int | None:
    lowered = [name.strip().casefold() for name in header]
    return next((lowered.index(word) for word in words if word in lowered), None)


def _languages(rows: TextRows, code: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for column, name in enumerate(rows.header):
        tag = _LANGUAGE.fullmatch(name.strip())
        if column != code and tag is not None:
            found.setdefault(tag.group(1), column)
    if found:
        return found
    at = _headed(rows.header, LABEL_WORDS)
    return {"": at if at is not None and at != code else 1 if code == 0 else 0}


def read_cdl(
    source: Path | Source, language: str | None = None, *, encoding: str | None = None
) -> tuple[Labels | None, list[Diagnostic]]:
    """A code, a comma, and what it means; no header. Such a file does not say its language."""
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    pairs: list[tuple[FilePlace, str, str]] = []
    wrong: list[tuple[Place, str]] = []
    for number, line in enumerate(lines(opened.text), 1):
        if not line.strip():
            continue
        place = FilePlace(opened.name, line=number)
        mark = next((sign for sign in ",;\t" if sign in line), "")
        code, _, label = line.partition(mark) if mark else (line, "", "")
        if not mark or not _bare(code):
            wrong.append((place, f"`{clip(line.strip())}` is not a code, a comma and a label"))
        pairs.append((place, _bare(code), _bare(label)))
    if wrong:
        return None, [offenders("SDC344", "lines that give no label", wrong, len(wrong))]
    found, problems = _collected(pairs)
    if problems:
        return None, problems
    if not found:
        return None, [diagnostic("SDC308", f"{opened.name} has no labels", FilePlace(opened.name))]
    return chosen({"": found}, language, opened.name)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1].replace('""', '"').strip() if len(text) > 1 and text[0] == text[-1] == '"' else text


def _collected(pairs: Iterable[tuple[FilePlace, str, str]]) -> tuple[dict[str, str], list[Diagnostic]]:
    """A code without words has no label; one with two different labels has too many."""
    found: dict[str, str] = {}
    wrong: list[tuple[Place, str]] = []
    for place, word, words in pairs:
        code, label = word.strip(), " ".join(words.split())
        if code and label and found.setdefault(code, label) != label:
            wrong.append((place, f"`{clip(code)}` was called `{clip(found[code])}` before"))
    problems = [offenders("SDC344", "codes with two labels", wrong, len(wrong))] if wrong else []
    return found, problems
