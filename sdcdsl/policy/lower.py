"""Tree to document: each statement of the grammar becomes the record that says what it means.

Nothing is checked here beyond what the text alone decides (dates, numbers). Damaged parts of the tree are left out:
they have been reported already.
"""

from __future__ import annotations

from collections.abc import Callable

from sdcdsl.diagnostics import Diagnostic, Span
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.lower_expressions import Pieces, text_of, unquoted
from sdcdsl.syntax.layout import cells_of, depths_of, is_rule
from sdcdsl.syntax.tree import Node, Parsed, Token
from sdcdsl.vocabulary.methods import METHODS


def lower(parsed: Parsed) -> tuple[d.Document, list[Diagnostic]]:
    lowering = _Lowering(parsed)
    return lowering.document(), lowering.diagnostics


class _Lowering(Pieces):
    def __init__(self, parsed: Parsed):
        super().__init__(parsed)
        self.comments = {self._line(c.start): c for c in parsed.comments if c.own_line}

    # ---- the file ------------------------------------------------------------------------

    def document(self) -> d.Document:
        items = tuple(self.item(node) for node in self.parsed.tree.nodes() if node.kind != "edition")
        return d.Document(1, items, source=self.parsed.source)

    def item(self, node: Node) -> d.Item:
        span = self.span(node)
        match node.kind:
            case "use":
                alias = node.token("NAME")
                return d.Use(self.string(node), alias=text_of(alias) if alias else None, span=span)
            case "policy":
                return d.Title(self.string(node), span=span)
            case "seed":
                return d.Seed(self.whole(node), span=span)
            case "param":
                return self.parameter(node)
            case "period":
                return self.period(node)
            case "override":
                (inner,) = node.nodes()
                return self.block(inner, override=True, outer=node)
            case "sensitive":
                return self.sensitive(node)
            case "publish" | "suppress" | "fix":
                return d.Status(node.kind, self.cells(node), because=self.because(node), span=span)
            case "waive":
                return self.waive(node)
            case "require":
                condition, *_ = self.expressions(node)
                return d.Require(condition, self.because(node) or "", where=self.where(node), span=span)
            case _:
                return self.block(node)

    def parameter(self, node: Node) -> d.Param:
        name, *_ = node.tokens("NAME")
        *_, token = node.tokens()
        span = Span(self.parsed.source, token.start, token.end)
        value: x.Number | x.Percent | x.Text | x.Duration | x.Negative
        if token.type == "STRING":
            value = x.Text(text_of(token), span=span)
        elif token.type == "PERCENT":
            value = x.Percent(self.number(token), span=span)
        elif token.type == "DURATION":
            value = self.duration(token, span)
        else:
            value = x.Number(self.number(token), span=span)
        if node.node("minus") is not None:
            value = x.Negative(value, span=span)
        return d.Param(text_of(name), value, span=self.span(node))

    def period(self, node: Node) -> d.Period:
        before = node.node("previous")
        return d.Period(
            text_of(self.first(node)),
            self.quoted(node),
            self.quoted(before) if before is not None else None,
            options=self.options(node),
            span=self.span(node),
        )

    def quoted(self, node: Node) -> x.Text:
        token = node.token("STRING")
        assert token is not None
        return x.Text(text_of(token), span=Span(self.parsed.source, token.start, token.end))

    def block(self, node: Node, override: bool = False, outer: Node | None = None) -> d.Block:
        names = [text_of(t) for t in node.tokens("NAME")]
        tables: tuple[str, ...] = ()
        as_ = node.node("as_")
        if node.kind == "protect":
            tables = tuple(names)
            name = text_of(self.first(as_)) if as_ is not None else tables[0]
        else:
            name = names[0]
        statements = tuple(s for s in map(self.statement, node.nodes()) if s is not None)
        like = node.node("like")
        heading = like or as_ or list(node.tokens("NAME"))[-1]
        start = (outer or node).start
        return d.Block(
            node.kind,
            name,
            statements,
            tables=tables,
            override=override,
            like=text_of(self.first(like)) if like is not None else None,
            documentation=self.documentation(start),
            heading=Span(self.parsed.source, start, max(heading.end, node.start)),
            span=self.span(outer or node),
        )

    def documentation(self, start: int) -> str:
        """The comment lines directly above."""
        line, lines = self._line(start) - 1, list[str]()
        while line in self.comments:
            lines.append(self.comments[line].text.lstrip("#").strip())
            line -= 1
        return "\n".join(reversed(lines))

    def statement(self, node: Node) -> d.Statement | None:
        handler: Callable[[Node], d.Statement] | None = getattr(self, f"_{node.kind}", None)
        return handler(node) if handler is not None else None

    # ---- statements of blocks -----------------------------------------------------------------

    def _codes(self, node: Node) -> d.Codes:
        return d.Codes(self.codes(node), span=self.span(node))

    def _total(self, node: Node) -> d.Total:
        return d.Total(self.codes(node)[0], span=self.span(node))

    def _hierarchy_file(self, node: Node) -> d.HierarchyFile:
        name = list(node.tokens("NAME"))[1:]
        return d.HierarchyFile(self.file(node), name=self.names(name), span=self.span(node))

    def _hierarchy_sum(self, node: Node) -> d.HierarchySum:
        signs, parts = 1, list[tuple[int, x.Code]]()
        total, *rest = node.nodes()
        for child in rest:
            if child.kind == "minus":
                signs = -1
            else:
                parts.append((signs, self.code(child)))
                signs = 1
        name = self.names(list(node.tokens("NAME")))
        return d.HierarchySum(self.code(total), tuple(parts), name=name, span=self.span(node))

    def _hierarchy_prefix(self, node: Node) -> d.HierarchyPrefix:
        lengths = tuple(self.integer(t) for t in node.tokens("INT"))
        return d.HierarchyPrefix(lengths, name=self.names(list(node.tokens("NAME"))), span=self.span(node))

    def _hierarchy_tree(self, node: Node) -> d.HierarchyTree:
        depths = depths_of(node, self.parsed.source)
        nodes = tuple(zip((max(depth, 0) for depth in depths), self.codes(node), strict=True))
        return d.HierarchyTree(nodes, name=self.names(list(node.tokens("NAME"))), span=self.span(node))

    def _labels(self, node: Node) -> d.Labels:
        *language, format = node.tokens("NAME")
        file = self.file_after(node, format)
        return d.Labels(file, text_of(language[0]) if language else None, span=self.span(node))

    def _source(self, node: Node) -> d.Origin:
        return d.Origin(self.file(node), span=self.span(node))

    def _column(self, node: Node) -> d.Column:
        role = node.node("role")
        assert role is not None
        rank, said = role.token("INT"), node.node("treatment")
        return d.Column(
            text_of(self.first(role)),
            self.string(node),
            rank=self.integer(rank) if rank else None,
            treatment=" ".join(token.text for token in said.tokens()) if said is not None else None,
            span=self.span(node),
        )

    def _from_(self, node: Node) -> d.From:
        return d.From(text_of(self.first(node)), span=self.span(node))

    def _by(self, node: Node) -> d.By:
        parts = list(node.nodes("classified"))
        levels = tuple(self.integer(level) if (level := part.token("INT")) else None for part in parts)
        names = tuple(text_of(self.first(part)) for part in parts)
        return d.By(names, levels if any(level is not None for level in levels) else (), span=self.span(node))

    def _recode(self, node: Node) -> d.Recode:
        groups: list[d.Merged] = []
        for one in node.nodes("merged"):
            code, *parts = self.codes(one)
            groups.append(d.Merged(code, tuple(parts), span=self.span(one)))
        return d.Recode(text_of(self.first(node)), tuple(groups), span=self.span(node))

    def _recode_file(self, node: Node) -> d.Recode:
        name, format = list(node.tokens("NAME"))[:2]
        return d.Recode(text_of(name), file=self.file_after(node, format), span=self.span(node))

    def _sum(self, node: Node) -> d.Sum:
        return d.Sum(text_of(self.first(node)), span=self.span(node))

    def _count(self, node: Node) -> d.Count:
        column = node.token()
        return d.Count(text_of(column) if column else None, span=self.span(node))

    def _quantity(self, node: Node) -> d.ColumnOf:
        rank = node.token("INT")
        column = node.token("NAME", "STRING")
        assert column is not None
        return d.ColumnOf(
            node.kind,
            text_of(column),
            rank=self.integer(rank) if rank else None,
            options=self.options(node),
            span=self.span(node),
        )

    _value = _weight = _status = _largest = _quantity

    def _measure(self, node: Node) -> d.Measure:
        return d.Measure(text_of(self.first(node)), span=self.span(node))

    def _unit(self, node: Node) -> d.UnitOf:
        return d.UnitOf(self.string(node), span=self.span(node))

    def _integer(self, node: Node) -> d.Integer:
        return d.Integer(span=self.span(node))

    def _attribute(self, node: Node) -> d.Attribute:
        return d.Attribute(tuple(map(text_of, node.tokens("NAME"))), span=self.span(node))

    def _only(self, node: Node) -> d.Only:
        where = self.where(node)
        assert where is not None
        return d.Only(where, span=self.span(node))

    def _values(self, node: Node) -> d.Values:
        rows = (cells_of(row) for row in node.tokens("ROW"))
        source = self.parsed.source
        return d.Values(
            tuple(
                tuple(d.Cell(unquoted(c.text), span=Span(source, c.start, c.end)) for c in row)
                for row in rows
                if not is_rule(row)
            ),
            span=self.span(node),
        )

    def _bounds(self, node: Node) -> d.Bounds:
        low, high = self.expressions(node)
        return d.Bounds(low, high, where=self.where(node), span=self.span(node))

    def _bounds_given(self, node: Node) -> d.Bounds:
        return d.Bounds(None, None, where=self.where(node), span=self.span(node))

    def _each(self, node: Node) -> d.Each:
        return d.Each(text_of(self.first(node)), where=self.where(node), span=self.span(node))

    def _coalition(self, node: Node) -> d.Coalition:
        return d.Coalition(text_of(self.first(node)), span=self.span(node))

    def _knows(self, node: Node) -> d.Knows:
        return d.Knows(" ".join(map(text_of, node.tokens("NAME"))), span=self.span(node))

    def _against(self, node: Node) -> d.Against:
        return d.Against(tuple(map(text_of, node.tokens("NAME"))), span=self.span(node))

    def _level(self, node: Node) -> d.Level | d.Conditional:
        name, against = node.node("level_name"), node.node("level_against")
        assert name is not None
        (amount,) = self.expressions(node)
        kind = d.Conditional if node.kind == "conditional" else d.Level
        return kind(
            self.first(name).text,
            amount,
            against=text_of(self.first(against)) if against else None,
            where=self.where(node),
            span=self.span(node),
        )

    _conditional = _level

    def _scenarios(self, node: Node) -> d.Scenarios:
        return d.Scenarios(tuple(map(text_of, node.tokens("NAME"))), span=self.span(node))

    def _cost(self, node: Node) -> d.Cost:
        price = node.node("price")
        (amount,) = self.expressions(node)
        return d.Cost(
            amount, price=self.first(price).text if price else None, where=self.where(node), span=self.span(node)
        )

    def _method(self, node: Node) -> d.MethodChain:
        return d.MethodChain(tuple(map(self.engine, node.nodes("engine"))), span=self.span(node))

    def _assess(self, node: Node) -> d.Assess:
        names = tuple(map(text_of, node.tokens("NAME")))
        return d.Assess(names, options=self.options(node), span=self.span(node))

    def _release(self, node: Node) -> d.Release:
        return d.Release(self.file(node), span=self.span(node))

    # ---- facts ------------------------------------------------------------------------------------

    def sensitive(self, node: Node) -> d.Sensitive:
        span, because, cells = self.span(node), self.because(node), self.cells(node)
        by_rule, together, file = node.node("by_rule"), node.node("together"), node.node("from_file")
        if by_rule is not None:
            rule = by_rule.node("rule")
            assert rule is not None
            call = x.Call(text_of(self.first(rule)), self.arguments(rule), span=self.span(rule))
            cells = d.Cells(cells.table, where=self.where(by_rule), span=cells.span)
            return d.Sensitive(cells, rule=call, because=because, span=span)
        if together is not None:
            cells = d.Cells(cells.table, at=self.addresses(together), span=cells.span)
            return d.Sensitive(cells, together=True, because=because, span=span)
        if file is not None:
            return d.Sensitive(cells, file=self.file(file), because=because, span=span)
        return d.Sensitive(cells, because=because, span=span)

    def waive(self, node: Node) -> d.Waive:
        because, span = self.because(node) or "", self.span(node)
        date = node.token("DATE")
        until = self.date(date) if date is not None else None
        contributor = node.node("contributor")
        if contributor is None:
            return d.Waive(because, cells=self.cells(node), until=until, span=span)
        code = contributor.node("code")
        assert code is not None
        return d.Waive(because, role=self.first(contributor).text, code=self.code(code), until=until, span=span)

    def cells(self, node: Node) -> d.Cells:
        table = node.token("NAME")
        return d.Cells(
            text_of(table) if table else None,
            at=self.addresses(node),
            where=self.where(node),
            span=self.span(node),
        )

    def addresses(self, node: Node) -> tuple[d.Address, ...]:
        at = node.node("at")
        if at is None:
            return ()
        return tuple(
            d.Address(tuple(self.coordinate(c) for c in address.nodes("coordinate")), span=self.span(address))
            for address in at.nodes("address")
        )

    def coordinate(self, node: Node) -> tuple[str, x.Code]:
        return text_of(self.first(node)), self.codes(node)[0]

    def because(self, node: Node) -> str | None:
        reason = node.node("because")
        return self.string(reason) if reason is not None else None

    # ---- pieces -------------------------------------------------------------------------------------

    def engine(self, node: Node) -> d.Engine:
        written = text_of(self.first(node))
        method = METHODS.find(written)
        name = method.name if method is not None else written
        return d.Engine(name, options=self.options(node), written=written, span=self.span(node))

    def file(self, node: Node) -> d.FileReference:
        return self.file_after(node, self.first(node))

    def file_after(self, node: Node, format: Token) -> d.FileReference:
        path = node.token("STRING")
        assert path is not None
        span = Span(self.parsed.source, format.start, path.end)
        return d.FileReference(text_of(format), text_of(path), options=self.options(node), span=span)

    def options(self, node: Node) -> tuple[d.Option, ...]:
        block = node.node("options")
        return tuple(map(self.option, block.nodes("option"))) if block is not None else ()

    def option(self, node: Node) -> d.Option:
        return d.Option(
            text_of(self.first(node)),
            tuple(self.expressions(node)),
            where=self.where(node),
            span=self.span(node),
        )

    def _line(self, offset: int) -> int:
        return self.parsed.source.position(offset)[0]
