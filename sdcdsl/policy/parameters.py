"""Parameters: values with a name, declared once and set anew for a run (`--set year=2026`).

A parameter stands in a text between braces, `"turnover-{year}.csv"`, and in an amount by its name,
`lpl share of value`. A text that is nothing but `"{year}"` is the value itself, so that `only where year = "{year}"`
compares numbers. All are put in before anything is resolved or checked: what follows sees a policy in which the values
are written. A document as it was read has its texts as they are written, with braces.

In `only where` a bare name is a column, and beside a dimension it is a code: a parameter stands in quotes there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, cast

from sdcdsl.diagnostics import Diagnostic, FilePlace, Span, diagnostic, did_you_mean, listed
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.files import File
from sdcdsl.record import Record, record
from sdcdsl.syntax.grammar import tables
from sdcdsl.vocabulary.quantities import QUANTITIES

_BRACED = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_UNTOUCHED = frozenset({"span", "heading", "documentation", "written"})
LONGEST_VALUE = 1000  # characters

Literal = x.Number | x.Percent | x.Text | x.Duration | x.Negative


@record
class Parameter(Record):
    """A parameter of the policy by its whole name, with the value it has in this run."""

    name: str
    value: Literal
    declared: Literal
    span: Span | None = field(default=None, compare=False, kw_only=True)

    @property
    def kind(self) -> str:
        return kind_of(self.declared)

    @property
    def text(self) -> str:
        """As it stands in a text, and as `--set` takes it."""
        return text_of(self.value)


def kind_of(value: x.Expression) -> str:
    match value:
        case x.Negative(inner):
            return kind_of(inner)
        case x.Number(text):
            return "a whole number" if text.isdigit() else "a number"
        case x.Percent():
            return "a percentage"
        case x.Duration():
            return "a time"
        case _:
            return "a text"


def text_of(value: x.Expression) -> str:
    match value:
        case x.Negative(inner):
            return f"-{text_of(inner)}"
        case x.Number(text) | x.Text(text):
            return text
        case x.Percent(text):
            return f"{text}%"
        case x.Duration(text, unit):
            return f"{text} {unit}"
        case _:
            raise TypeError(f"no value of a parameter: {value!r}")


def parsed(text: str, like: Literal) -> Literal | None:
    """The value that `--set` gives, of the kind of the declared one; None where it is not of that kind."""
    if isinstance(like, x.Text):
        odd = len(text) > LONGEST_VALUE or any(unicodedata.category(c) in ("Cc", "Cs", "Cn") for c in text)
        return None if odd else x.Text(unicodedata.normalize("NFC", text))
    text = text.strip()
    negative, digits = text.startswith("-"), text.removeprefix("-")
    patterns = tables().patterns
    if len(digits) > 40:
        return None
    match like:
        case x.Percent():
            return x.Percent(digits[:-1]) if not negative and re.fullmatch(patterns["PERCENT"], digits) else None
        case x.Duration():
            number = re.match(r"[0-9.]+", digits)
            if negative or number is None or not re.fullmatch(patterns["DURATION"], digits):
                return None
            return x.Duration(number.group(), digits[number.end() :].strip())
        case _:
            whole = kind_of(like) == "a whole number"
            fits = re.fullmatch(patterns["INT"], digits) or (not whole and re.fullmatch(patterns["NUMBER"], digits))
            return None if not fits else x.Negative(x.Number(digits)) if negative else x.Number(digits)


# ---- which there are, and what they are worth --------------------------------------------------------------


@dataclass
class Parameters:
    """Those of all files of a policy, by their whole names, and what was found to be wrong with them."""

    known: dict[str, Parameter] = field(default_factory=dict[str, Parameter])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    used: set[str] = field(default_factory=set[str])
    missing: frozenset[str] = frozenset()  # prefixes of files that could not be read
    unreadable: frozenset[str] = frozenset()  # words in text that could not be read

    def may_exist(self, name: str) -> bool:
        """Does the name stand in a part of the text, or in a file, that could not be read?"""
        return name in self.unreadable or any(not p or name.startswith(f"{p}.") for p in self.missing)

    def in_file(self, prefix: str, name: str) -> Parameter | None:
        found = self.known.get(f"{prefix}.{name}" if prefix else name)
        if found is not None:
            self.used.add(found.name)
        return found


def declared(
    files: Sequence[File], settings: Mapping[str, str], unreadable: frozenset[str] = frozenset()
) -> Parameters:
    """The parameters of these files; `settings` has the values of this run by their whole names."""
    made = Parameters(missing=files[-1].missing if files else frozenset(), unreadable=unreadable)
    for file in files:
        taken = _taken(files, file.prefix)
        for item in file.document.all(d.Param):
            if item.name:
                _declare(made, item, f"{file.prefix}.{item.name}" if file.prefix else item.name, taken)
        for period in file.document.all(d.Period):
            said = ((period.name, period.now), ("previous", period.previous))
            for name, text in said:
                whole = f"{file.prefix}.{name}" if file.prefix else name
                if name and text is not None:
                    _declare(made, d.Param(name, text, span=period.span), whole, taken)
                    made.used.add(whole)  # files may do without it
    for name, text in settings.items():
        _set(made, files, name, text)
    return made


def _declare(made: Parameters, item: d.Param, name: str, taken: Mapping[str, str]) -> None:
    before = made.known.get(name)
    if before is not None:
        found = diagnostic("SDC100", f"parameter `{item.name}` is declared twice", item.span)
        made.diagnostics.append(found.mark(before.span, "declared here first"))
        return
    if "." in item.name:
        headline = f"a name that is declared has no dot: `{item.name}`"
        made.diagnostics.append(diagnostic("SDC026", headline, item.span))
    elif item.name in taken:
        headline = f"a parameter cannot be called `{item.name}`: {taken[item.name]}"
        made.diagnostics.append(diagnostic("SDC120", headline, item.span, help="choose another name"))
    made.known[name] = Parameter(name, item.value, item.value, span=item.span)


def _taken(files: Iterable[File], prefix: str) -> dict[str, str]:
    """Names that mean something else where a parameter may stand."""
    out = {name: f"every cell has a `{name}`" for name in QUANTITIES}
    for file in files:
        if file.prefix == prefix:
            for block in file.document.all(d.Block):
                if block.kind == "dimension":
                    out[block.name] = "a dimension has this name"
                out |= {c.role: "a column of the data plays a role of this name" for c in block.all(d.Column)}
    return out


def _set(made: Parameters, files: Sequence[File], name: str, text: str) -> None:
    place = FilePlace(files[-1].parsed.source.name) if files else None
    known = made.known.get(name)
    if known is None:
        near = did_you_mean(name, made.known)
        notes = [f"its parameters: {listed(made.known)}" if made.known else "the policy declares none"]
        found = diagnostic("SDC149", f"the policy has no parameter `{name}` to set", place, near, notes=notes)
        made.diagnostics.append(found)
        return
    value = parsed(text, known.declared)
    if value is None:
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        headline = f"parameter `{name}` is {known.kind}, and was set to `{shown}`"
        help = f"--set {name}={text_of(known.declared)}"
        found = diagnostic("SDC150", headline, known.span, "its kind is that of the value declared here", help=help)
        made.diagnostics.append(found)
        return
    made.known[name] = replace(known, value=value)


# ---- put in ------------------------------------------------------------------------------------------------


def inserted(file: File, parameters: Parameters) -> File:
    """The file with values where its parameters stood."""
    names = [p.rpartition(".")[2] if not file.prefix else p.removeprefix(f"{file.prefix}.") for p in parameters.known]
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    anything = re.compile(rf"[{{}}]|(?<!\w)(?:{words})(?!\w)" if words else r"[{}]")
    if not anything.search(file.parsed.source.text):
        return file
    inserting = _Inserting(file, parameters)
    items: list[d.Item] = []
    for item in file.document.items:
        span = item.span
        touched = span is None or anything.search(span.source.text, span.start, span.end)
        items.append(inserting.item(item) if touched else item)
    return replace(file, document=replace(file.document, items=tuple(items)))


class _Inserting:
    def __init__(self, file: File, parameters: Parameters):
        self.prefix, self.parameters = file.prefix, parameters
        blocks = file.document.all(d.Block)
        self.dimensions = {b.name for b in blocks if b.kind == "dimension"}
        self.dimensions |= {name for b in blocks for by in b.all(d.By) for name in by.dimensions}
        self.place: Span | None = None

    def item(self, item: d.Item) -> d.Item:
        if isinstance(item, d.Param):
            if any(sign in text_of(item.value) for sign in "{}"):
                self.place = item.span
                self._braces("the value of a parameter is plain text", text_of(item.value))
            return item
        return item if isinstance(item, (d.Use, d.Period)) else self.value(item)

    def value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            parts = cast(tuple[Any, ...], value)
            made = tuple(map(self.value, parts))
            return parts if all(a is b for a, b in zip(made, parts, strict=True)) else made
        if isinstance(value, str):
            return self.text(value) if "{" in value or "}" in value else value
        if not is_dataclass(value) or isinstance(value, (Span, type, d.Values)):
            return value
        if isinstance(value, x.Located) and value.span is not None:
            self.place = value.span
        match value:
            case d.Only(where):
                return replace(value, where=self.of_records(where))
            case x.Name(name):
                found = self.parameters.in_file(self.prefix, name)
                return replace(found.value, span=value.span) if found is not None else value
            case x.Text(text) if (whole := _BRACED.fullmatch(text)) is not None and whole.group(1) is not None:
                found = self.named(whole.group(1).strip(), whole.group())
                return replace(found.value, span=value.span) if found is not None else value
            case x.Compare("=" | "!=", x.Name(left), x.Name()) if left.partition(".")[0] in self.dimensions:
                return value  # a dimension and a code of it
            case x.Compare("=" | "!=", x.Name(), x.Name(right)) if right.partition(".")[0] in self.dimensions:
                return value
            case _:
                return self.fields(value)

    def fields(self, value: Any) -> Any:
        changes = {}
        for f in fields(value):
            if f.name not in _UNTOUCHED:
                old = getattr(value, f.name)
                new = self.value(old)
                if new is not old:
                    changes[f.name] = new
        return replace(value, **changes) if changes else value

    def of_records(self, e: Any) -> Any:
        """Names are columns; a parameter that stands without quotes where a column is compared with it is a slip."""
        if isinstance(e, x.Compare) and isinstance(e.right, x.Name):
            name = e.right.name
            if (f"{self.prefix}.{name}" if self.prefix else name) in self.parameters.known:
                headline = f"in `only`, `{name}` is a word of the data, not the parameter"
                help = f'the parameter is written in quotes and braces: "{{{name}}}"'
                self.parameters.diagnostics.append(diagnostic("SDC112", headline, e.right.span, help=help))
        if isinstance(e, tuple):
            return tuple(self.of_records(one) for one in cast(tuple[Any, ...], e))
        if isinstance(e, x.Name) or not is_dataclass(e) or isinstance(e, (Span, type)):
            return e
        if isinstance(e, (x.Text, x.Code)):
            return self.value(e)
        changes = {f.name: self.of_records(getattr(e, f.name)) for f in fields(e) if f.name not in _UNTOUCHED}
        return replace(e, **{name: new for name, new in changes.items() if new is not getattr(e, name)})

    # ---- texts -----------------------------------------------------------------------------------------

    def text(self, text: str) -> str:
        def put(match: re.Match[str]) -> str:
            sign = match.group()
            if sign in ("{{", "}}"):
                return sign[0]
            if match.group(1) is None:
                self._braces(f"a `{sign}` alone", text)
                return sign
            found = self.named(match.group(1).strip(), sign)
            return sign if found is None else text_of(found.value)

        return _BRACED.sub(put, text)

    def named(self, name: str, written: str) -> Parameter | None:
        found = self.parameters.in_file(self.prefix, name)
        if found is not None or self.parameters.may_exist(name):
            return found
        if not _NAME.fullmatch(name):
            self._braces(f"`{written}` names no parameter", written)
            return None
        known = [p.removeprefix(f"{self.prefix}.") if self.prefix else p for p in self.parameters.known]
        notes = [f"its parameters: {listed(known)}"] if known else ["the policy declares no parameter at all"]
        help = f"braces that are meant as they are: {{{written}}}"
        near = did_you_mean(name, known)
        found_ = diagnostic(
            "SDC149", f"there is no parameter `{name}`", self._at(written), near, notes=notes, help=help
        )
        self.parameters.diagnostics.append(found_)
        return None

    def _braces(self, what: str, text: str) -> None:
        help = "a parameter stands in braces, {year}; a brace that is meant as it is, is doubled: {{"
        self.parameters.diagnostics.append(diagnostic("SDC151", what, self._at(text), help=help))

    def _at(self, written: str) -> Span | None:
        """The words inside the statement that is being read."""
        span = self.place
        if span is None:
            return None
        start = span.source.text.find(written, span.start, span.end)
        return span if start < 0 else Span(span.source, start, start + len(written))


def as_it_is(value: Any) -> Any:
    """What somebody else has named, to be written into a policy: braces in its texts are doubled."""
    if isinstance(value, tuple):
        return tuple(map(as_it_is, cast(tuple[Any, ...], value)))
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if not is_dataclass(value) or isinstance(value, (Span, type, d.Values)):
        return value
    return replace(
        value, **{f.name: as_it_is(getattr(value, f.name)) for f in fields(value) if f.name not in _UNTOUCHED}
    )
