"""Reading a certificate line by line. Nothing in the file is believed: sizes, ranges and kinds of everything that is
used are checked here, and whatever is wrong is one `MalformedCertificate` with the line and the reason."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import numpy as np

from sdcdsl.ordinary_files import open_ordinary
from sdcdsl.proof.allowance import Allowance
from sdcdsl.proof.packed import TYPES, unpacked

FORMAT, FAMILIES = 2, 3  # that are written: the second one where pairs are stated by families
FORMATS = (1, FORMAT, FAMILIES)  # that are read; the first has no packed numbers
MOST = 10**8  # of anything that is counted
LARGEST_WHOLE = 2**53


class MalformedCertificate(Exception):
    """Not a certificate, or not a whole one."""


class CertificateLines:
    """The records of a file in order. `digest` is that of all lines before the current one, `allowance` what its size
    allows it to ask for."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self.number = 0
        self.allowance = Allowance(0)
        self._text = 0  # bytes so far
        self._running = hashlib.sha256()
        self._decoder = _LISTS

    @property
    def digest(self) -> str:
        return self._running.hexdigest()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        try:
            with open_ordinary(self.path) as raw:
                self.allowance = Allowance(os.fstat(raw.fileno()).st_size)
                with _decompressed(raw) as file:
                    yield from self._records(file)
        except MalformedCertificate as error:
            raise MalformedCertificate(f"line {self.number}: {error}") from None
        except (EOFError, zlib.error, OSError) as error:
            said = error.strerror.lower() if isinstance(error, OSError) and error.strerror else None
            damaged = f"after line {self.number}: the compressed data is damaged or incomplete"
            raise MalformedCertificate(said or damaged) from error

    def _records(self, file: IO[bytes]) -> Iterator[tuple[str, Any]]:
        longest, text = self.allowance.line, self.allowance.text
        while line := file.readline(longest + 1):
            self.number += 1
            self._text += len(line)
            if len(line) > longest:
                raise MalformedCertificate(
                    f"longer than {longest:,} bytes, the limit for a file of {self.allowance.size:,} bytes"
                )
            if self._text > text:
                raise MalformedCertificate(
                    f"{text:,} bytes of text are the limit for a file of {self.allowance.size:,} bytes"
                )
            if not line.endswith(b"\n"):
                raise MalformedCertificate("the line is not complete: the file was cut off")
            kind, body = _record(line, self._decoder, first=self.number == 1)
            if self.number == 1 and body.get("sdcdsl-certificate") in (FORMAT, FAMILIES):
                self._decoder = _PACKED
            yield kind, body
            self._running.update(line)


def _decompressed(file: BinaryIO) -> IO[bytes]:
    start = file.read(2)
    file.seek(0)
    if start != b"\x1f\x8b":
        return file
    import gzip  # noqa: PLC0415

    return gzip.open(file, "rb")  # type: ignore[return-value]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two programs must not read two different things from one record."""
    out = dict(pairs)
    if len(out) != len(pairs):
        raise MalformedCertificate("a name appears twice in one object")
    return out


def _unique_or_packed(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) == 1 and pairs[0][0] in TYPES:
        return unpacked(*pairs[0])
    return _unique(pairs)


def _no_constant(word: str) -> Any:
    raise MalformedCertificate(f"{word} is not a number")


_LISTS = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_PACKED = json.JSONDecoder(object_pairs_hook=_unique_or_packed, parse_constant=_no_constant)
_TRUTH = re.compile(rb"[\[,:\s](?:true|false)")


def _record(line: bytes, decoder: json.JSONDecoder, first: bool) -> tuple[str, Any]:
    try:
        record = decoder.decode(line.decode("utf-8"))
    except RecursionError:
        raise MalformedCertificate("nested too deeply") from None
    except ValueError as error:  # also wrong UTF-8, and whole numbers of thousands of digits
        raise MalformedCertificate(f"not a JSON record ({str(error)[:100]})") from None
    if not isinstance(record, dict) or not record:
        raise MalformedCertificate("not a record")
    named = cast(dict[str, Any], record)
    if first:
        return "header", named
    if len(named) != 1:
        raise MalformedCertificate("a record has one kind")
    ((kind, body),) = named.items()
    # The letters alone may stand in packed numbers.
    if kind != "attackers" and (b"true" in line or b"false" in line) and _TRUTH.search(line):
        raise MalformedCertificate("a number was expected, not true or false")
    return kind, body


def fields(body: Any, *names: str) -> list[Any]:
    """The values of exactly these names."""
    said = cast(dict[str, Any], body) if isinstance(body, dict) else {}
    if set(said) != set(names):
        raise MalformedCertificate(f"expected an object with {', '.join(names)}")
    return [said[name] for name in names]


