"""Metadata (`.rda`) as the data, dimension and table blocks of a policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath

import polars as pl

from sdcdsl.bind.readers.argus_data import read_argus_data
from sdcdsl.bind.readers.rda import Variable, read_rda
from sdcdsl.bind.readers.wording import clip
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic, did_you_mean
from sdcdsl.importing.batch import Batch, DataJob, TableJob
from sdcdsl.importing.draft import BlockNames, Draft, Files, plain_name
from sdcdsl.importing.rules import TableRules
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x

SPECIAL_COSTS = ("-1", "-2", "-3")


# ---- data -----------------------------------------------------------------------------------------------------


def open_data(batch: Batch, files: Files, draft: Draft) -> list[Diagnostic]:
    """Find the files of every job and read their metadata; what is wrong with these makes the import impossible."""
    names = BlockNames()
    problems: list[Diagnostic] = []
    for job in batch.data:
        job.path, written = files.refer(job.opened.file, job.opened.line, draft)
        if job.described is not None:
            job.metadata_path, described = files.refer(job.described.file, job.described.line, draft)
        else:  # τ-ARGUS looks beside the data
            job.metadata_path = job.path.with_suffix(".rda")
            described = str(PurePosixPath(written).with_suffix(".rda"))
        job.written = (written, described)
        job.name = names.take(PurePosixPath(written).stem, "data")
        if not job.metadata_path.is_file():
            draft.left_behind(
                f"there is no {clip(job.metadata_path.name)}: hierarchies, codes and columns are not carried over",
                (job.described or job.opened).line,
                help="put the .rda file beside the batch file and import again",
            )
            continue
        job.metadata, found = read_rda(job.metadata_path, is_table=job.is_table)
        problems += found
    return problems


def check_variables(batch: Batch, draft: Draft) -> list[Diagnostic]:
    """Variables that a table names and the metadata does not have, or has as something else."""
    out: list[Diagnostic] = []

    def wrong(table: TableJob, headline: str, label: str = "") -> None:
        out.append(diagnostic("SDC316", headline, FilePlace(draft.source, line=table.spec.line), label))

    for table in batch.tables:
        metadata, spec = table.data.metadata, table.spec
        lower = [name.lower() for name in spec.explanatory]
        if len(set(lower)) < len(lower):
            wrong(table, "the table names a variable twice")
        if metadata is None:
            continue
        requested = [(name, "code") for name in spec.explanatory]
        requested += [(name, "number") for name in (spec.response, spec.shadow) if name]
        requested += [(spec.cost, "number")] if spec.cost and spec.cost not in SPECIAL_COSTS else []
        for name, kind in requested:
            variable = metadata.variable(name)
            if variable is None:
                near = did_you_mean(name, [v.name for v in metadata.variables])
                wrong(table, f"there is no variable `{clip(name)}` in {metadata.name}", near)
            elif kind == "code" and "code" not in variable.roles:
                wrong(table, f"`{clip(name)}` breaks the table down and is not <RECODEABLE> in {metadata.name}")
            elif kind == "number" and not variable.is_number:
                wrong(table, f"`{clip(name)}` is no number in {metadata.name}")
    return out


def spelled(job: DataJob, name: str) -> str:
    """A variable as the metadata spells it."""
    variable = job.metadata.variable(name) if job.metadata is not None else None
    return variable.name if variable is not None else name


@dataclass
class DataFiles:
    """The data files as far as they can be read now; each is read once."""

    draft: Draft
    frames: dict[DataJob, pl.DataFrame | None] = field(default_factory=dict)

    def frame(self, job: DataJob) -> pl.DataFrame | None:
        if job not in self.frames:
            self.frames[job] = None
            if job.metadata is not None:
                records, found = read_argus_data(job.path, job.metadata)
                self.frames[job] = records.frame.collect() if records is not None else None
                if records is None:
                    reason = found[0].headline if found else "no records"
                    headline = f"the codes and signs of {clip(job.path.name)} are not known: it cannot be read"
                    self.draft.left_behind(headline, job.opened.line, notes=[reason])
        return self.frames[job]

    def codes(self, job: DataJob, variable: Variable) -> list[str] | None:
        frame = self.frame(job)
        if frame is None:
            return None
        codes = frame[variable.name].drop_nulls().unique().sort().to_list()
        return None if any("\n" in code for code in codes) else [c for c in codes if c != variable.total]

    def goes_below_zero(self, table: TableJob) -> bool:
        frame = self.frame(table.data) if table.spec.response is not None else None
        if frame is None or table.spec.response is None:
            return False
        return bool((frame[spelled(table.data, table.spec.response)] < 0).any())


# ---- dimensions --------------------------------------------------------------------------------------------------


@dataclass
class Dimension:
    name: str
    variable: Variable | None
    job: DataJob
    spoken: str  # the variable as the batch file or its metadata calls it
    line: int
    codes: dict[str, None] = field(default_factory=dict)  # in order; empty: nobody knows them
    unknown: bool = False


class ImportedDimensions:
    """One for each explanatory variable; the same description in two files is one dimension."""

    def __init__(self, batch: Batch, data: DataFiles, files: Files):
        self.data = data
        self.files = files
        self.known: dict[tuple, Dimension] = {}
        variables = {v.name for job in batch.data if job.metadata is not None for v in job.metadata.variables}
        self.used: set[str] = set()
        self.avoided = variables
        for table in batch.tables:
            table.dimensions = tuple(self._of(table, name) for name in table.spec.explanatory)

    def _of(self, table: TableJob, name: str) -> str:
        job = table.data
        v = job.metadata.variable(name) if job.metadata is not None else None
        key = (v.name.lower(), v.hierarchy_file, v.leader, v.levels, v.total) if v is not None else (name.lower(),)
        if key not in self.known:
            own = v.name if v is not None else name
            self.known[key] = Dimension(self._name(own), v, job, own, table.spec.line)
        dimension = self.known[key]
        if v is not None and v.hierarchy_file is None and (not v.levels or job.is_table):
            codes = self.data.codes(job, v)
            dimension.unknown |= codes is None
            dimension.codes |= dict.fromkeys(codes or ())
        return dimension.name

    def _name(self, variable: str) -> str:
        base = name = plain_name(variable, "dimension")
        number = 2
        # A name that differs from its variable must not be another variable's: columns are found by their names.
        while name in self.used or (name != variable and name in self.avoided):
            name = f"{base}_{number}"
            number += 1
        self.used.add(name)
        return name

    def columns(self, job: DataJob, tables: list[TableJob]) -> list[d.Column]:
        out = {}
        for table in tables:
            if table.data is job:
                for name, variable in zip(table.dimensions, table.spec.explanatory, strict=True):
                    if name != (own := spelled(job, variable)):
                        out[name] = d.Column(name, own)
        return list(out.values())

    def inline_codes(self, name: str) -> frozenset[str] | None:
        """The codes of a dimension that lists them in the policy; None where files or the data bring them."""
        dimension = next(dim for dim in self.known.values() if dim.name == name)
        v = dimension.variable
        if v is None:
            return frozenset({"TODO", "Total"})
        if v.hierarchy_file is not None or v.levels or dimension.unknown or not dimension.codes:
            return None
        return frozenset({*dimension.codes, v.total})

    def write(self, draft: Draft) -> None:
        for dimension in self.known.values():
            self._write(dimension, draft)

    def _write(self, dimension: Dimension, draft: Draft) -> None:
        v = dimension.variable
        if v is None:
            total = d.Total(x.Code("Total"))
            block = d.Block("dimension", dimension.name, (d.Codes((x.Code("TODO"),)), total))
            todo = "TODO: its codes or its hierarchy, and the name of its total; no metadata was there to tell."
            draft.add(block, f"{draft.file}, line {dimension.line}", todo)
            headline = f"the codes of `{clip(dimension.spoken)}` are not known"
            draft.left_behind(headline, dimension.line, help="codes A, B, C")
            return
        comments = [f"{dimension.job.metadata_path.name}, line {v.line}: {clip(v.name)}"]
        statements = [*self._codes(dimension, v, draft, comments), *self._labels(dimension, v, draft)]
        draft.add(d.Block("dimension", dimension.name, (*statements, d.Total(x.Code(v.total)))), *comments)

    def _labels(self, dimension: Dimension, v: Variable, draft: Draft) -> list[d.Statement]:
        """A code list that is not there stands in no policy: tables are protected without it."""
        if v.codelist is None:
            return []
        near = dimension.job.metadata_path
        found, path = self.files.refer(v.codelist, v.line, draft, near=near.parent, file=str(near))
        return [d.Labels(d.FileReference("cdl", path))] if found is not None else []

    def _codes(self, dimension: Dimension, v: Variable, draft: Draft, comments: list[str]) -> list[d.Statement]:
        near = dimension.job.metadata_path
        if v.hierarchy_file is not None:
            _, path = self.files.refer(v.hierarchy_file, v.line, draft, near=near.parent, file=str(near))
            lead = (d.Option("lead", (x.Text(v.leader),)),) if v.leader != "@" else ()
            return [d.HierarchyFile(d.FileReference("hrc", path, lead))]
        if v.levels:
            lengths = v.prefix_lengths[:-1] if len(v.levels) > 1 else v.prefix_lengths
            # A table holds its subtotals too; what they sum up are the codes that begin no longer one.
            listed = [c for c in dimension.codes if not any(o != c and o.startswith(c) for o in dimension.codes)]
            codes = [d.Codes(tuple(map(x.Code, listed)))] if listed else []
            return [*codes, d.HierarchyPrefix(lengths)]
        if dimension.codes and not dimension.unknown:
            return [d.Codes(tuple(map(x.Code, dimension.codes)))]
        if v.width:
            comments.append("No hierarchy: the codes are those of the data, none is longer.")
            return [d.HierarchyPrefix((v.width,))]
        comments.append("TODO: its codes; the data was not there to tell.")
        draft.left_behind(f"the codes of `{clip(v.name)}` are not known", v.line, help="codes A, B, C", file=str(near))
        return [d.Codes((x.Code("TODO"),))]


# ---- blocks ---------------------------------------------------------------------------------------------------------


def data_block(
    job: DataJob, tables: list[TableJob], rules: dict[TableJob, TableRules], dimensions: ImportedDimensions
) -> d.Block:
    mine = [t for t in tables if t.data is job]
    file = d.FileReference("argus", job.written[0], (d.Option("metadata", (x.Text(job.written[1]),)),))
    columns = dimensions.columns(job, mine)
    if job.metadata is not None:
        roles: list[tuple[str, str]] = []
        if not job.is_table:
            requested = any(rules[t].requested for t in mine)
            roles += [("unit", "holding")] if requested else []
            roles += [("group", "holding")]
            roles += [("weight", "weight")] if any(rules[t].weighted for t in mine) else []
            roles += [("request", "request")] if requested else []
        elif any(rules[t].only_given for t in mine):
            roles += [("lower_level", "lpl"), ("upper_level", "upl")]
        columns += [
            d.Column(role, v.name, treatment="counts units" if role == "weight" else None)
            for role, kind in roles
            for v in job.metadata.with_role(kind)[:1]
        ]
    return d.Block("data", job.name, (d.Origin(file), *columns))


def table_block(table: TableJob, judged: TableRules, draft: Draft) -> d.Block:
    job, spec = table.data, table.spec
    statements: list[d.Statement] = [d.From(job.name), d.By(table.dimensions), *table.recodes]
    response = spelled(job, spec.response) if spec.response is not None else None
    if not job.is_table:
        statements.append(d.Sum(response) if response is not None else d.Count())
        if job.beside_weighted:  # other values than those of the weighted table of the same variable
            statements.append(d.Measure(plain_name(f"{response or 'frequencies'}_unweighted", "measure")))
        return d.Block("table", table.name, tuple(statements))
    metadata = job.metadata
    counts = [v.name for v in metadata.with_role("count")] if metadata is not None else []
    if response is None and not counts:
        draft.left_behind("no variable is <FREQUENCY>: which column holds the counts?", spec.line, help="value COLUMN")
    statements.append(d.ColumnOf("value", response or (counts or ["TODO"])[0]))
    statements += [d.Count(name) for name in counts[:1]]
    if metadata is None:
        return d.Block("table", table.name, tuple(statements))
    statements += [d.ColumnOf("largest", v.name, k) for k, v in enumerate(metadata.with_role("largest"), 1)]
    if spec.cost is not None and spec.cost not in SPECIAL_COSTS:
        statements.append(d.ColumnOf("weight", spelled(job, spec.cost)))
    if judged.only_given and (status := metadata.with_role("status")):
        words = {"sensitive": metadata.unsafe, "safe": metadata.safe, "fixed": metadata.protect}
        options = tuple(d.Option(kind, (x.Text(word),)) for kind, word in words.items() if word)
        statements.append(d.ColumnOf("status", status[0].name, options=options))
    return d.Block("table", table.name, tuple(statements))
