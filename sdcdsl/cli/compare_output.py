"""What `compare` prints and writes: a table for people, one document for programs, and the files of `--out`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdcdsl.cli import exits
from sdcdsl.cli.audit_rows import tidy
from sdcdsl.cli.compare_table import table_of
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.foreign import json_text
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.pipeline.compare import STOPPED, CompareRow
from sdcdsl.pipeline.variants import LeftOut
from sdcdsl.released.formula_guard import guarded_rows
from sdcdsl.report.release import Staged
from sdcdsl.report.risk_utility import ReleasePoint, risk_utility_map
from sdcdsl.status import INFEASIBLE

SCHEMA = "sdcdsl-compare/1"
FILES = ("compare.svg", "compare.json", "compare.csv")


@dataclass(eq=False)
class CompareReport:
    title: str
    block: str
    rows: Sequence[CompareRow]
    left_out: Sequence[LeftOut] = ()
    warnings: Sequence[Diagnostic] = ()
    folder: Path | None = None
    problems: list[Diagnostic] = field(default_factory=list)  # of writing

    @property
    def found(self) -> list[Diagnostic]:
        return [*self.warnings, *self.problems]

    @property
    def exit(self) -> int:
        """As long as one run came to a release that may go out, there is something to compare."""
        if has_errors(self.problems):
            return exits.WRONG_DATA
        if any(row.safe for row in self.rows):
            return exits.DONE
        if any(row.found for row in self.rows):
            return exits.EXPOSED
        statuses = {row.status for row in self.rows}
        if STOPPED in statuses:
            return exits.STOPPED
        return exits.INFEASIBLE if statuses == {INFEASIBLE} else exits.LIMIT

    # ---- for programs --------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "policy": self.title,
            "block": self.block,
            "levels": sorted({row.factor for row in self.rows}),
            "runs": [run_of(row) for row in self.rows],
            "left_out": [{"method": one.method, "why": one.why} for one in self.left_out],
            "files": [str(self.folder / name) for name in FILES] if self.folder and not self.problems else [],
            "diagnostics": [as_json(d) for d in for_reading(self.found)],
            "exit": self.exit,
        }

    # ---- for people ------------------------------------------------------------------------------------

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        methods, levels = len({row.variant for row in self.rows}), len({row.factor for row in self.rows})
        counts = f"{_plural(methods, 'method')} at {_plural(levels, 'level')}"
        yield f"{self.block}: {counts}; nothing is released"
        yield ""
        yield from table_of(self.rows)
        notes = [*self._chosen(), *self._left(), *self._why(), *self._notes()]
        if notes:
            yield ""
            yield from notes
        if self.folder is not None and not self.problems:
            yield ""
            yield from (f"wrote {self.folder / name}" for name in FILES)

    def _chosen(self) -> Iterator[str]:
        yield from _note_lines("chosen", [(row, row.chosen) for row in self.rows])

    def _left(self) -> Iterator[str]:
        yield from (f"{'left out':<10}  {one.method}: {one.why}" for one in self.left_out)

    def _why(self) -> Iterator[str]:
        yield from _note_lines("not safe", [(row, row.why) for row in self.rows if row.found])
        yield from _note_lines("no release", [(row, row.why) for row in self.rows if not row.found])

    def _notes(self) -> Iterator[str]:
        yield from _note_lines("note", [(row, note) for row in self.rows for note in row.notes])

    # ---- files -------------------------------------------------------------------------------------------

    def drawing(self) -> str:
        points = [
            ReleasePoint(
                row.variant,
                row.factor,
                row.loss,
                None if row.left is None else row.left.risk,
                None if row.left is None else row.left.worst_risk,
                row.status if row.verdict is None else "",
            )
            for row in self.rows
        ]
        return risk_utility_map(self.title if self.block in self.title else f"{self.title}: {self.block}", points)

    def write(self) -> None:
        """All files, or none."""
        if self.folder is None:
            return
        svg, document, table = (self.folder / name for name in FILES)
        staged = Staged()
        try:
            staged.beside(svg, confidential=True).write_text(self.drawing(), encoding="utf-8")
            text = json_text(self.document())
            staged.beside(document, confidential=True).write_text(text + "\n", encoding="utf-8")
            part = staged.beside(table, confidential=True)
            part.write_text(csv_of(self.rows), encoding="utf-8", newline="")
            staged.rename()
        except OSError as error:
            headline = f"a file could not be written: {error.strerror or error}"
            place = FilePlace(str(error.filename or self.folder))
            self.problems.append(diagnostic("SDC503", headline, place))
        finally:
            staged.discard()


def unwritable(folder: Path, read: Sequence[Path]) -> list[Diagnostic]:
    """What need not wait for the end of long searches."""
    absolute = folder.absolute()
    nearest = next(p for p in (absolute, *absolute.parents) if p.exists())
    if not nearest.is_dir():
        return [_cannot(folder, f"{nearest.name} is not a folder")]
    if not os.access(nearest, os.W_OK | os.X_OK):
        return [_cannot(folder, f"no permission to write to {nearest.name}")]
    out = []
    for name in FILES:
        path = folder / name
        if path.is_dir():
            out.append(_cannot(path, "a folder has that name"))
        elif path.exists() and any(other.exists() and path.samefile(other) for other in read):
            out.append(_cannot(path, "it holds what is to be protected"))
    return out


def _cannot(path: Path, why: str) -> Diagnostic:
    return diagnostic("SDC503", f"{path.name} cannot be written: {why}", FilePlace(str(path)))


def run_of(row: CompareRow) -> dict[str, Any]:
    """One run in the document. What does not exist is null."""
    m, left = row.measures, row.left
    deviation = None if m is None or m.all_cells is None else m.all_cells.relative
    width = None if m is None or m.widths is None else m.widths.relative
    return {
        "variant": row.variant,
        "method": row.method,
        "level": row.factor,
        "chosen": row.chosen,
        "status": row.status,
        "verdict": row.verdict,
        "hidden": None if m is None else m.hidden,
        "intervals": None if m is None else m.intervals,
        "changed": None if m is None else m.changed,
        "cost": None if m is None else _number(m.cost),
        "value_touched": None if m is None else _number(m.value_touched),
        "value_hidden": None if m is None else _number(m.value_hidden),
        "deviation_mean": None if deviation is None else _number(deviation.mean),
        "deviation_max": None if deviation is None else _number(deviation.maximum),
        "width_mean": None if width is None else _number(width.mean),
        "loss": _number(row.loss),
        "attacked": row.attacked,
        "attackers_median": None if left is None else _width(left.width),
        "attackers_least": None if left is None else _width(left.least_width),
        "ratio_median": None if left is None else _width(left.ratio),
        "ratio_least": None if left is None else _width(left.least_ratio),
        "risk": None if left is None else _number(left.risk),
        "risk_worst": None if left is None else _number(left.worst_risk),
        "objective": _number(row.objective),
        "bound": _number(row.bound),
        "gap": _number(row.gap),
        "seconds": round(sum(row.seconds.values()), 3),
        "why": row.why,
        "notes": list(row.notes),
    }


def csv_of(rows: Sequence[CompareRow]) -> str:
    """The same figures, a line a run; notes are joined."""
    runs = [run_of(row) for row in rows]
    said = ({**run, "attacked": str(run["attacked"]).lower(), "notes": "; ".join(run["notes"])} for run in runs)
    return guarded_rows(list(runs[0]) if runs else [], said)


def _number(x: float | None) -> float | int | None:
    return None if x is None else tidy(float(x))


def _width(x: float | None) -> float | int | str | None:
    """An interval may have no end, and JSON no infinity."""
    return "inf" if x is not None and math.isinf(x) else _number(x)


def _note_lines(head: str, said: Sequence[tuple[CompareRow, str | None]]) -> Iterator[str]:
    """What is said of several runs is said once."""
    runs: dict[str, list[str]] = {}
    for row, what in said:
        if what is not None:
            runs.setdefault(what, []).append(row.name)
    yield from (f"{head:<10}  {', '.join(names)}: {what}" for what, names in runs.items())


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
