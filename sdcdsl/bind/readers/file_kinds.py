"""What a file is by its first bytes, whatever its name ends in."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import NamedTuple

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.ordinary_files import open_ordinary

LOOKED_AT = 4096


class FileKind(NamedTuple):
    words: str
    format: str | None  # of data that is read from it


KINDS = {
    "parquet": FileKind("a Parquet file", "parquet"),
    "workbook": FileKind("a workbook", "excel"),
    "sas": FileKind("a SAS file", "sas"),
    "spss": FileKind("an SPSS file", "spss"),
    "stata": FileKind("a Stata file", "stata"),
    "duckdb": FileKind("a DuckDB database", "duckdb"),
    "sqlite": FileKind("an SQLite database", None),
    "arrow": FileKind("an Arrow file", None),
    "gzip": FileKind("a file packed by gzip", "csv"),
    "zstd": FileKind("a file packed by zstd", "csv"),
    "zip": FileKind("a ZIP archive", None),
    "xml": FileKind("an XML file", "sdmx"),
    "text": FileKind("text", "csv"),
}
_SAS7BDAT = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_XPORT = b"HEADER RECORD*******LI"
_XML = re.compile(rb"<(\?xml|!DOCTYPE|[A-Za-z][\w.-]*:[A-Za-z])")
_STARTS = (
    (b"PAR1", "parquet"),
    (b"PARE", "parquet"),
    (_SAS7BDAT, "sas"),
    (_XPORT, "sas"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    (b"SQLite format 3\0", "sqlite"),
    (b"ARROW1", "arrow"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook"),
)


def kind_of(path: Path) -> str | None:
    """A name in KINDS; None where nothing can be told, of an empty file for example."""
    try:
        with open_ordinary(path) as file:
            head = file.read(LOOKED_AT)
    except (OSError, ValueError):
        return None
    return kind_of_bytes(head, path)


def format_of(path: Path) -> str | None:
    """The format of data that such a file is read in."""
    kind = kind_of(path)
    return KINDS[kind].format if kind is not None else None


def kind_of_bytes(head: bytes, path: Path | None = None) -> str | None:
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(b"PK\x03\x04"):
        return "workbook" if path is None or _is_workbook(path) else "zip"
    if len(head) > 4 and head[0] in range(0x69, 0x74) and head[1] in (1, 2) and head[2:4] == b"\1\0":
        return "stata"  # before version 13
    if _XML.match(head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")):
        return "xml"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text"  # UTF-16 and UTF-32
    return "text" if head and b"\0" not in head else None


def is_transport_file(path: Path) -> bool:
    with open_ordinary(path) as file:
        return file.read(len(_XPORT)) == _XPORT


def another_kind(path: Path, format: str, holds: tuple[str, ...], span: Span | None) -> Diagnostic | None:
    """What the file is, if it is not what the policy says."""
    kind = kind_of(path) if holds else None
    if kind is None or kind in holds:
        return None
    words, read_as = KINDS[kind]
    help = f'{read_as} "{path.name}"' if read_as is not None else "hold the data as CSV or Parquet"
    if read_as == "csv" and kind == "text":
        help = f'if its columns are separated by a sign: csv "{path.name}"'
    return diagnostic("SDC302", f"{path} is {words}, and the policy says `{format}`", span, help=help)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            plain = archive.read("mimetype", pwd=None)[:100] if "mimetype" in names else b""
    except Exception:  # damaged: some other reader says so; zipfile raises about anything
        return True
    return any(name.startswith(("xl/", "[Content_Types]")) for name in names) or b"opendocument" in plain
