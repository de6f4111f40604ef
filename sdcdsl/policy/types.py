"""The types of expressions: numbers, truth, codes, percentages, times, texts.

One grammar serves them all; this is where `value and 3` or `nace > "45"` is found out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from sdcdsl.diagnostics import Diagnostic, Fix, Span, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import constant
from sdcdsl.policy.codes import known_codes
from sdcdsl.policy.document import Codes, HierarchySum, HierarchyTree, Sum
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import expression as written
from sdcdsl.registry import unloaded
from sdcdsl.vocabulary.functions import FUNCTIONS, Function
from sdcdsl.vocabulary.quantities import QUANTITIES, Place

_IF = ("if", "iif", "ifelse")  # as other programs call it


class Type(StrEnum):
    NUMBER = "a number"
    TRUTH = "a condition"
    CODE = "a code"
    PERCENT = "a percentage"
    DURATION = "a time"
    TEXT = "a text"
    UNKNOWN = "unknown"  # a mistake that has been reported, or something only the data can tell


@dataclass
class Checker:
    """Types the expressions of one statement."""

    policy: Policy
    place: Place
    dimensions: frozenset[str] | None = None  # those of the tables the statement is about; None: any
    variables: frozenset[str] = frozenset()  # columns that the data brings along
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    # ---- what a statement requires ------------------------------------------------------------

    def amount(self, e: x.Expression) -> None:
        """The expression must be a number."""
        before = len(self.diagnostics)
        found = self.type_of(e)
        if found is Type.PERCENT:
            self._percent_of_nothing(e)
            return
        if found is Type.TRUTH and isinstance(e, (x.Every, x.Some, x.Not)):
            # `cost value and 3`: the whole is no amount, so that nobody requires conditions inside it.
            self.diagnostics[before:] = [d for d in self.diagnostics[before:] if d.code != "SDC113"]
        self._must_be(Type.NUMBER, found, e)

    def condition(self, e: x.Expression | None) -> None:
        if e is not None:
            self._must_be(Type.TRUTH, self.type_of(e), e)

    # ---- types ---------------------------------------------------------------------------------

    def type_of(self, e: x.Expression) -> Type:
        match e:
            case x.Number():
                return Type.NUMBER
            case x.Percent():
                return Type.PERCENT
            case x.Text():
                return Type.TEXT
            case x.Duration():
                return Type.DURATION
            case x.Infinity():
                return self._infinity(e)
            case x.Name():
                return self._name(e)
            case x.Call():
                return self._call(e)
            case x.Negative(value):
                found = self.type_of(value)
                if found is Type.PERCENT:
                    return found
                self._must_be(Type.NUMBER, found, value)
                return Type.NUMBER
            case x.Binary():
                return self._binary(e)
            case x.Compare():
                return self._compare(e)
            case x.Member() | x.Under() | x.AtLevel():
                return self._code_test(e)
            case x.Not(value):
                self.condition(value)
                return Type.TRUTH
            case x.Every(parts) | x.Some(parts):
                for part in parts:
                    self.condition(part)
                return Type.TRUTH
            case x.Cond():
                return self._cond(e)
            case x.Range(low, high):
                self.amount(low)
                self.amount(high)
            case _:
                pass
        return Type.UNKNOWN

    def _infinity(self, e: x.Infinity) -> Type:
        if self.place is not Place.BOUNDS:
            self._report("SDC124", "`inf` stands only in the bounds of an attacker", e.span)
            return Type.UNKNOWN
        return Type.NUMBER

    def _name(self, e: x.Name) -> Type:
        if self.place is Place.RECORDS and not self._is_dimension(e.name):
            return Type.UNKNOWN  # a column of the data, whatever it is called
        quantity = QUANTITIES.get(e.name)
        if quantity is not None:
            if self.place not in quantity.places:
                allowed = ", ".join(str(p) for p in sorted(quantity.places))
                headline = f"`{e.name}` has no meaning in {self.place}"
                self._report("SDC117", headline, e.span, quantity.about, notes=[f"it can be used in: {allowed}"])
                return Type.UNKNOWN
            return Type.NUMBER
        if e.name in self.variables:
            return Type.NUMBER
        if self._is_dimension(e.name):
            self._fits_tables(e.name, e.span)
            return Type.CODE
        if self.policy.may_exist(e.name):
            return Type.UNKNOWN
        known = [n for n, q in QUANTITIES.items() if self.place in q.places]
        known += [*self.policy.dimensions, *sorted(self.variables)]
        label = did_you_mean(e.name, known)
        if e.name in FUNCTIONS:
            label = f"a function: write `{e.name}(…)`"
        elif e.name.casefold() in ("infinity", "infty", "infinite"):
            label = "write `inf`"
        elif any(s.column == e.name for t in self.policy.tables.values() for s in t.all(Sum)):
            label = "the sum in a cell is called `value`"
        self._report(
            "SDC112", f"nothing is called `{e.name}` here", e.span, label, notes=[f"known: {', '.join(known)}"]
        )
        return Type.UNKNOWN

    def _is_dimension(self, name: str) -> bool:
        if name == "cell":  # the cells of a JJ file have numbers
            return any(table.all(d.Origin) for table in self.policy.tables.values())
        # `region.kostra` is the tree `kostra` of the dimension `region`.
        return name in self.policy.dimensions or name.rpartition(".")[0] in self.policy.dimensions

    def _fits_tables(self, name: str, span: Span | None) -> None:
        base = name if name in self.policy.dimensions else name.rpartition(".")[0]
        # House rules may speak of dimensions that this policy's tables do not have: then they select nothing.
        if self.policy.is_used(span):
            return
        self._tree_exists(base, name, span)
        if self.dimensions is not None and base not in self.dimensions and base in self.policy.dimensions:
            has = listed(sorted(self.dimensions)) or "none"
            self._report("SDC101", f"no table here has the dimension `{name}`", span, notes=[f"dimensions here: {has}"])

    def _tree_exists(self, base: str, name: str, span: Span | None) -> None:
        block = self.policy.dimensions.get(base)
        if block is None or base == name or self.policy.is_damaged(block.span):
            return
        tree = name.rpartition(".")[2]
        trees = [t for t in (getattr(s, "name", None) for s in block.statements) if t]
        if tree not in trees:
            notes = [f"its trees: {listed(trees)}" if trees else "a tree gets its name where it is declared: … as NAME"]
            headline = f"dimension `{base}` has no tree `{tree}`"
            self._report("SDC101", headline, opening(span, name), did_you_mean(tree, trees), notes=notes)

    def _call(self, e: x.Call) -> Type:
        function = FUNCTIONS.get(e.name)
        if function is None and (fault := FUNCTIONS.fault(e.name)) is not None:
            self._report("SDC148", fault.headline, e.span)
            return Type.UNKNOWN
        if function is None:
            label = did_you_mean(e.name, FUNCTIONS)
            notes = [f"functions: {', '.join(FUNCTIONS)}"]
            if e.name in QUANTITIES:
                label, notes = f"`{e.name}` takes no parentheses", []
            help = "if CONDITION then AMOUNT otherwise AMOUNT" if e.name.casefold() in _IF else None
            word = opening(e.span, e.name)
            self._report("SDC115", f"there is no function `{e.name}`", word, label, notes=notes, help=help)
            return Type.UNKNOWN
        if FUNCTIONS.is_plugin(e.name) and (why := unloaded(function.of)) is not None:
            self._report("SDC148", f"the function `{e.name}` cannot be used: {why}", e.span)
            return Type.NUMBER
        count = len(e.arguments)
        if count < function.least or (function.most is not None and count > function.most):
            self._report("SDC114", f"`{e.name}` takes {_how_many(function)}, not {count}", e.span, function.about)
            return Type.NUMBER
        named = next((a for a in e.arguments if a.name), None)
        if named is not None:
            self._report("SDC114", f"the arguments of `{e.name}` have no names", named.span)
            return Type.NUMBER
        self._arguments(e, function)
        return Type.NUMBER

    def _arguments(self, e: x.Call, function: Function) -> None:
        first = e.arguments[0].value
        if function.argument == "rank":
            if not (isinstance(first, x.Number) and first.text.isdigit() and int(first.text) >= 1):
                self._report("SDC114", f"`{e.name}` takes a rank: 1, 2, …", first.span, "1 is the largest")
        elif function.argument == "dimension":
            if not isinstance(first, x.Name) or not self._is_dimension(first.name):
                name = first.name if isinstance(first, x.Name) else ""
                if not (name and self.policy.may_exist(name)):
                    label = did_you_mean(name, self.policy.dimensions) if name else ""
                    self._report("SDC114", f"`{e.name}` takes a dimension", first.span, label)
            else:
                self._fits_tables(first.name, first.span)
        else:
            for argument in e.arguments:
                self.amount(argument.value)

    def _binary(self, e: x.Binary) -> Type:
        if e.operator == "of":
            if not isinstance(e.left, x.Percent):
                self._must_be(Type.PERCENT, self.type_of(e.left), e.left)
            self.amount(e.right)
            return Type.NUMBER
        for side, other in ((e.left, e.right), (e.right, e.left)):
            found = self.type_of(side)
            if found is Type.PERCENT:
                whole = f"{written(side)} of {written(other)}" if e.operator == "*" else None
                self._percent_of_nothing(side, whole, e.span)
            else:
                self._must_be(Type.NUMBER, found, side)
        if e.operator == "/" and constant(e.right) == 0:
            self._report("SDC130", "this divides by zero", e.span)
        return Type.NUMBER

    def _cond(self, e: x.Cond) -> Type:
        self.condition(e.condition)
        then, otherwise = self.type_of(e.then), self.type_of(e.otherwise)
        for found, branch in ((then, e.then), (otherwise, e.otherwise)):
            if found is Type.PERCENT:
                self._percent_of_nothing(branch)
        if Type.PERCENT in (then, otherwise) or Type.UNKNOWN in (then, otherwise):
            return Type.UNKNOWN
        if then is not otherwise:
            headline = f"both branches must be of one kind, not {then} and {otherwise}"
            self._report("SDC113", headline, e.span)
            return Type.UNKNOWN
        return then

    def _compare(self, e: x.Compare) -> Type:
        for side, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(side, x.Name) and self._is_dimension(side.name) and side.name not in QUANTITIES:
                self._fits_tables(side.name, side.span)
                self._compare_code(e, side.name, other)
                return Type.TRUTH
        types: list[Type] = []
        for side in (e.left, e.right):
            if types == [Type.UNKNOWN] and isinstance(side, x.Name) and e.operator in ("=", "!="):
                break  # `regoin = A`: what A is a code of, nobody can tell
            found = self.type_of(side)
            if found is Type.PERCENT:
                self._compared_percent(side, e.right if side is e.left else e.left)
                found = Type.UNKNOWN
            types.append(found)
        if Type.UNKNOWN not in types:
            for found, side in zip(types, (e.left, e.right), strict=True):
                self._must_be(Type.NUMBER, found, side)
        return Type.TRUTH

    def _compare_code(self, e: x.Compare, dimension: str, other: x.Expression) -> None:
        if e.operator not in ("=", "!="):
            self._report(
                "SDC113",
                f"codes have no order: `{e.operator}` cannot compare them",
                e.span,
                help=f"{dimension} = CODE, {dimension} in (…), {dimension} under CODE or {dimension} at level N",
            )
            return
        text = code_text(other)
        if text is None:
            self._report(
                "SDC113", f"`{dimension}` is compared with a code", other.span, f"this is {self.type_of(other)}"
            )
        else:
            self._code_exists(dimension, text, other.span)

    def _code_test(self, e: x.Member | x.Under | x.AtLevel) -> Type:
        if not self._is_dimension(e.dimension):
            if not self.policy.may_exist(e.dimension):
                label = did_you_mean(e.dimension, self.policy.dimensions)
                self._report("SDC101", f"there is no dimension `{e.dimension}`", opening(e.span, e.dimension), label)
            return Type.TRUTH
        self._fits_tables(e.dimension, e.span)
        if e.dimension == "cell" and not isinstance(e, x.Member):
            self._report("SDC113", "the cells of a JJ file have numbers, and no hierarchy over them", e.span)
        elif isinstance(e, x.AtLevel):
            if e.level < 1:
                self._report("SDC113", "levels count from 1, the total", e.span)
        else:
            for code in e.codes if isinstance(e, x.Member) else (e.code,):
                self._code_exists(e.dimension, code.text, code.span)
        return Type.TRUTH

    def _code_exists(self, dimension: str, code: str, span: Span | None) -> None:
        found = missing_code(self.policy, dimension, code, span)
        if found is not None:
            self.diagnostics.append(found)

    # ---- saying it ---------------------------------------------------------------------------------

    def _must_be(self, wanted: Type, found: Type, e: x.Expression) -> None:
        if found in (wanted, Type.UNKNOWN):
            return
        help = None
        if wanted is Type.TRUTH and found is Type.NUMBER:
            help = f"compare it with something: {written(e)} > 0"
        elif wanted is Type.NUMBER and found is Type.TEXT:
            help = "numbers have no quotes"
        self._report("SDC113", f"{wanted} belongs here", e.span, f"this is {found}", help=help)

    def _percent_of_nothing(self, e: x.Expression, instead: str | None = None, over: Span | None = None) -> None:
        """`instead` is what stands for the stretch `over`, where more than the percentage changes."""
        text = instead or f"{written(e)} of value"
        span = over if instead else e.span
        fix = Fix(span, text) if span is not None else None
        headline = f"{written(e)} of what?"
        self._report("SDC123", headline, e.span, "a percentage alone is no amount", help=text, fix=fix)

    def _compared_percent(self, e: x.Expression, other: x.Expression) -> None:
        """A ratio is compared with a number, an amount with a share of something."""
        share = constant(e)
        if share is None or not (isinstance(other, x.Binary) and other.operator == "/"):
            self._percent_of_nothing(e)
            return
        headline = f"a ratio is compared with a number, not with {written(e)}"
        self._report("SDC123", headline, e.span, f"write {share:g}", fix=Fix(e.span, f"{share:g}") if e.span else None)

    def _report(
        self,
        code: str,
        headline: str,
        span: Span | None,
        label: str = "",
        *,
        notes: Iterable[str] = (),
        help: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        self.diagnostics.append(diagnostic(code, headline, span, label, notes=notes, help=help, fix=fix))


def _how_many(function: Function) -> str:
    if function.most is None:
        return f"at least {function.least} argument{'s' if function.least > 1 else ''}"
    return f"{function.most} argument{'s' if function.most > 1 else ''}"


def code_text(e: x.Expression) -> str | None:
    """The code that a bare word, a quoted text or a number stands for beside a dimension."""
    match e:
        case x.Name(name):
            return name
        case x.Text(value):
            return value
        case x.Number(text):
            return text
        case x.Code(text):
            return text
        case _:
            return None


def missing_code(policy: Policy, dimension: str, code: str, span: Span | None) -> Diagnostic | None:
    """A diagnostic if the dimension's codes stand in the policy and this is none of them."""
    block = policy.dimensions.get(dimension)
    codes = codes_of(policy, dimension)
    bare = code in policy.parameters and span is not None and span.text == code
    if block is None or (codes is None and not bare) or (codes is not None and code in codes):
        return None
    if bare:
        headline = f"beside a dimension `{code}` is a code, not the parameter"
        help = f'the parameter is written "{{{code}}}", a code of this name "{code}"'
        return diagnostic("SDC116", headline, span, help=help)
    assert codes is not None
    found = diagnostic(
        "SDC116", f"dimension `{dimension}` has no code `{code}`", span, did_you_mean(code, codes), notes=[_some(codes)]
    )
    return found.mark(block.heading, "declared here")


def codes_of(policy: Policy, dimension: str) -> frozenset[str] | None:
    """The codes of a dimension; None where a file brings them, or where they are missing or cannot be read."""
    block = policy.dimensions.get(dimension)
    if block is None or policy.is_damaged(block.span):
        return None
    said = any(isinstance(s, (Codes, HierarchySum, HierarchyTree)) for s in block.statements)
    codes = known_codes(block) if said else None
    recodes = [one for table in policy.tables.values() for one in table.all(d.Recode) if one.dimension == dimension]
    if codes is None or not recodes:
        return codes
    if any(one.file is not None for one in recodes):
        return None
    return codes.union(group.code.text for one in recodes for group in one.groups)


def opening(span: Span | None, word: str) -> Span | None:
    """The word that a stretch of text starts with, as the place to point at."""
    if span is None or not span.text.startswith(word):
        return span
    return Span(span.source, span.start, span.start + len(word))


def _some(codes: Iterable[str]) -> str:
    shown = sorted(codes)
    return f"its codes: {', '.join(shown[:12])}" + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")
