"""Does each block have the statements it needs, and those that can be said once, once?"""

from __future__ import annotations

from collections.abc import Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy.codes import inline_trees
from sdcdsl.policy.meaning import within
from sdcdsl.policy.resolve import Policy
from sdcdsl.syntax.messages import BLOCKS
from sdcdsl.vocabulary.formats import TABLES
from sdcdsl.vocabulary.quantities import QUANTITIES

# Words that follow `sensitive`, `waive` and their like: `waive unit …` is about a contributor, never about a table.
_BEFORE_CELLS = frozenset({"unit", "group", "by", "from", "together"})

# Statements of which a block holds one. An override may say them again: the last one counts (R1).
ONCE: dict[str, tuple[tuple[type, str], ...]] = {
    "dimension": ((d.Total, "total"),),
    "data": ((d.Origin, "the file"),),
    "table": (
        (d.From, "from"),
        (d.By, "by"),
        (d.Sum, "sum"),
        (d.Values, "values"),
        (d.Origin, "the file"),
        (d.UnitOf, "unit"),
        (d.Measure, "measure"),
        (d.Attribute, "attribute"),
    ),
    "attacker": ((d.Each, "each"), (d.Coalition, "coalition")),
    "scenario": ((d.Against, "against"),),
    "protect": ((d.MethodChain, "method"), (d.Against, "against"), (d.Scenarios, "scenarios"), (d.Assess, "assess")),
}


def check(policy: Policy) -> Iterator[Diagnostic]:
    for kind, blocks in policy.blocks.items():
        for block in blocks.values():
            yield from _said_twice(policy, block)
            if not policy.is_damaged(block.span):
                yield from _NEEDS[kind](block)
                yield from _name(block)


def _name(block: d.Block) -> Iterator[Diagnostic]:
    name = block.name.rpartition(".")[2] if block.span is None else _last_word(block)
    if block.kind == "protect" and name in block.tables:
        return  # the table's name, reported where it is declared
    if block.kind == "table" and name in _BEFORE_CELLS:
        headline = f"`{name}` cannot name a table: statements about cells use the word themselves"
        yield diagnostic("SDC025", headline, block.heading, help="choose another name")
    if block.kind == "dimension" and name in QUANTITIES:
        headline = f"every cell has a `{name}`: a dimension needs another name"
        yield diagnostic("SDC120", headline, block.heading, QUANTITIES[name].about)
    if "." in name:
        help = f"{block.kind} {name.replace('.', '_')} {{"
        yield diagnostic("SDC026", f"a name that is declared has no dot: `{name}`", block.heading, help=help)


def _last_word(block: d.Block) -> str:
    place = block.heading or block.span
    words = place.text.split() if place is not None else []
    return words[-1] if words and not block.override else ""


def _said_twice(policy: Policy, block: d.Block) -> Iterator[Diagnostic]:
    own = [s for s in block.statements if s.span and block.span and within(s, block)]
    for kind, word in ONCE[block.kind]:
        said = [s for s in own if isinstance(s, kind)]
        for again in said[1:]:
            found = diagnostic("SDC111", f"{BLOCKS[block.kind]} has one `{word}`", again.span, "said again here")
            yield found.mark(said[0].span, "said here first")


def _lacks(block: d.Block, what: str, example: str, why: str = "") -> Diagnostic:
    headline = f"{block.kind} `{block.name}` does not say {what}"
    notes = [f"{BLOCKS[block.kind]} needs it"]
    return diagnostic("SDC110", headline, block.heading, why, help=f"add to it: {example}", notes=notes)


def _dimension(block: d.Block) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for code in (c for s in block.all(d.Codes) for c in s.codes):
        if code.text in seen:
            yield diagnostic("SDC111", f"code `{code.text}` is listed twice", code.span)
        seen.add(code.text)
    files = block.all(d.HierarchyFile) + block.all(d.HierarchyPrefix)
    inline = block.all(d.HierarchySum) + block.all(d.HierarchyTree)
    if not files and not inline and not block.all(d.Codes):
        yield _lacks(block, "which codes it has", "codes A, B, C")
    elif not block.all(d.Total):
        roots = [root for tree in inline_trees(block) for root in tree.roots()]
        if files or block.all(d.Codes) or len(set(roots)) > 1:
            yield _lacks(block, "what the total of its codes is called", "total Total")


def _data(block: d.Block) -> Iterator[Diagnostic]:
    if not block.all(d.Origin):
        yield _lacks(block, "which file holds it", 'csv "file.csv"')


