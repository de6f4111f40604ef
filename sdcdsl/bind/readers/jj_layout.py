"""Where a JJ file goes wrong: tokens know their lines, and a broken layout is named by its first broken line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
import polars as pl

from sdcdsl.bind.readers.wording import clip, offenders, plural
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.diagnostics.confidential import secret, secret_figure

CELL_FIELDS = 9


@dataclass(frozen=True, eq=False)
class Tokens:
    """A file as words, and each word as a number (NaN where it is none)."""

    name: str
    text: str
    series: pl.Series
    numbers: np.ndarray

    @classmethod
    def of(cls, name: str, text: str) -> Tokens:
        # Splitting inside polars, without a Python string a word, makes the reader twice as fast; it knows but one
        # separator, so anything but single spaces is first put in order.
        row = text.strip().replace("\n", " ")
        if "  " in row or "\r" in row or "\t" in row:
            row = " ".join(row.split())
        series = pl.Series([row]).str.split(" ").explode()
        return cls(name, text, series, series.cast(pl.Float64, strict=False).to_numpy())

    @cached_property
    def words(self) -> list[str]:
        return self.series.to_list()

    @cached_property
    def _last_word_of_line(self) -> np.ndarray:
        return np.cumsum([len(line.split()) for line in self.text.split("\n")])

    def line(self, position: int) -> int:
        return int(np.searchsorted(self._last_word_of_line, position, side="right")) + 1

    def place(self, position: int, detail: str = "") -> FilePlace:
        return FilePlace(self.name, detail, line=self.line(position))

    def malformed(self, position: int, headline: str) -> Diagnostic:
        if position >= len(self.numbers):
            return diagnostic("SDC313", headline, FilePlace(self.name), "the file ends before it")
        return diagnostic(
            "SDC313", headline, self.place(position), f"found `{secret_figure(clip(self.words[position]))}`"
        )

    def unknown_cells(self, positions: np.ndarray, equations: np.ndarray) -> Diagnostic:
        return offenders(
            "SDC313",
            "relations name cells the file does not have",
            (
                (self.place(p, f"relation {e + 1}"), f"no cell has the number {clip(self.words[p])}")
                for p, e in zip(positions.tolist(), equations.tolist(), strict=True)
            ),
            len(positions),
        )

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Line numbers and words of the lines that hold any, behind the two lines at the top."""
        seen = 0
        for number, line in enumerate(self.text.split("\n"), 1):
            words = line.split()
            if words and seen >= 2:
                yield number, words
            seen += len(words)


def whole_number(numbers: np.ndarray, position: int) -> int | None:
    if position >= len(numbers):
        return None
    value = float(numbers[position])
    return int(value) if value.is_integer() and abs(value) < 2**53 else None


def first_broken_cell(tokens: Tokens, n: int) -> Diagnostic | None:
    """The first cell line without nine fields, if there is one."""
    for cell, (line, words) in enumerate(islice(tokens.rows(), n), 1):
        if len(words) != CELL_FIELDS:
            return diagnostic(
                "SDC313",
                f"cell {cell} of {n} has {plural(len(words), 'field')} instead of {CELL_FIELDS}",
                FilePlace(tokens.name, line=line),
                clip(" ".join(words[:CELL_FIELDS])),
                help="a cell is: index value weight status lower upper LPL UPL SPL",
            )
    return None


def ends_early(tokens: Tokens, n: int) -> Diagnostic:
    cells = sum(1 for _ in islice(tokens.rows(), n))
    what = f"after {plural(cells, 'cell')} of {n}" if cells < n else f"after its {plural(n, 'cell')}, without relations"
    return diagnostic("SDC313", f"the file ends {what}", FilePlace(tokens.name))


def broken_relations(tokens: Tokens, n: int, m: int) -> Diagnostic:
    """The first relation that is not `rhs k : index ( coefficient ) …`."""
    seen = 0
    for row, (line, words) in enumerate(tokens.rows()):
        if row < n:
            continue
        if row == n:
            if len(words) != 1:
                return diagnostic(
                    "SDC313",
                    f"after the {plural(n, 'cell')} comes a line with the number of relations",
                    FilePlace(tokens.name, line=line),
                    f"found `{secret(clip(' '.join(words[:CELL_FIELDS])))}`",
                )
            continue
        seen += 1
        if (fault := _relation_fault(words)) is not None:
            return diagnostic(
                "SDC313",
                f"relation {seen} of {m} is not well formed",
                FilePlace(tokens.name, line=line),
                fault,
                help="a relation is: rhs k : index ( coefficient ) …, with k pairs",
            )
    return diagnostic("SDC313", f"the file says {plural(m, 'relation')} and has {seen}", FilePlace(tokens.name))


def _relation_fault(words: list[str]) -> str | None:
    if len(words) < 3 or words[2] != ":":
        return f"begins `{clip(' '.join(words[:4]))}`"
    if _float(words[0]) is None:
        return f"the right-hand side `{clip(words[0])}` is not a number"
    if not words[1].isdecimal():
        return f"`{clip(words[1])}` is not a number of cells"
    pairs = words[3:]
    if len(pairs) % 4 == 0 and len(pairs) != 4 * int(words[1][:18]):
        return f"says {clip(words[1])} cells, lists {len(pairs) // 4}"
    for i in range(0, len(pairs), 4):
        match pairs[i : i + 4]:
            case cell, "(", coefficient, ")" if _float(coefficient) is not None and _is_cell_number(cell):
                continue
            case other:
                return f"`{clip(' '.join(other))}` is not `index ( coefficient )`"
    return None


def _is_cell_number(word: str) -> bool:
    value = _float(word)
    return value is not None and value.is_integer() and abs(value) < 2**53


def _float(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
