"""Text that gzip or zstd has packed. A few bytes can unpack to more than memory holds, so there is a limit."""

from __future__ import annotations

import io
import zlib

import polars as pl

from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
LARGEST = 8 << 30  # bytes, unpacked
STEP = 1 << 22


def is_packed(raw: bytes) -> bool:
    return raw.startswith((GZIP, ZSTD))


def unpacked(
    raw: bytes, name: str, encoding: str | None, largest: int = LARGEST
) -> tuple[bytes | None, list[Diagnostic]]:
    """`encoding` is that of the text, None for UTF-8."""
    by, out = ("gzip", _gzip(raw, largest)) if raw.startswith(GZIP) else ("zstd", None)
    if by == "zstd":
        if encoding is not None:
            headline = f"{name} is packed by zstd, and such files are read as UTF-8 only, not as {encoding}"
            return None, [diagnostic("SDC317", headline, FilePlace(name), help="unpack it, or pack it by gzip")]
        out = _zstd(raw, largest)
    if out is None:
        return None, [diagnostic("SDC302", f"cannot read {name}: it is not a whole {by} file", FilePlace(name))]
    if len(out) > largest:
        headline = f"cannot read {name}: it unpacks to more than {largest:,} bytes"
        return None, [diagnostic("SDC302", headline, FilePlace(name), help="hold large data as Parquet")]
    return out, []


def _gzip(raw: bytes, largest: int) -> bytes | None:
    """A little more than `largest` bytes at most; None where it is damaged. One file may be several, end to end."""
    out, rest = io.BytesIO(), raw
    try:
        while rest:
            if not rest.startswith(GZIP):
                return out.getvalue() if not rest.strip(b"\0") else None  # what some programs fill up with
            one = zlib.decompressobj(wbits=31)
            while not one.eof:
                out.write(one.decompress(rest, STEP))
                if out.tell() > largest:
                    return out.getvalue()
                if not one.eof and rest == one.unconsumed_tail:
                    return None
                rest = one.unused_data if one.eof else one.unconsumed_tail
                if not rest and not one.eof:
                    return None
    except zlib.error:
        return None
    return out.getvalue()


def _zstd(raw: bytes, largest: int) -> bytes | None:
    """By polars, line by line; it unpacks zstd, which Python does not before 3.14."""
    parts, size = [], 0
    try:
        for batch in pl.scan_lines(raw).collect_batches(chunk_size=1 << 18, maintain_order=True):
            text = batch.to_series().str.join("\n").item() or ""
            parts.append(text.encode())
            size += len(parts[-1]) + 1
            if size > largest:
                break
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    return b"\n".join(parts)
