"""Random documents: any statement the language has, not necessarily a sensible policy."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.syntax.automaton import RESERVED
from sdcdsl.syntax.grammar import tables

# Words that are keywords somewhere make the best names: they must be names everywhere else.
_plain_names = st.sampled_from(["alpha", "größe", "nace_2", "東京", "a1", "region", "C10"])
_keywords = st.sampled_from(sorted(set(tables().keywords) - RESERVED))
names = st.one_of(_plain_names, st.builds("{}.{}".format, _plain_names, _plain_names))
columns = st.one_of(_plain_names, st.sampled_from(["TOT (k€)", 'a "b"', "where", "10 %"]))
texts = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029"), max_size=8).map(
    lambda s: unicodedata.normalize("NFC", s)
)
codes = st.one_of(
    _plain_names,
    _keywords,
    st.sampled_from(["01", "47.1", "10-49", "250+", "in", "a b", "tree", "prefix", '"', "", "-", "A.B"]),
    texts,
).map(x.Code)
numbers = st.sampled_from(["0", "1", "10", "2.5", "0.10", "1e3", "01"]).map(x.Number)
percents = st.sampled_from(["10", "0.5", "100"]).map(x.Percent)
durations = st.builds(x.Duration, st.sampled_from(["10", "1.5"]), st.sampled_from(["ms", "s", "min", "h"]))
whole = st.integers(0, 99)


def _grown(inner: st.SearchStrategy) -> st.SearchStrategy:
    # The grammar reads what it reads: `a + b + c` from the left, conditionals outermost, comparisons of sums.
    arguments = st.lists(st.builds(x.Argument, st.one_of(st.none(), _plain_names), inner), max_size=3).map(tuple)
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(x.Call, names, arguments),
        st.builds(x.Negative, inner),
        st.builds(x.Binary, st.sampled_from("+-*/^"), inner, inner),
        st.builds(lambda p, e: x.Binary("of", p, e), st.one_of(percents, names.map(x.Name)), inner),
        st.builds(x.Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), inner, inner),
        st.builds(x.Not, inner),
        st.builds(x.Every, parts.filter(lambda p: not any(isinstance(e, x.Every) for e in p))),
        st.builds(x.Some, parts.filter(lambda p: not any(isinstance(e, x.Some) for e in p))),
        st.builds(x.Cond, inner, inner, inner),
    )


_atoms = st.one_of(
    numbers,
    percents,
    texts.map(x.Text),
    names.map(x.Name),
    st.just(x.Infinity()),
    st.builds(x.Member, names, st.lists(codes, min_size=1, max_size=3).map(tuple), st.booleans()),
    st.builds(x.Under, names, codes, st.booleans()),
    st.builds(x.AtLevel, names, whole, st.booleans()),
)
expressions = st.recursive(_atoms, _grown, max_leaves=8)
maybe = st.one_of(st.none(), expressions)

options = st.lists(
    st.builds(
        d.Option,
        _plain_names,
        st.lists(st.one_of(expressions, durations, st.builds(x.Range, expressions, expressions)), max_size=2).map(
            tuple
        ),
        maybe,
    ),
    max_size=2,
).map(tuple)
files = st.builds(d.FileReference, _plain_names, texts, options)
addresses = st.lists(
    st.builds(d.Address, st.lists(st.tuples(names, codes), min_size=1, max_size=3).map(tuple)), min_size=1, max_size=2
).map(tuple)
tables_or_none = st.one_of(st.none(), names)
cells = st.one_of(
    st.builds(lambda t, a: d.Cells(t, at=a), tables_or_none, addresses),
    st.builds(lambda t, w: d.Cells(t, where=w), tables_or_none, expressions),
)
reasons = st.one_of(st.none(), texts)
many_names = st.lists(names, min_size=1, max_size=3).map(tuple)
many_codes = st.lists(codes, min_size=1, max_size=3).map(tuple)


@st.composite
def _trees(draw) -> d.HierarchyTree:
    depth, nodes = 0, []
    for i in range(draw(st.integers(1, 6))):
        depth = 0 if i == 0 else draw(st.integers(0, depth + 1))
        nodes.append((depth, draw(codes)))
    return d.HierarchyTree(tuple(nodes), draw(st.one_of(st.none(), _plain_names)))


@st.composite
def _values(draw) -> d.Values:
    width = draw(st.integers(1, 4))
    cell = st.one_of(st.sampled_from(["a", "12", "-3.5", "x y", "---", "# no", "a|b", ""]), texts.map(str.strip)).map(
        d.Cell
    )
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width).map(tuple), min_size=1, max_size=4))
    return d.Values(tuple(rows))


_alias = st.one_of(st.none(), _plain_names)
_sums = st.builds(
    d.HierarchySum,
    codes,
    st.lists(st.tuples(st.sampled_from([1, -1]), codes), min_size=1, max_size=3).map(tuple),
    _alias,
)
STATEMENTS = {
    "dimension": st.one_of(
        st.builds(d.Codes, many_codes),
        st.builds(d.Total, codes),
        st.builds(d.HierarchyFile, files, _alias),
        _sums,
        st.builds(d.HierarchyPrefix, st.lists(whole, min_size=1, max_size=3).map(tuple), _alias),
        _trees(),
    ),
    "data": st.one_of(
        st.builds(d.Origin, files), st.builds(d.Column, _plain_names, texts, st.one_of(st.none(), whole))
    ),
    "table": st.one_of(
        st.builds(d.From, names),
        st.builds(d.By, many_names),
        st.builds(d.Sum, columns),
        st.builds(d.Count, st.one_of(st.none(), columns)),
        st.builds(d.ColumnOf, st.sampled_from(["value", "weight"]), columns),
        st.builds(d.ColumnOf, st.just("largest"), columns, whole),
        st.builds(lambda c, o: d.ColumnOf("status", c, options=o), columns, options),
        st.builds(d.Measure, names),
        st.builds(d.UnitOf, texts),
        st.just(d.Integer()),
        st.builds(d.Only, expressions),
        _values(),
        st.builds(d.Origin, files),
    ),
    "attacker": st.one_of(
        st.builds(d.Bounds, expressions, expressions, maybe),
        st.builds(lambda w: d.Bounds(None, None, w), maybe),
        st.builds(d.Each, names, maybe),
        st.builds(d.Coalition, names),
        st.builds(d.Knows, st.lists(_plain_names, min_size=1, max_size=2).map(" ".join)),
    ),
    "scenario": st.one_of(
        st.builds(d.Against, many_names),
        st.builds(d.Level, st.sampled_from(["lpl", "upl", "spl"]), expressions, tables_or_none, maybe),
    ),
    "protect": st.one_of(
        st.builds(d.Against, many_names),
        st.builds(d.Level, st.sampled_from(["lpl", "upl", "spl"]), expressions, tables_or_none, maybe),
        st.builds(d.Conditional, st.sampled_from(["lpl", "upl", "spl"]), expressions, tables_or_none, maybe),
        st.builds(d.Scenarios, many_names),
        st.builds(d.Cost, expressions, st.sampled_from([None, "up", "down", "fixed"]), maybe),
        st.builds(
            d.MethodChain, st.lists(st.builds(d.Engine, _plain_names, options), min_size=1, max_size=3).map(tuple)
        ),
        st.builds(d.Assess, many_names, options),
        st.builds(d.Release, files),
    ),
}


@st.composite
def _blocks(draw) -> d.Block:
    kind = draw(st.sampled_from(sorted(STATEMENTS)))
    statements = tuple(draw(st.lists(STATEMENTS[kind], max_size=4)))
    override = draw(st.booleans())
    if kind != "protect":
        return d.Block(kind, draw(names), statements, override=override)
    tables = draw(many_names)
    return d.Block(kind, draw(st.one_of(st.just(tables[0]), _plain_names)), statements, tables, override)


facts = st.one_of(
    st.builds(d.Use, texts, _alias),
    st.builds(d.Title, texts),
    st.builds(d.Seed, whole),
    st.builds(d.Param, names, st.one_of(numbers, numbers.map(x.Negative), percents, durations, texts.map(x.Text))),
    st.builds(lambda c, b: d.Sensitive(c, because=b), cells, reasons),
    st.builds(
        lambda t, w, r, b: d.Sensitive(d.Cells(t, where=w), rule=r, because=b),
        tables_or_none,
        maybe,
        st.builds(
            x.Call,
            names,
            st.lists(st.builds(x.Argument, st.one_of(st.none(), _plain_names), expressions), max_size=2).map(tuple),
        ),
        reasons,
    ),
    st.builds(
        lambda t, a, b: d.Sensitive(d.Cells(t, at=a), together=True, because=b), tables_or_none, addresses, reasons
    ),
    st.builds(lambda t, f, b: d.Sensitive(d.Cells(t), file=f, because=b), tables_or_none, files, reasons),
    st.builds(d.Status, st.sampled_from(["publish", "suppress", "fix"]), cells, reasons),
    st.builds(
        lambda r, c, u, b: d.Waive(b, role=r, code=c, until=u),
        st.sampled_from(["unit", "group"]),
        codes,
        st.sampled_from([None, "2030-12-31"]),
        texts,
    ),
    st.builds(lambda c, u, b: d.Waive(b, cells=c, until=u), cells, st.sampled_from([None, "2030-12-31"]), texts),
    st.builds(d.Require, expressions, texts, maybe),
)
documents = st.builds(lambda items: d.Document(1, tuple(items)), st.lists(st.one_of(_blocks(), facts), max_size=5))
