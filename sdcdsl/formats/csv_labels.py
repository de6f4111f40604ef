"""csv: labels of codes as delimited text, a column for each language."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.record import Record, record
from sdcdsl.vocabulary.formats import Reader
from sdcdsl.vocabulary.option import Kind, option

if TYPE_CHECKING:
    from sdcdsl.bind.readers.code_labels import Labels
    from sdcdsl.diagnostics import Diagnostic


@record
class CdlOptions(Record):
    encoding: Any = option(Kind.TEXT, "the text encoding", "utf-8")


@record
class LabelOptions(CdlOptions):
    code: Any = option(Kind.NAMES, "the column of the code; `code` or the first if not given", None)
    label: Any = option(
        Kind.NAMES, "the column of the label; those called `en`, `de` …, `label`, or the second, if not given", None
    )
    delimiter: Any = option(Kind.TEXT, "what stands between two fields; detected if not given", None)


def read(path: Path, language: str | None, options: Mapping[str, Any]) -> tuple[Labels | None, list[Diagnostic]]:
    from sdcdsl.bind.options import encoding_of
    from sdcdsl.bind.readers.code_labels import read_csv_labels

    code, label = options["code"], options["label"]
    return read_csv_labels(
        path,
        language,
        code=code[0] if code else None,
        label=label[0] if label else None,
        delimiter=options["delimiter"],
        encoding=encoding_of(dict(options)),
    )


LABELS = Reader("csv", "a column of codes and one of labels for each language", LabelOptions, read)