def _table(block: d.Block) -> Iterator[Diagnostic]:
    origins = [s for s in block.statements if isinstance(s, (d.From, d.Values, d.Origin))]
    kinds = {type(s) for s in origins}
    if not origins:
        yield _lacks(block, "where its values come from", 'from DATA, values with rows, or a file such as jj "x.jj"')
        return
    if len(kinds) > 1:
        found = diagnostic("SDC127", f"table `{block.name}` has two origins", origins[-1].span, "and here")
        yield found.mark(origins[0].span, "its values come from here")
        return
    by = block.last(d.By)
    if kinds == {d.Origin}:
        if by is not None and all(s.file.format in TABLES for s in block.all(d.Origin)):
            yield diagnostic(
                "SDC127", "a table from a JJ file has no dimensions", by.span, "its cells are numbered: at (cell: 17)"
            )
        return
    if by is None:
        yield _lacks(block, "by which dimensions it is broken down", "by region, size")
    elif (again := _again(block)) is not None:
        yield diagnostic("SDC111", f"dimension `{again.dimension}` is recoded twice", again.span, "said again here")
    elif len(set(by.dimensions)) < len(by.dimensions):
        yield diagnostic("SDC111", f"table `{block.name}` names a dimension twice", by.span)
    else:
        yield from _attribute(block, by)
    if kinds == {d.From}:
        yield from _measure(block)


def _attribute(block: d.Block, by: d.By) -> Iterator[Diagnostic]:
    """An attribute is of somebody whom the other dimensions tell."""
    said = block.last(d.Attribute)
    if said is None:
        return
    for name in said.dimensions:
        if name not in by.dimensions:
            headline = f"table `{block.name}` is not broken down by `{name}`"
            yield diagnostic("SDC163", headline, said.span, help=f"by {', '.join((*by.dimensions, name))}")
            return
    if set(said.dimensions) == set(by.dimensions):
        headline = f"no dimension of table `{block.name}` says who somebody is: all of them are attributes"
        yield diagnostic("SDC163", headline, said.span, help="leave out those by which people are known")
    if block.all(d.Sum):
        headline = f"table `{block.name}` holds amounts: only a table of counts tells attributes of its members"
        yield diagnostic("SDC163", headline, said.span, help="count in place of sum").mark(block.all(d.Sum)[0].span, "")


def _again(block: d.Block) -> d.Recode | None:
    """A second recode of a dimension; an override may say one again."""
    seen: set[str] = set()
    for one in block.all(d.Recode):
        if one.dimension in seen and (one.span is None or block.span is None or within(one, block)):
            return one
        seen.add(one.dimension)
    return None


def _measure(block: d.Block) -> Iterator[Diagnostic]:
    sums = block.all(d.Sum)
    values = [s for s in block.all(d.ColumnOf) if s.quantity == "value"]
    counts = [s for s in block.all(d.Count) if s.column is None]
    chosen = [*sums, *values, *counts]
    if not chosen:
        yield _lacks(block, "what its cells hold", "sum COLUMN, count, or value COLUMN for ready-made cells")
    elif len({type(s) for s in chosen}) > 1:
        found = diagnostic("SDC127", f"table `{block.name}` measures two things", chosen[-1].span, "and this")
        yield found.mark(chosen[0].span, "its cells hold this")


def _attacker(block: d.Block) -> Iterator[Diagnostic]:
    if not block.all(d.Bounds):
        yield _lacks(block, "what it knows about every cell", "bounds 0 .. inf")
    if block.all(d.Each):
        return
    for coalition in block.all(d.Coalition):
        headline = "only the members of an `each` attacker form coalitions"
        yield diagnostic("SDC110", headline, coalition.span, help="add to it: each unit")
        return
    for knows in block.all(d.Knows):
        if knows.what == "own contribution":
            headline = "only an `each` attacker has an own contribution"
            yield diagnostic("SDC110", headline, knows.span, help="add to it: each unit")
            return


def _scenario(block: d.Block) -> Iterator[Diagnostic]:
    if not block.all(d.Against):
        yield _lacks(block, "whom it is against", "against external")


def _protect(block: d.Block) -> Iterator[Diagnostic]:
    if not block.all(d.MethodChain):
        yield _lacks(block, "how its tables are protected", "method csp")
    if len(set(block.tables)) < len(block.tables):
        yield diagnostic("SDC111", "a table is named twice", block.heading)


_NEEDS = {
    "dimension": _dimension,
    "data": _data,
    "table": _table,
    "attacker": _attacker,
    "scenario": _scenario,
    "protect": _protect,
}
