"""A data structure of SDMX as a policy: its dimensions with their code lists, and a table of ready-made cells.

Not every dimension of SDMX adds up: frequency, time and unit of measurement say what an observation is about. These
are no dimensions of the table; its data have one code of each, or the policy says which.
"""

from __future__ import annotations

from pathlib import Path

from sdcdsl.bind.readers.sdmx_structures import CodeList, DataStructure, SdmxDimension, Structures, read_structures
from sdcdsl.bind.readers.wording import clip, plural
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.importing.draft import BlockNames, Draft, Files, plain_name
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x

# Concepts of the cross-domain list that are about observations, and no breakdown whose codes have a sum.
NOT_ADDED = frozenset(
    {
        *("FREQ", "TIME_PERIOD", "TIME_FORMAT", "UNIT", "UNIT_MEASURE", "UNIT_MULT", "ADJUSTMENT", "SEASONAL_ADJUST"),
        *("INDICATOR", "INDIC", "MEASURE", "STO", "PRICES", "TRANSFORMATION", "REF_PERIOD", "VALUATION", "BASE_PER"),
    }
)
TOTALS = ("_T", "TOTAL", "TOT", "T", "_TOTAL")  # what usual code lists call the total, which is a code beside its parts
SENSITIVE, SAFE, HIDDEN, CONFIDENTIALITY = ("C",), ("F",), ("D", "N", "S"), "CONF_STATUS"


def policy_from_sdmx(source: Path, folder: Path | None = None) -> tuple[str | None, list[Diagnostic]]:
    structures, found = read_structures(source)
    if structures is None:
        return None, found
    if not structures.data_structures:
        headline = f"{source} has no data structure"
        help = 'hierarchy sdmx "…" { codelist "…" } reads a code list as a dimension'
        return None, [diagnostic("SDC308", headline, FilePlace(str(source)), help=help)]
    draft = Draft(str(source))
    files = Files.beside(source, folder, draft)
    chosen, *others = structures.data_structures
    for other in others:
        draft.left_behind(f"the data structure `{clip(other.reference.id)}` is a policy of its own", other.line)
    return _drafted(draft, files.prefix + source.name, structures, chosen)


def _drafted(
    draft: Draft, file: str, structures: Structures, structure: DataStructure
) -> tuple[str | None, list[Diagnostic]]:
    draft.add(d.Title(f"Imported from {draft.file}: {_label(structure) or structure.reference.id}"))
    names = BlockNames()
    table = names.take(structure.reference.id.lower(), "table")
    added: list[tuple[SdmxDimension, str]] = []
    for one in structure.dimensions:
        if one.time or one.id.upper() in NOT_ADDED:
            headline = f"the codes of `{clip(one.id)}` have no sum, so it is no dimension of the table"
            help = f'of data with several of its codes choose one: only where {plain_name(one.id, "x")} = "…"'
            draft.left_behind(headline, structure.line, help=help)
        elif one.codes is None:
            headline = f"nothing says which codes `{clip(one.id)}` has, so it is no dimension of the table"
            draft.left_behind(headline, structure.line, help="a dimension has codes or a hierarchy")
        elif structures.codes_of(one) is None:
            headline = f"the code list {clip(str(one.codes))} of `{clip(one.id)}` is not in the file"
            draft.left_behind(headline, structure.line, help="ask for the structure with its references, all of them")
        else:
            added.append((one, names.take(one.id, "dimension")))
    if not added:
        headline = f"no dimension of `{clip(structure.reference.id)}` has a code list in {draft.source}"
        return None, [*draft.found, diagnostic("SDC316", headline, FilePlace(draft.source, line=structure.line))]
    marked = CONFIDENTIALITY in structure.attributes
    _data(draft, table, structure, added)
    for one, name in added:
        _dimension(draft, file, structures, one, name)
    _table(draft, table, structure, [name for _, name in added], marked)
    draft.list_what_stayed()
    text, wrong = draft.text()
    return text, draft.found + wrong


