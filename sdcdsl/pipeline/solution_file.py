"""Files of solutions: HiGHS's own format, lines of `name value` as SCIP, Gurobi and others write them, CPLEX's XML."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.ordinary_files import open_ordinary

MOST_BYTES = 2_000_000_000
_XML = re.compile(r'<variable\s[^>]*?name="([^"]*)"[^>]*?value="([^"]*)"')
_SKIPPED = re.compile(r"^(#|=obj=|objective value:|solution status:|no solution available)", re.IGNORECASE)
_STATUS = re.compile(r'^solution status:\s*(.*)$|solutionStatusString="([^"]*)"', re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Read:
    values: dict[str, float]
    status: str = ""  # in the solver's words


class _Wrong(ValueError):
    def __init__(self, why: str, line: int | None = None):
        super().__init__(why)
        self.line = line


def read_solution(path: Path) -> tuple[Read | None, list[Diagnostic]]:
    """Values by name; what is wrong names the line."""
    try:
        with open_ordinary(path) as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise _Wrong("it is larger than any solution this program reads")
            raw = file.read()
        return _parsed(raw.decode("utf-8")), []
    except FileNotFoundError:
        why, line = "there is no such file", None
    except OSError as error:
        why, line = error.strerror or str(error), None
    except UnicodeDecodeError:
        why, line = "it is not a text file", None
    except _Wrong as error:
        why, line = str(error), error.line
    return None, [diagnostic("SDC505", f"{path} cannot be read as a solution: {why}", FilePlace(str(path), line=line))]


def _parsed(text: str) -> Read:
    if not text.strip():
        raise _Wrong("it is empty")
    if text.lstrip().startswith("<?xml") or "<CPLEXSolution" in text[:1000]:
        return _xml(text)
    lines = text.splitlines()
    if lines[0].strip().lower() == "model status":
        return _of_highs(lines)
    found = _STATUS.search(text)
    values: dict[str, float] = {}
    for at, line in enumerate(lines, 1):
        if line.strip() and not _SKIPPED.match(line.strip()):
            _add(values, line, at)
    return Read(values, (found[1] or found[2] or "").strip() if found else "")


def _of_highs(lines: list[str]) -> Read:
    """Between `# Columns n` and `# Rows m` stand the columns; the duals behind them have the same headings."""
    status = lines[1].strip() if len(lines) > 1 else ""
    start = next((at for at, line in enumerate(lines) if line.startswith("# Columns")), None)
    if start is None or any(line.strip() == "None" for line in lines[:start]):
        return Read({}, status)
    count = lines[start].split()[-1]
    if not count.isdigit():
        raise _Wrong("the number of columns is missing", start + 1)
    values: dict[str, float] = {}
    for at in range(start + 1, start + 1 + int(count)):
        if at >= len(lines):
            raise _Wrong(f"it ends after {at - start - 1} of {count} columns", len(lines))
        _add(values, lines[at], at + 1)
    return Read(values, status)


def _xml(text: str) -> Read:
    found = _STATUS.search(text)
    values: dict[str, float] = {}
    for name, value in _XML.findall(text):
        _add(values, f"{name} {value}", None)
    return Read(values, (found[1] or found[2] or "").strip() if found else "")


def _add(values: dict[str, float], line: str, at: int | None) -> None:
    parts = line.split()
    if len(parts) < 2:
        raise _Wrong(f"a name and a value are expected, not {line.strip()[:40]!r}", at)
    name = parts[0]
    try:
        value = float(parts[1])
    except ValueError:
        raise _Wrong(f"{parts[1][:40]!r} is not a number", at) from None
    if not math.isfinite(value):
        raise _Wrong(f"{name} is {parts[1]}", at)
    if name in values:
        raise _Wrong(f"{name} stands there twice", at)
    values[name] = value
