"""Delimited text: which delimiter, which header, and small tables read row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.bind.readers.text_files import open_text
from sdcdsl.bind.readers.wording import clip, offenders, plural
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic, did_you_mean, listed

DELIMITERS = ",;\t|"
LONGEST_HEADER = 1 << 20
MOST_COLUMNS = 10_000


@dataclass(frozen=True, eq=False)
class Header:
    names: list[str]
    delimiter: str
    last_line: int  # of the file, counted from 1: the data begin on the next


@dataclass(frozen=True, eq=False)
class TextRows:
    """A small table: header, and its records with the line each ends on. All records are as wide as the header."""

    name: str
    header: list[str]
    records: list[tuple[int, list[str]]]


def find_header(text: str, required: Sequence[str], delimiter: str | None) -> Header | None:
    """The first line that is not blank; of the usual delimiters the one that shows most of the wanted names, then the
    one that cuts the header into most parts. Columns without a name are called `column 1`, `column 2` … by place."""
    head = text[:LONGEST_HEADER]
    best: tuple[tuple[int, int], Header] | None = None
    for candidate in delimiter or DELIMITERS:
        reader = csv.reader(_lines(head), delimiter=candidate)
        names = next((row for row in reader if any(field.strip() for field in row)), None)
        if names is None:
            return None
        names = [word.strip() or f"column {i}" for i, word in enumerate(names, 1)]
        score = (len(set(names) & set(required)), len(names))
        if best is None or score > best[0]:
            best = score, Header(names, candidate, reader.line_num)
    return best[1] if best else None


def header_problems(name: str, header: Header, required: Sequence[str]) -> list[Diagnostic]:
    """Columns asked for that are not there, or there twice; or a file that is no table at all."""
    if len(header.names) > MOST_COLUMNS:
        headline = f"{name} has {len(header.names)} columns, which is no table"
        return [diagnostic("SDC302", headline, FilePlace(name, line=header.last_line))]
    problems = [
        diagnostic(
            "SDC303",
            f"no column `{clip(column)}` in {name}",
            FilePlace(name, line=header.last_line),
            did_you_mean(column, header.names),
            notes=[f"its columns: {listed(clip(c) for c in header.names)}"],
        )
        for column in dict.fromkeys(required)
        if column not in header.names
    ]
    twice = [c for c in dict.fromkeys(required) if header.names.count(c) > 1]
    if twice:
        place = FilePlace(name, line=header.last_line)
        problems.append(diagnostic("SDC302", f"more than one column is called {listed(twice)}", place))
    return problems


def read_rows(
    source: Path | Source, required: Sequence[str] = (), *, delimiter: str | None = None, encoding: str | None = None
) -> tuple[TextRows | None, list[Diagnostic]]:
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    if delimiter is not None and len(delimiter) != 1:
        return None, [diagnostic("SDC302", "a delimiter is a single character", FilePlace(opened.name))]
    try:
        header = find_header(opened.text, required, delimiter)
        if header is None:
            return None, [diagnostic("SDC308", f"{opened.name} is empty", FilePlace(opened.name))]
        problems = header_problems(opened.name, header, required)
        if problems:
            return None, problems
        records = [(line, row) for line, row in all_rows(opened.text, header) if any(map(str.strip, row))]
    except csv.Error as error:
        return None, [not_delimited(opened.name, error)]
    if not records:
        place = FilePlace(opened.name, line=header.last_line)
        return None, [diagnostic("SDC308", f"{opened.name} has a header and no rows", place)]
    uneven = [(line, len(row)) for line, row in records if len(row) != len(header.names)]
    if uneven:
        return None, [uneven_rows(opened.name, header, uneven)]
    return TextRows(opened.name, header.names, records), []


def not_delimited(name: str, error: csv.Error) -> Diagnostic:
    """The one thing the csv module refuses in text: a field of more than 131 072 characters."""
    return diagnostic(
        "SDC302", f"{name} cannot be cut into columns: {error}", FilePlace(name), help="is a quote never closed?"
    )


def uneven_rows(name: str, header: Header, uneven: Sequence[tuple[int, int]]) -> Diagnostic:
    return offenders(
        "SDC302",
        f"{name} has rows that do not fit its {plural(len(header.names), 'column')}",
        ((FilePlace(name, line=line), plural(width, "field")) for line, width in uneven),
        len(uneven),
        help=f"the delimiter is taken to be {_shown(header.delimiter)}; fields that contain it need quotes",
    )


def all_rows(text: str, header: Header) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header, each with the line it ends on; a blank line is an empty row."""
    reader = csv.reader(_lines(text), delimiter=header.delimiter)
    for row in reader:
        if reader.line_num > header.last_line:
            yield reader.line_num, row


def _lines(text: str) -> Iterator[str]:
    at = 0
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    while (end := text.find("\n", at)) >= 0:
        yield text[at : end + 1]
        at = end + 1
    if at < len(text):
        yield text[at:]


def _shown(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else f"`{delimiter}`"