def _data(draft: Draft, table: str, structure: DataStructure, added: list[tuple[SdmxDimension, str]]) -> None:
    draft.gap()
    columns = tuple(d.Column(name, one.id) for one, name in added if one.id != name)
    origin = d.Origin(d.FileReference("sdmx", f"{structure.reference.id.lower()}.csv"))
    said = "SDMX-CSV or SDMX-ML; another file when running: --data cells=FILE"
    draft.add(d.Block("data", "cells", (origin, *columns)), said)


def _dimension(draft: Draft, file: str, structures: Structures, one: SdmxDimension, name: str) -> None:
    codes = structures.codes_of(one)
    assert codes is not None
    total, invented = _total(codes)
    same = [other for other in structures.codelists if other.reference.id == codes.reference.id]
    identifier = codes.reference.id if len(same) == 1 else str(codes.reference)
    option = d.Option("codelist", (x.Text(identifier),))
    statements: list[d.Statement] = [d.HierarchyFile(d.FileReference("sdmx", file, (option,))), d.Total(x.Code(total))]
    if any(one.names for one in codes.codes):
        statements.append(d.Labels(d.FileReference("sdmx", file, (option,))))
    draft.gap()
    comments = [f"{' '.join(codes.names.values())}: {plural(len(codes.codes), 'code')}"] if codes.names else []
    if invented:
        comments.append("The code list has no total; this is the sum of all its codes.")
    draft.add(d.Block("dimension", name, tuple(statements)), *comments)


def _total(codes: CodeList) -> tuple[str, bool]:
    """The only code with parts and without a parent, or one that is called like a total; or one that is made up."""
    inner = {one.parent for one in codes.codes}
    tops = [one.code for one in codes.codes if one.parent is None]
    if len(tops) == 1 and tops[0] in inner:
        return tops[0], False
    said = next((name for name in TOTALS if name in tops), None)
    known = {one.code for one in codes.codes}
    return (said, False) if said is not None else (next(n for n in ("Total", "All", "_Sum") if n not in known), True)


def _table(draft: Draft, table: str, structure: DataStructure, names: list[str], marked: bool) -> None:
    statements: list[d.Statement] = [d.From("cells"), d.By(tuple(names)), d.ColumnOf("value", structure.measures[0])]
    if marked:
        options = (_entries("sensitive", SENSITIVE), _entries("safe", SAFE), _entries("hidden", HIDDEN))
        statements.append(d.ColumnOf("status", CONFIDENTIALITY, options=options))
    for other in structure.measures[1:]:
        draft.left_behind(f"the measure `{clip(other)}` is a table of its own", structure.line)
    draft.gap()
    draft.add(d.Block("table", table, tuple(statements)))
    draft.gap()
    if marked:
        draft.add(d.Sensitive(d.Cells(), x.Call("status")), "Cells with C in CONF_STATUS.")
    else:
        draft.remark("Which cells are sensitive: sensitive by threshold(3), if the data give numbers of contributors")
        headline = "nothing in the structure says which cells are sensitive"
        draft.left_behind(headline, structure.line, help="sensitive by RULE(…), or sensitive at (…)")
    draft.gap()
    draft.add(d.Block("attacker", "external", (d.Bounds(x.Number("0"), x.Infinity()),)))
    draft.gap()
    level = x.Binary("of", x.Percent("10"), x.Name("value"))
    release = d.Release(d.FileReference("sdmx", f"{table}-protected.csv"))
    method = d.MethodChain((d.Engine("csp", (d.Option("time_limit", (x.Duration("10", "min"),)),)),))
    block = (d.Level("lpl", level), d.Level("upl", level), d.Against(("external",)), d.Cost(x.Name("value")))
    draft.add(
        d.Block("protect", table, (*block, method, release), (table,)),
        "The levels are a proposal: what must stay uncertain is your rules' to say.",
    )


def _entries(name: str, codes: tuple[str, ...]) -> d.Option:
    return d.Option(name, tuple(x.Text(code) for code in codes))


def _label(structure: DataStructure) -> str:
    return structure.names.get("en") or next(iter(structure.names.values()), "")