def count(value: Any, what: str, most: int = MOST) -> int:
    if type(value) is not int or value < 0:
        raise MalformedCertificate(f"{what}: a count was expected")
    if value > most:
        raise MalformedCertificate(f"{what}: {value:,} is more than the limit of {most:,}")
    return value


def index(value: Any, below: int, what: str) -> int:
    if type(value) is not int or not 0 <= value < below:
        raise MalformedCertificate(f"{what}: there is no such number")
    return value


def number(value: Any, what: str) -> float:
    if type(value) not in (int, float) or not abs(value) <= 1.7976931348623157e308:
        raise MalformedCertificate(f"{what}: a finite number was expected")
    return float(value)


def listed(value: Any) -> list[Any] | None:
    """A list as JSON has it: what is in it is looked at later."""
    return cast(list[Any], value) if isinstance(value, list) else None


def packed(value: Any) -> np.ndarray | None:
    return cast(np.ndarray, value) if isinstance(value, np.ndarray) else None


def length(value: Any) -> int:
    """Of a list, packed or not; what is no list is refused by whoever reads it."""
    found = packed(value) if listed(value) is None else listed(value)
    return 0 if found is None else len(found)


def integers(value: Any, size: int | None, below: int, what: str) -> np.ndarray:
    """A list of whole numbers from 0 to below - 1, or such in runs; `size` of them, where that is known."""
    if isinstance(value, dict):
        values, counts = _runs(cast(dict[str, Any], value), size, what)
        return np.repeat(integers(values, len(values), below, what), counts)
    out = _array("q", value, what)
    if size is not None and len(out) != size:
        raise MalformedCertificate(f"{what}: {len(out)} numbers where {size} were expected")
    if len(out) and (out.min() < 0 or out.max() >= below):
        raise MalformedCertificate(f"{what}: a number out of range")
    return out


def ascending(value: Any, below: int, what: str) -> np.ndarray:
    """Numbers written as the first and the differences, each larger than the one before."""
    if length(value) > below:
        raise MalformedCertificate(f"{what}: more numbers than there are")
    gaps = _array("q", value, what)
    if not len(gaps):
        return gaps
    if gaps[0] < 0 or gaps.max() >= below:
        raise MalformedCertificate(f"{what}: a number out of range")
    if gaps[1:].min(initial=1) < 1:
        raise MalformedCertificate(f"{what}: a number appears twice, or not in order")
    out = gaps.cumsum()
    if out[-1] >= below:
        raise MalformedCertificate(f"{what}: a number out of range")
    return out


def numbers(value: Any, size: int | None, what: str, open_end: float | None = None) -> np.ndarray:
    """A list of finite numbers, or such in runs. With `open_end`, null stands for it, among packed ones it itself."""
    if isinstance(value, dict):
        values, counts = _runs(cast(dict[str, Any], value), size, what)
        return np.repeat(numbers(values, len(values), what, open_end), counts)
    ends = listed(value)
    if open_end is not None and ends is not None and None in ends:
        opened = np.array([x is None for x in ends])
        out = _array("d", [0 if x is None else x for x in ends], what)
    else:
        opened, out = None, _array("d", value, what)
    if size is not None and len(out) != size:
        raise MalformedCertificate(f"{what}: {len(out)} numbers where {size} were expected")
    fine = np.isfinite(out) if open_end is None else np.isfinite(out) | (out == open_end)
    if not fine.all():
        raise MalformedCertificate(f"{what}: a number beyond the range of doubles")
    if opened is not None and open_end is not None:
        out[opened] = open_end
    return out


def _array(code: str, value: Any, what: str) -> np.ndarray:
    dtype = np.int64 if code == "q" else np.float64
    if (numbers := packed(value)) is not None:
        if code == "q" and numbers.dtype.kind == "f":
            raise MalformedCertificate(f"{what}: not a list of whole numbers")
        return numbers.astype(dtype)
    if (given := listed(value)) is None:
        raise MalformedCertificate(f"{what}: a list was expected")
    try:
        return np.frombuffer(array(code, given), dtype=dtype) if given else np.empty(0, dtype=dtype)
    except (TypeError, OverflowError):
        raise MalformedCertificate(f"{what}: not a list of {'whole ' if code == 'q' else ''}numbers") from None


def _runs(value: dict[str, Any], size: int | None, what: str) -> tuple[list[Any], np.ndarray]:
    runs = listed(fields(value, "runs")[0])
    if runs is None or len(runs) % 2:
        raise MalformedCertificate(f"{what}: runs are values and counts in turn")
    counts = integers(runs[1::2], None, MOST, what)
    if size is None or int(counts.sum()) != size or (len(counts) and counts.min() < 1):
        raise MalformedCertificate(f"{what}: the runs do not have the right length")
    return runs[::2], counts
