"""Released tables that somebody names, and how their files are to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.pattern import Pattern
from sdcdsl.released import Layout, PublishedStatements, read_release
from sdcdsl.released.statements import Absent, Format


@dataclass(frozen=True)
class ReleasedTables:
    files: Mapping[str, Path] = field(default_factory=dict[str, Path])  # by table
    statements: PublishedStatements = field(default_factory=PublishedStatements)
    format: Format | None = None  # None: recognised
    absent: Absent = "error"
    layout: Layout = field(default_factory=Layout)

    def of(self, problem: TableProblem) -> dict[str, Path]:
        """The files of a block, by table."""
        return {t.name: self.files[t.name] for t in problem.tables if t.name in self.files}

    def read(self, problem: TableProblem, *, even_if_wrong: bool = False) -> tuple[Pattern | None, list[Diagnostic]]:
        """What they say about the cells of a block: see `read_release`."""
        return read_release(
            problem,
            self.of(problem),
            self.statements,
            format=self.format,
            absent=self.absent,
            layout=self.layout,
            even_if_wrong=even_if_wrong,
        )
