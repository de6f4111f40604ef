"""markdown: a released table as a table of Markdown."""

from __future__ import annotations

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Writer
from sdcdsl.vocabulary.option import Kind, option


@record
class MarkdownOptions(Record):
    title: str = option(Kind.TEXT, "a heading above the table", "")


def write(problem, pattern, table, path, *, title):
    from sdcdsl.released.frame import release_frame

    frame = release_frame(problem, pattern, table)
    rows = [frame.columns, ["---"] * frame.width, *frame.iter_rows()]
    lines = ["| " + " | ".join("" if x is None else str(x) for x in row) + " |" for row in rows]
    path.write_text("\n".join([f"# {title}", "", *lines] if title else lines) + "\n", encoding="utf-8")


WRITER = Writer("markdown", "a table of Markdown", MarkdownOptions, write)
