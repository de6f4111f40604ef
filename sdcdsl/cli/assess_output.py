"""What `assess` prints and draws."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sdcdsl.cli import exits
from sdcdsl.cli.audit_text import plural
from sdcdsl.cli.ends import EXITS
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, has_errors
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.pipeline.assess import AssessedBlocks
from sdcdsl.report.release import Staged
from sdcdsl.risk import AT_RISK, CLASSES, Assessment, Trial, drawing
from sdcdsl.risk.assessment import UNDONE, percent

WIDTH = 110


@dataclass(eq=False)
class AssessReport:
    made: AssessedBlocks
    plot: Path | None = None
    fail_at_risk: bool = False
    problems: list[Diagnostic] = field(default_factory=list)  # of drawing

    @property
    def found(self) -> list[Diagnostic]:
        return [*self.made.found, *self.problems]

    @property
    def verdict(self) -> str | None:
        verdicts = {made.verdict for made, _ in self.made.assessments.values()}
        return next((word for word in (AT_RISK, UNDONE) if word in verdicts), next(iter(verdicts), None))

    @property
    def exit(self) -> int:
        if has_errors(self.problems):
            return exits.WRONG_DATA
        if self.fail_at_risk and self.verdict == AT_RISK:
            return exits.EXPOSED
        return EXITS[self.made.end]

    def draw(self) -> None:
        if self.plot is None:
            return
        staged = Staged()
        try:
            text = drawing([made for made, _ in self.made.assessments.values()])
            staged.beside(self.plot, confidential=True).write_text(text, encoding="utf-8")
            staged.rename()
        except OSError as error:
            headline = f"{self.plot} cannot be written: {error.strerror or error}"
            self.problems.append(diagnostic("SDC503", headline, FilePlace(str(self.plot))))
        finally:
            staged.discard()

    def document(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "blocks": [{**made.as_json(), "table": origin} for made, origin in self.made.assessments.values()],
            "plot": None if self.plot is None or self.problems else str(self.plot),
            "diagnostics": [as_json(d) for d in for_reading(self.found)],
            "exit": self.exit,
        }

    def text(self, colour: bool) -> str:
        parts = ["\n".join(_lines(made, origin, colour)) + "\n" for made, origin in self.made.assessments.values()]
        if self.plot is not None and not self.problems:
            parts.append(f"drew {self.plot}\n")
        return "\n".join(parts)


def _lines(made: Assessment, origin: str, colour: bool) -> Iterator[str]:
    cells = len(made.trials[0].cells) if made.trials else 0
    yield f"{made.name}: {made.verdict.upper()}"
    yield f"  {'table':<10}  {origin}; values are up to {percent(made.beta)} off"
    tried = f"{plural(made.options['replications'], 'attacker')} in each experiment, seed {made.seed}"
    yield f"  {'attacked':<10}  {plural(cells, 'cell')} with a level, {tried}"
    yield ""
    yield "  share of the guesses (%), by their error (% of the true value)"
    yield from _table(made.trials, colour).splitlines()
    yield ""
    for i, reason in enumerate(made.reasons):
        lead = f"  {'why' if not i else '':<10}  "
        yield from textwrap.wrap(reason, WIDTH, initial_indent=lead, subsequent_indent=" " * 14)


def _table(trials: tuple[Trial, ...], colour: bool) -> str:
    """The paper's classes. `level`: guesses nearer than the level; `soft`: attackers whose guesses fitted no table."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for name in ("", "norm"):
        table.add_column(name)
    for name in (*CLASSES, "mean", "level", "soft"):
        table.add_column(name, justify="right", no_wrap=True)
    for t in trials:
        figures = [f"{share:.1f}" for share in t.shares.tolist()]
        last = (f"{t.mean:.1f}", f"{100 * t.within:.1f}", str(t.soft))
        style = "red" if t.verdict == AT_RISK else ""
        table.add_row(*(Text(word, style) for word in (t.experiment, t.norm, *figures, *last)))
    out = io.StringIO()
    console = Console(file=out, width=WIDTH, force_terminal=colour, no_color=not colour, highlight=False)
    console.print(table)
    return "\n".join(f"  {line.rstrip()}" if line.strip() else "" for line in out.getvalue().rstrip().splitlines())
