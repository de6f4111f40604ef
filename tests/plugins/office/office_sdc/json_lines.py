"""json_lines: data with one JSON object a line."""

from __future__ import annotations

from sdcdsl.diagnostics import FilePlace, diagnostic
from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader
from sdcdsl.vocabulary.option import Kind, option


@record
class JsonLinesOptions(Record):
    encoding: str = option(Kind.TEXT, "the text encoding", "utf-8")


def read(path, selection, reading):
    import json

    import polars as pl

    from sdcdsl.bind.readers.records import ROW, records_of

    rows = []
    try:
        for number, line in enumerate(path.read_text(encoding=reading.options["encoding"]).splitlines(), 1):
            if line.strip():
                rows.append({ROW: number, **json.loads(line)})
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        headline = f"{path.name} is no file with one JSON object a line: {type(error).__name__}"
        return None, [diagnostic("SDC302", headline, FilePlace(str(path)))]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return records_of(frame.lazy(), str(path), selection, lines=True)


READER = Reader("json_lines", "one JSON object a line", JsonLinesOptions, read, suffix=".jsonl")
