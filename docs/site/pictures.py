"""The pictures of "How it works" and of the README, drawn from what the program computes:
`python docs/site/pictures.py`.

The table is that of examples/tiny. Nothing in the pictures is typed in: patterns are read from its files, intervals and
witness tables come from audits.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

import numpy as np

import sdcdsl
from sdcdsl.audit import Audit
from sdcdsl.report.svg_frame import drawing

sys.path.insert(0, str(Path(__file__).resolve().parent))
import terminal

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = ROOT / "examples" / "tiny"
PICTURES = ROOT / "docs" / "pictures"

_WIDE, _HIGH, _LABELS, _HEAD = 64, 32, 52, 28  # a cell, the column of row labels, the row of column labels
_ROWS, _COLUMNS = ("I", "II", "III", "Total"), ("A", "B", "C", "Total")
_TITLE = 44  # above the table


class Tiny:
    """The example, and its audits by the name of the release."""

    def __init__(self) -> None:
        self.policy = sdcdsl.load(str(TINY / "tiny.sdc"))
        self.problem = self.policy.problems["investment"].bound
        cells = self.policy.problems["investment"].cells().rows(named=True)
        self.at = {(row["activity"], row["region"]): i for i, row in enumerate(cells)}
        self.value = self.problem.dataset["a"].values
        (self.sensitive,) = (i for i, row in enumerate(cells) if row["status"] == "sensitive")
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / "alone.csv"
            self._hide_only_the_sensitive_cell(alone)
            files = {"alone": alone, "weak": TINY / "weak.csv", "better": TINY / "better.csv"}
            self.audits: Mapping[str, Audit] = {name: self.policy.audit(file).audit for name, file in files.items()}

    def _hide_only_the_sensitive_cell(self, path: Path) -> None:
        """better.csv with the other hidden cells published again."""
        with (TINY / "better.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            cell = self.at[row["activity"], row["region"]]
            if cell != self.sensitive:
                row["value"] = f"{self.value[cell]:g}"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    def hidden(self, release: str) -> np.ndarray:
        pattern = self.audits[release].pattern
        return pattern.low != pattern.high

    def interval(self, release: str) -> tuple[float, float]:
        made = self.audits[release]
        return float(made.low[0]), float(made.high[0])

    def needed(self) -> tuple[float, float]:
        pairs = self.audits["weak"].proofs.problem.pairs
        value = self.value[self.sensitive]
        return float(value - pairs.lpl[0]), float(value + pairs.upl[0])

    def witnesses(self, release: str) -> list[np.ndarray]:
        """A table far below and one far above, both of which fit the release."""
        proofs = self.audits[release].proofs
        out = []
        for up in (False, True):
            claim = [c for c in proofs.claims if len(c.up if up else c.down)][-1]
            witness, table = proofs.witnesses[claim.witness], self.value.astype(float).copy()
            table[witness.cells] += claim.step * witness.move
            out.append(table)
        return out


def table(
    tiny: Tiny,
    x: float,
    y: float,
    text: Mapping[int, str],
    shade: Mapping[int, str],
    bold: frozenset[int] = frozenset(),
) -> Iterator[str]:
    """The table with its upper left corner at x, y: `text` and colour class of cells."""
    for j, code in enumerate(_COLUMNS):
        yield _text(code, x + _LABELS + (j + 0.5) * _WIDE, y + _HEAD - 9, "axis middle")
    for i, row in enumerate(_ROWS):
        top = y + _HEAD + i * _HIGH
        yield _text(row, x + _LABELS - 8, top + 21, "axis end")
        for j, column in enumerate(_COLUMNS):
            cell, left = tiny.at[row, column], x + _LABELS + j * _WIDE
            fill = f'class="{shade[cell]}" opacity="0.35"' if cell in shade else 'fill="none"'
            yield f'<rect x="{left}" y="{top}" width="{_WIDE}" height="{_HIGH}" {fill}/>'
            yield f'<rect x="{left}" y="{top}" width="{_WIDE}" height="{_HIGH}" class="frame"/>'
            weight = ' font-weight="600"' if cell in bold else ""
            yield _text(text[cell], left + _WIDE / 2, top + 21, "axis middle", weight)


def _text(said: str, x: float, y: float, kind: str, more: str = "") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{more}>{escape(said)}</text>'


_TABLE = (_LABELS + 4 * _WIDE, _HEAD + 4 * _HIGH)  # width and height of one
SENSITIVE, SECONDARY = "c1", "c0"


def _published(tiny: Tiny, release: str) -> tuple[dict[int, str], dict[int, str]]:
    hidden = tiny.hidden(release)
    text = {i: "×" if hidden[i] else f"{tiny.value[i]:g}" for i in range(len(tiny.value))}
    shade = {int(i): SENSITIVE if i == tiny.sensitive else SECONDARY for i in np.flatnonzero(hidden)}
    return text, shade


def released(tiny: Tiny, release: str, title: str, below: str) -> str:
    """One released table and a line about it."""
    text, shade = _published(tiny, release)
    width, height = _TABLE[0] + 56, _TABLE[1] + _TITLE + 44
    body = [
        _text(title, 24, 30, "title"),
        *table(tiny, 24, _TITLE, text, shade),
        _text(below, 24, height - 16, "about"),
    ]
    return drawing(title, below, (max(width, 420), height), body)


def bars(tiny: Tiny) -> str:
    """The feasibility intervals of the sensitive cell under the two patterns, and what is required."""
    names = {"alone": "hidden alone", "weak": "with a square over A", "better": "with a square over B"}
    low, high = tiny.needed()
    far = max(tiny.interval(name)[1] for name in names) * 1.1
    left, right, top, row = 170.0, 640.0, 70.0, 44.0

    def x(v: float) -> float:
        return left + (right - left) * v / far

    value = float(tiny.value[tiny.sensitive])
    bottom = top + row * len(names)
    body = [
        _text("What an attacker can tell of II·C", 24, 30, "title"),
        f'<rect x="{x(low):.1f}" y="{top - 12}" width="{x(high) - x(low):.1f}" height="{bottom - top + 4:.1f}"'
        ' class="c2" opacity="0.18"/>',
        _text(f"required: {low:g} .. {high:g}", x((low + high) / 2), top - 18, "about middle"),
        f'<line class="asked" x1="{x(value):.1f}" y1="{top - 12}" x2="{x(value):.1f}" y2="{bottom - 8}"/>',
        _text(f"true value {value:g}", x(value), bottom + 10, "about middle"),
    ]
    for i, (name, said) in enumerate(names.items()):
        a, b = tiny.interval(name)
        y = top + row * i
        protected = a <= low and b >= high
        kind = "c0" if protected else "c1"
        body += [
            _text(said, left - 12, y + 14, "axis end"),
            f'<rect class="{kind}" x="{x(a) - (2 if a == b else 0):.1f}" y="{y:.1f}"'
            f' width="{max(x(b) - x(a), 4):.1f}" height="18" rx="3"/>',
            _text(f"{a:g} .. {b:g}: {'protected' if protected else 'exposed'}", x(b) + 8, y + 14, "axis"),
        ]
    said = "; ".join(f"{names[n]}: {tiny.interval(n)[0]:g} to {tiny.interval(n)[1]:g}" for n in names)
    return drawing("Feasibility intervals of II·C", f"{said}. Required: {low:g} to {high:g}.", (860, 230), body)


def witnesses(tiny: Tiny) -> str:
    """Two tables that agree with everything published, and lie on both sides of the truth."""
    made = tiny.witnesses("better")
    _, shade = _published(tiny, "better")
    body = [_text("Two tables that fit what is published", 24, 30, "title")]
    for k, values in enumerate(made):
        text = {i: f"{v:g}" for i, v in enumerate(values)}
        body += table(tiny, 24 + k * (_TABLE[0] + 36), _TITLE, text, shade, frozenset(shade))
    cells = [values[tiny.sensitive] for values in made]
    said = f"II·C is {cells[0]:g} in one and {cells[1]:g} in the other; every published figure is the same in both."
    height = _TABLE[1] + _TITLE + 44
    body.append(_text(said, 24, height - 16, "about"))
    return drawing("Two tables that fit what is published", said, (2 * _TABLE[0] + 84, height), body)


def pictures() -> dict[str, str]:
    """All of them by file name; the same on every machine."""
    tiny = Tiny()
    row = "II·C = 49 − 8 − 19 = 22: hidden, and known to everybody"
    return {
        "alone.svg": released(tiny, "alone", "One cell hidden", row),
        "weak.svg": released(tiny, "weak", "A square over column A", "every row and column has two unknowns"),
        "pattern.svg": released(
            tiny, "better", "A square over column B", "orange: sensitive; blue: hidden to protect it"
        ),
        "intervals.svg": bars(tiny),
        "witnesses.svg": witnesses(tiny),
        "terminal.svg": terminal.picture(),
    }


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (PICTURES / name).write_text(text, encoding="utf-8", newline="\n")
