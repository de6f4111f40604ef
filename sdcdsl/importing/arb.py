"""A τ-ARGUS batch file (`.arb`) with its metadata as one policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sdcdsl.bind.readers.arb import APrioriFile, read_arb
from sdcdsl.bind.readers.hst import SEPARATORS, read_hst
from sdcdsl.bind.readers.wording import clip, plural
from sdcdsl.diagnostics import Diagnostic, has_errors, in_reading_order
from sdcdsl.importing.batch import Batch, TableJob, gather
from sdcdsl.importing.draft import BlockNames, Draft, Files, plain_name
from sdcdsl.importing.hst import needed_beside_the_file, statements_of
from sdcdsl.importing.protecting import ProtectBlocks, says_shadow, uses_status
from sdcdsl.importing.rda import DataFiles, ImportedDimensions, check_variables, data_block, open_data, table_block
from sdcdsl.importing.rules import TableRules, judged
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x

_FROM_ZERO = d.Bounds(x.Number("0"), x.Infinity())
_EVERYTHING = d.Bounds(x.Negative(x.Infinity()), x.Infinity())
MOST_CELLS = 200  # lines of an a-priori file that become statements; a policy is something to read


@dataclass
class _Known:
    """What a-priori files say beside sensitive cells."""

    paths: dict[APrioriFile, str] = field(default_factory=dict)  # as the policy names the files
    facts: list[d.Fact] = field(default_factory=list)
    bounds: dict[TableJob, list[d.Bounds]] = field(default_factory=dict)
    protect: dict[TableJob, list[d.Cost | d.Level]] = field(default_factory=dict)


def policy_from_arb(
    source: Path, folder: Path | None = None, encoding: str | None = None
) -> tuple[str | None, list[Diagnostic]]:
    commands, found = read_arb(source, encoding=encoding)
    if commands is None or has_errors(found):
        return None, found
    draft = Draft(str(source), found=list(found))
    batch = gather(commands, draft)
    files = Files.beside(source, folder, draft)
    problems = batch.problems or open_data(batch, files, draft) or check_variables(batch, draft)
    if problems:
        return None, problems
    problems = _write(batch, files, draft)
    if problems:
        return None, problems
    draft.list_what_stayed()
    text, wrong = draft.text()
    return text, in_reading_order(draft.found + wrong)


def _write(batch: Batch, files: Files, draft: Draft) -> list[Diagnostic]:
    data = DataFiles(draft)
    rules = {table: judged(table, draft) for table in batch.tables}
    _apart_by_weighting(batch, rules)
    dimensions = ImportedDimensions(batch, data, files)
    _name_tables(batch)
    _recodes(batch, files, dimensions, draft)
    known, problems = _apriori(batch, files, dimensions, draft)
    draft.add(d.Title(f"Imported from {draft.file}"))
    draft.gap()
    for job in batch.data:
        lines = sorted({opened.line for opened in (job.opened, job.described) if opened is not None})
        draft.add(data_block(job, batch.tables, rules, dimensions), _from(draft, lines))
    dimensions.write(draft)
    for table in batch.tables:
        says_shadow(table, draft)
        draft.add(table_block(table, rules[table], draft), _from(draft, [table.spec.line]))
    _facts(batch, rules, known, dimensions, draft)
    _protection(batch, files, rules, known, data, draft)
    return problems


def _apart_by_weighting(batch: Batch, rules: dict[TableJob, TableRules]) -> None:
    """τ-ARGUS weights tables, a policy weights data: tables that are not weighted get data of their own."""
    for job in batch.data:
        mine = [table for table in batch.tables if table.data is job]
        plain = [table for table in mine if not rules[table].weighted]
        if job.is_table or not plain or len(plain) == len(mine):
            continue
        unweighted = replace(job, name=f"{job.name}_unweighted", beside_weighted=True)
        for table in plain:
            table.data = unweighted


def _recodes(batch: Batch, files: Files, dimensions: ImportedDimensions, draft: Draft) -> None:
    """`<RECODE>` is about a variable, in every table that has it."""
    for recode in batch.recodes:
        file = recode.arguments[-1] if recode.arguments else ""
        variable = recode.arguments[-2] if len(recode.arguments) > 1 else ""
        tables = [t for t in recode.tables if variable.lower() in [v.lower() for v in t.spec.explanatory]]
        if not tables or not file.lower().endswith(".grc"):
            headline = f"`<RECODE>` of `{clip(variable)}` is not carried over"
            help = 'recode DIMENSION grc "file.grc", or: by DIMENSION to level N'
            draft.left_behind(headline, recode.line, help=help)
            continue
        found, path = files.refer(file, recode.line, draft)
        if not found.is_file():
            headline = f"`<RECODE>` of `{clip(variable)}`: there is no {clip(found.name)}"
            draft.left_behind(headline, recode.line, help="put it beside the batch file and import again")
            continue
        for table in tables:
            at = [v.lower() for v in table.spec.explanatory].index(variable.lower())
            table.recodes.append(d.Recode(table.dimensions[at], file=d.FileReference("grc", path)))


def _from(draft: Draft, lines: Sequence[int]) -> str:
    return f"{draft.file}, line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"


def _name_tables(batch: Batch) -> None:
    """By what the table holds; where several hold the same, also by what breaks it down."""
    names = BlockNames()
    short = [plain_name(t.spec.response or "frequencies", "table") for t in batch.tables]
    for table, name in zip(batch.tables, short, strict=True):
        by = f"_by_{'_'.join(table.dimensions)}" if short.count(name) > 1 else ""
        table.name = names.take(name + by, "table")


# ---- facts --------------------------------------------------------------------------------------------------------


def _facts(
    batch: Batch, rules: dict[TableJob, TableRules], known: _Known, dimensions: ImportedDimensions, draft: Draft
) -> None:
    draft.gap()
    alike = all([c for c, _ in rules[t].calls] == [c for c, _ in rules[batch.tables[0]].calls] for t in batch.tables)
    for table in batch.tables[:1] if alike else batch.tables:
        name = None if alike else table.name
        lines = sorted({line for t in (batch.tables if alike else [table]) for _, line in rules[t].calls})
        for i, (call, _) in enumerate(rules[table].calls):
            draft.add(d.Sensitive(d.Cells(name), call), *([_from(draft, lines)] if i == 0 else []))
    for table in batch.tables:
        if uses_status(table, rules[table]):
            fact = d.Sensitive(d.Cells(table.name), x.Call("status"))
            draft.add(fact, "No safety rule: the statuses of the file count.")
        elif not rules[table].calls and not table.apriori:
            headline = f"no rule marks cells of table `{table.name}`"
            draft.left_behind(headline, table.spec.line, help="sensitive by RULE(…)")
        _missing_codes(table, rules[table], dimensions, draft)
        if rules[table].weighted and not (table.data.metadata and table.data.metadata.with_role("weight")):
            headline = "WGT requires weights, and no variable is <WEIGHT>"
            draft.left_behind(headline, table.spec.line, help='column weight = "…" in the data')
        for file in table.apriori:
            fact = d.Sensitive(d.Cells(table.name), file=d.FileReference("hst", known.paths[file]))
            draft.add(fact, _from(draft, [file.line]))
    for fact in known.facts:
        draft.add(fact)


def _missing_codes(table: TableJob, rules: TableRules, dimensions: ImportedDimensions, draft: Draft) -> None:
    """MIS(1): cells of a missing code are safe."""
    if rules.missing_is_safe is None or table.data.metadata is None:
        return
    parts: list[x.Expression] = []
    for name, variable in zip(table.dimensions, table.spec.explanatory, strict=True):
        v = table.data.metadata.variable(variable)
        codes, inline = v.missing if v is not None else (), dimensions.inline_codes(name)
        there = tuple(x.Code(c) for c in dict.fromkeys(codes) if inline is None or c in inline)
        parts += [x.Member(name, there)] if there else []
    if parts:
        where = parts[0] if len(parts) == 1 else x.Some(tuple(parts))
        reason = f"MIS(1) in line {rules.missing_is_safe} of {draft.file}: cells of a missing code are safe"
        draft.add(d.Waive(reason, cells=d.Cells(table.name, where=where)))


def _apriori(
    batch: Batch, files: Files, dimensions: ImportedDimensions, draft: Draft
) -> tuple[_Known, list[Diagnostic]]:
    out = _Known()
    problems: list[Diagnostic] = []
    for table in batch.tables:
        for file in table.apriori:
            path, out.paths[file] = files.refer(file.file, file.line, draft)
            if file.separator not in SEPARATORS:
                headline = f"`{file.separator}` separates the fields of {clip(path.name)}"
                draft.left_behind(headline, file.line, help="separate them by ;")
            if not path.is_file():
                draft.left_behind(
                    f"there is no {clip(path.name)}: what it says of costs, bounds and safe cells is not carried over",
                    file.line,
                    help="put it beside the batch file and import again",
                )
                continue
            problems += _apriori_file(path, file, table, dimensions, out, draft)
    return out, problems


def _apriori_file(
    path: Path, file: APrioriFile, table: TableJob, dimensions: ImportedDimensions, out: _Known, draft: Draft
) -> list[Diagnostic]:
    """`sensitive from hst` marks cells; the other lines become statements of their own."""
    entries, problems = read_hst(path, dimensions=len(table.dimensions), separator=file.separator)
    if entries is None:
        return problems
    inline = [dimensions.inline_codes(name) for name in table.dimensions]
    rest = needed_beside_the_file(entries)
    strange = [e for e in rest if any(known and c not in known for c, known in zip(e.codes, inline, strict=True))]
    if strange:
        headline = f"{plural(len(strange), 'line')} about cells that the table does not have"
        draft.left_behind(headline, strange[0].line, file=str(path))
    rest = [e for e in rest if e not in strange]
    if len(rest) > MOST_CELLS:
        draft.left_behind(
            f"{len(rest)} lines about costs, bounds, levels and safe cells are too many for a policy",
            rest[0].line,
            help="say it by conditions: cost AMOUNT where CONDITION",
            file=str(path),
        )
        return []
    made = statements_of(rest, table.dimensions, table.name, path.name)
    out.facts += [fact for _, fact in made.facts]
    out.bounds.setdefault(table, []).extend(bounds for _, bounds in made.attacker)
    out.protect.setdefault(table, []).extend(s for _, s in made.protect)
    return []


# ---- protection ----------------------------------------------------------------------------------------------------


def _protection(
    batch: Batch, files: Files, rules: dict[TableJob, TableRules], known: _Known, data: DataFiles, draft: Draft
) -> None:
    groups: list[list[TableJob]] = []
    for table in batch.tables:
        together = next((g for g in groups if table.suppress is not None and g[0].suppress is table.suppress), None)
        if together is not None:
            together.append(table)
        else:
            groups.append([table])
    names = BlockNames()
    attackers: dict[tuple[d.Bounds, ...], str] = {}
    protecting = ProtectBlocks(draft, files, rules)
    blocks = []
    for group in groups:
        signed = any(data.goes_below_zero(t) for t in group)
        bounds = (_EVERYTHING if signed else _FROM_ZERO, *(b for t in group for b in known.bounds.get(t, ())))
        if bounds not in attackers:
            plain = len(bounds) == 1 or len(groups) == 1
            preferred = ("external_any_sign" if signed else "external") if plain else f"external_{group[0].name}"
            attackers[bounds] = names.take(preferred, "external")
            knows = "nothing, since some values are below zero" if signed else "only that no value is below zero"
            why = f"τ-ARGUS does not say who attacks: here somebody who knows {knows}."
            draft.add(d.Block("attacker", attackers[bounds], bounds), why)
        more = [s for t in group for s in known.protect.get(t, ())]
        blocks.append(protecting.block(group, attackers[bounds], signed, more))
    for block, comments in blocks:
        draft.add(block, *comments)
