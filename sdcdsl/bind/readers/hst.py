"""τ-ARGUS a-priori files (`.hst`): what is known or wanted of single cells before any rule is applied.

Nr;5;u          sensitive                    Nr;5;c;120       costs 120 to hide
Nr;5;p          must be published            Nr;5;pl;10;15    must be able to go 10 down and 15 up
Nr;5;s          safe, may be hidden          Nr;5;ab;80;140   an attacker knows it lies between 80 and 140
Nr;5;m          hidden already (also ml)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from sdcdsl.bind.readers.argus_words import cut, unquoted
from sdcdsl.bind.readers.text_files import lines, open_text
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, Source, diagnostic

STATUSES = {"u": "unsafe", "s": "safe", "p": "protect", "z": "protect", "m": "hidden", "ml": "hidden"}
FIGURES = {"c": 1, "w": 1, "pl": 2, "ab": 2}
SEPARATORS = ";,\t|"


@dataclass(frozen=True, slots=True)
class APriori:
    """One line about one cell; exactly one of the last four says what."""

    line: int
    codes: tuple[str, ...]
    status: str | None = None  # unsafe, safe, protect or hidden
    cost: float | None = None
    levels: tuple[float, float] | None = None  # down, up
    bounds: tuple[float, float] | None = None


def read_hst(
    source: Path | Source, *, dimensions: int | None = None, separator: str | None = None, encoding: str | None = None
) -> tuple[tuple[APriori, ...] | None, list[Diagnostic]]:
    """All lines, in order. Without a number of dimensions the first line gives it; without a separator, too."""
    opened, problems = open_text(source, encoding)
    if opened is None:
        return None, problems
    rows = [(n, line) for n, line in enumerate(lines(opened.text), 1) if line.strip()]
    if not rows:
        return None, [diagnostic("SDC308", f"{opened.name} is empty", FilePlace(opened.name))]
    if separator is None:
        separator = next((s for s in SEPARATORS if _command(cut(rows[0][1], s)) is not None), ";")
    wrong: list[tuple[Place, str]] = []
    found: list[APriori] = []
    for number, line in rows:
        parts = [unquoted(part) for part in cut(line, separator)]
        entry = _entry(number, parts, separator, dimensions)
        if isinstance(entry, str):
            wrong.append((FilePlace(opened.name, line=number), entry))
        else:
            found.append(entry)
            dimensions = dimensions or len(entry.codes)
    if wrong:
        help = "a line is: code;code;…;u (or s, p, m), …;c;cost, …;pl;down;up or …;ab;low;high"
        headline = f"{opened.name} has lines that say nothing of a cell"
        return None, [offenders("SDC315", headline, wrong, len(wrong), help=help)]
    return tuple(found), []


def _command(parts: list[str], dimensions: int | None = None) -> int | None:
    """Where the word stands that says what the line is for: behind the codes, before its figures."""
    if dimensions is not None:
        return dimensions if dimensions < len(parts) else None
    last = len(parts) - 1
    for figures in (0, 1, 2):
        at = last - figures
        if at >= 1 and (FIGURES.get(parts[at].lower()) == figures or (not figures and parts[at].lower() in STATUSES)):
            return at
    return None


def _entry(line: int, parts: list[str], separator: str, dimensions: int | None) -> APriori | str:
    at = _command(parts, dimensions)
    if at is None:
        return f"found `{clip(separator.join(parts))}`"
    codes, word, rest = tuple(parts[:at]), parts[at].lower(), parts[at + 1 :]
    if word in STATUSES:
        return f"`{clip(rest[0])}` after a status" if any(rest) else APriori(line, codes, status=STATUSES[word])
    if word not in FIGURES:
        return f"`{clip(parts[at])}` is no status, cost, level or bound"
    numbers = [_number(part) for part in rest]
    if len(numbers) != FIGURES[word] or None in numbers:
        return f"`{word}` takes {FIGURES[word]} numbers, found `{clip(separator.join(rest))}`"
    first, second = float(numbers[0] or 0), float(numbers[-1] or 0)
    if word in ("c", "w"):
        return APriori(line, codes, cost=first) if first >= 0 else "a cost below zero"
    if word == "pl":
        return APriori(line, codes, levels=(first, second)) if min(first, second) >= 0 else "a level below zero"
    return APriori(line, codes, bounds=(first, second)) if first <= second else "bounds upside down"


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ".")) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
