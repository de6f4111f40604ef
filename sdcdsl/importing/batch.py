"""A batch file as the jobs it describes: which table is made of which data, judged, protected and written how.

τ-ARGUS carries out commands in order, and tables are numbered in the order they are specified (`<CLEAR>` starts again
at 1). Here the order is undone: what belongs to one table is put together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sdcdsl.bind.readers.arb import (
    APrioriFile,
    Command,
    Open,
    OtherCommand,
    SafetyRule,
    SpecifyTable,
    Suppress,
    WriteTable,
)
from sdcdsl.bind.readers.rda import Metadata
from sdcdsl.bind.readers.wording import plural
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.importing.draft import Draft
from sdcdsl.policy import document as d

# What to do by hand about commands that a policy has no words for.
_OTHERS = {
    "<SOLVER>": "the solver is an option of the method: backend highs or backend scip",
    "<COVER>": "tables named in one protect block are protected as one system",
    "<LOGBOOK>": "what a command says goes to standard error; send it to a file there",
    "<VERSIONINFO>": "sdcdsl --version prints the version",
    "<JJ>": 'write a JJ file with: release jj "…"',
}


@dataclass(eq=False)
class DataJob:
    opened: Open
    described: Open | None = None
    name: str = ""  # in the policy
    path: Path = Path()
    metadata: Metadata | None = None
    metadata_path: Path = Path()
    written: tuple[str, str] = ("", "")  # data and metadata file as the policy names them
    beside_weighted: bool = False  # the same data without weights, beside those with them

    @property
    def is_table(self) -> bool:
        return self.opened.what == "table"


@dataclass(eq=False)
class TableJob:
    spec: SpecifyTable
    data: DataJob
    rules: list[SafetyRule] = field(default_factory=list)
    apriori: list[APrioriFile] = field(default_factory=list)
    suppress: Suppress | None = None
    writes: list[WriteTable] = field(default_factory=list)
    recodes: list[d.Recode] = field(default_factory=list)
    name: str = ""
    dimensions: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecodeJob:
    line: int
    arguments: tuple[str, ...]
    tables: tuple[TableJob, ...]  # those there are when the command is reached


@dataclass
class Batch:
    tables: list[TableJob] = field(default_factory=list)
    recodes: list[RecodeJob] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def data(self) -> list[DataJob]:
        return list(dict.fromkeys(t.data for t in self.tables))


def gather(commands: Iterable[Command], draft: Draft) -> Batch:
    gathering = _Gathering(draft)
    for command in commands:
        gathering.take(command)
    batch = gathering.batch
    if not batch.tables and not batch.problems:
        place = FilePlace(draft.source)
        help = 'a table is specified by <SPECIFYTABLE> "region""size"|"turnover"'
        batch.problems.append(diagnostic("SDC316", f"{draft.source} specifies no table", place, help=help))
    return batch


class _Gathering:
    def __init__(self, draft: Draft):
        self.draft = draft
        self.batch = Batch()
        self.data: DataJob | None = None
        self.described: Open | None = None  # metadata named before its data
        self.cleared = 0  # tables before the last <CLEAR>

    @property
    def session(self) -> list[TableJob]:
        return self.batch.tables[self.cleared :]

    def take(self, command: Command) -> None:
        match command:
            case Open(what="metadata"):
                self._metadata(command)
            case Open():
                self.data, self.described = DataJob(command, self.described), None
            case SpecifyTable():
                self._table(command)
            case SafetyRule():
                if self.session:
                    self.session[-1].rules.append(command)
                else:
                    self.draft.left_behind("safety rules before any table", command.line, help="sensitive by RULE(…)")
            case APrioriFile() | Suppress() | WriteTable():
                self._about(command)
            case OtherCommand(line, "<CLEAR>"):
                self.cleared, self.data, self.described = len(self.batch.tables), None, None
            case OtherCommand(line, "<RECODE>", arguments):
                self.batch.recodes.append(RecodeJob(line, arguments, tuple(self.session)))
            case OtherCommand(line, word):
                self.draft.left_behind(f"`{word}` has no meaning in a policy", line, help=_OTHERS.get(word))

    def _metadata(self, command: Open) -> None:
        if self.data is None:
            self.described = command
        elif self.data.described is None:
            self.data.described = command
        else:  # the same data, described anew for the tables that follow
            self.data = DataJob(self.data.opened, command)

    def _table(self, command: SpecifyTable) -> None:
        if self.data is None:
            place = FilePlace(self.draft.source, line=command.line)
            headline = "a table is specified before its data is opened"
            help = '<OPENMICRODATA> "x.asc" or <OPENTABLEDATA> "x.tab" comes first'
            self.batch.problems.append(diagnostic("SDC316", headline, place, help=help))
        else:
            self.batch.tables.append(TableJob(command, self.data))

    def _about(self, command: APrioriFile | Suppress | WriteTable) -> None:
        if not self.session or command.table > len(self.session):
            known = plural(len(self.session), "table")
            self.draft.left_behind(f"there is no table {command.table}, only {known} so far", command.line)
            return
        for table in self.session if command.table == 0 else [self.session[command.table - 1]]:
            match command:
                case APrioriFile():
                    table.apriori.append(command)
                case WriteTable():
                    table.writes.append(command)
                case Suppress():
                    before, table.suppress = table.suppress, command
                    if before is not None:
                        headline = (
                            f"`{before.method}` is replaced by line {command.line}, which protects the table again"
                        )
                        self.draft.left_behind(headline, before.line, help="method A else B tries B when A fails")
