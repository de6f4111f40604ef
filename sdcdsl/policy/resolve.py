"""Documents to one policy: names made whole, overrides appended, facts in order.

R2: `override X { … }` appends to X's statements. Facts only accumulate. Names of a file used `as office` get
`office.` in front of them, in the file itself and in what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from sdcdsl.diagnostics import Diagnostic, Span, diagnostic, did_you_mean
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.files import File
from sdcdsl.policy.likeness import like_others
from sdcdsl.policy.parameters import Parameter, Parameters, declared, inserted
from sdcdsl.policy.period import consistent
from sdcdsl.policy.qualify import DeclaredNames, names_of, qualified

_F = TypeVar("_F", bound=x.Located)

KINDS = ("dimension", "data", "table", "attacker", "scenario", "protect")


@dataclass(frozen=True)
class Policy:
    """What is said, by all files together. Every statement still knows the line that says it."""

    title: str | None = None
    seed: int | None = None
    period: d.Period | None = None
    blocks: Mapping[str, Mapping[str, d.Block]] = field(default_factory=dict[str, Mapping[str, d.Block]])
    facts: tuple[d.Fact, ...] = ()
    overrides: tuple[d.Block, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict[str, Parameter])
    unused: frozenset[str] = field(default=frozenset(), compare=False, repr=False)  # parameters that nothing names
    files: tuple[File, ...] = field(default=(), compare=False, repr=False)
    unreadable: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    doubtful: tuple[Span, ...] = field(default=(), compare=False, repr=False)  # headings of what is declared twice

    @property
    def dimensions(self) -> Mapping[str, d.Block]:
        return self.blocks["dimension"]

    @property
    def data(self) -> Mapping[str, d.Block]:
        return self.blocks["data"]

    @property
    def tables(self) -> Mapping[str, d.Block]:
        return self.blocks["table"]

    @property
    def attackers(self) -> Mapping[str, d.Block]:
        return self.blocks["attacker"]

    @property
    def scenarios(self) -> Mapping[str, d.Block]:
        return self.blocks["scenario"]

    @property
    def protects(self) -> Mapping[str, d.Block]:
        return self.blocks["protect"]

    def facts_of(self, kind: type[_F]) -> tuple[_F, ...]:
        return tuple(f for f in self.facts if isinstance(f, kind))

    def is_damaged(self, span: Span | None) -> bool:
        """Was something inside this stretch of text unreadable, or is it declared twice?"""
        if span is None:
            return False
        if any(s.source is span.source and span.start <= s.start < span.end for s in self.doubtful):
            return True
        return any(f.parsed.source is span.source and f.parsed.is_damaged(span.start, span.end) for f in self.files)

    @cached_property
    def nameless(self) -> frozenset[str]:
        """Kinds of block of which one has a name that could not be read: it may be the one that is missing."""
        return frozenset(b.kind for f in self.files for b in f.document.all(d.Block) if not b.name)

    @cached_property
    def _by_last_word(self) -> dict[tuple[str, str], str]:
        out: dict[tuple[str, str], str] = {}
        for kind, blocks in self.blocks.items():
            for full in blocks:
                if "." in full:
                    out.setdefault((kind, full.rpartition(".")[2]), full)
        return out

    def prefixed(self, kind: str, name: str) -> str | None:
        """The name of a used file that ends in this word."""
        return self._by_last_word.get((kind, name))

    def is_used(self, span: Span | None) -> bool:
        """Does this stand in a file that the policy uses, and not in the policy's own?"""
        return span is not None and bool(self.files) and span.source is not self.files[-1].parsed.source

    def may_exist(self, name: str) -> bool:
        """Does the name stand in a part of the text that could not be read? Then nobody can say it is unknown."""
        missing = self.files[-1].missing if self.files else frozenset[str]()
        if any(not prefix or name == prefix or name.startswith(f"{prefix}.") for prefix in missing):
            return True  # it may stand in a file that could not be read
        return not name or name.rsplit(".", 1)[-1] in self.unreadable


def resolve(files: Sequence[File], settings: Mapping[str, str] | None = None) -> tuple[Policy, list[Diagnostic]]:
    """`settings`: values of parameters for this run, by their whole names."""
    parameters = declared(files, settings or {}, frozenset(_unreadable(files)))
    written, files = files, [inserted(file, parameters) for file in files]
    resolving = _Resolving()
    names = names_of(files)
    for file in files:
        resolving.declare(file, names[file.prefix])
    for file in files:
        resolving.append_overrides(file)
    policy = resolving.policy(written, parameters)
    unknown = [_nothing_to_override(b, policy) for b in resolving.strays if not policy.may_exist(b.name)]
    return policy, [*parameters.diagnostics, *resolving.diagnostics, *unknown]


class _Resolving:
    def __init__(self) -> None:
        self.blocks: dict[str, dict[str, d.Block]] = {kind: {} for kind in KINDS}
        self.facts: list[d.Fact] = []
        self._said: set[d.Fact] = set()
        self._looked_at = 0
        self.overrides: list[d.Block] = []
        self.strays: list[d.Block] = []  # overrides of what nobody declared
        self.titles: list[d.Title] = []
        self.seeds: list[d.Seed] = []
        self.periods: list[d.Period] = []
        self.diagnostics: list[Diagnostic] = []
        self.qualified: dict[int, tuple[d.Item, ...]] = {}
        self.doubtful: list[Span | None] = []  # declared twice: nobody can say which one is meant

    def declare(self, file: File, names: DeclaredNames) -> None:
        items = tuple(qualified(file, names))
        self.qualified[id(file)] = items
        self._once(file, d.Title, "title")
        self._once(file, d.Seed, "seed")
        self._once(file, d.Period, "period")
        self.periods += file.document.all(d.Period) if not file.prefix else ()
        self._aliases(file)
        if file.used_at is None:
            self.titles += file.document.all(d.Title)
        self.seeds += file.document.all(d.Seed)
        # A file that is used under two names says its general facts twice, and those about its own tables once each.
        known = self._said_before() if file.again else set[d.Fact]()
        for item in items:
            if isinstance(item, d.Block) and not item.override:
                self._block(item)
            elif isinstance(item, d.Fact) and item not in known:
                self.facts.append(item)

    def _said_before(self) -> set[d.Fact]:
        """The facts of the files so far; each is looked at once, however many files follow."""
        self._said.update(self.facts[self._looked_at :])
        self._looked_at = len(self.facts)
        return self._said

    def _block(self, block: d.Block) -> None:
        known = self.blocks[block.kind]
        if not block.name:
            return
        if block.name in known:
            first = known[block.name].heading
            help = f"override {block.kind} {block.name} {{ … }} adds to it"
            if block.kind == "protect":
                help = f"give one of them a name: protect {', '.join(block.tables)} as NAME {{"
            found = diagnostic("SDC100", f"{block.kind} `{block.name}` is declared twice", block.heading, help=help)
            self.diagnostics.append(found.mark(first, "declared here first"))
            self.doubtful += [known[block.name].heading, block.heading]
        known[block.name] = block  # what follows was written with the last one in mind

    def _once(self, file: File, kind: type[d.Title | d.Seed | d.Period], what: str) -> None:
        said = file.document.all(kind)
        for again in said[1:]:
            found = diagnostic("SDC143", f"a policy has one {what}", again.span, "said again here")
            self.diagnostics.append(found.mark(said[0].span, "said here first"))

    def _aliases(self, file: File) -> None:
        names: dict[str, d.Use | d.Block] = {b.name: b for b in file.document.all(d.Block) if not b.override}
        for use in file.document.all(d.Use):
            if use.alias is None:
                continue
            other = names.get(use.alias)
            if other is not None and other.span is not None:
                place = other.heading if isinstance(other, d.Block) else other.span
                found = diagnostic("SDC120", f"`{use.alias}` names two things in this file", use.span)
                self.diagnostics.append(found.mark(place or other.span, "and this"))
            names[use.alias] = use

    def append_overrides(self, file: File) -> None:
        for item in self.qualified[id(file)]:
            if isinstance(item, d.Block) and item.override:
                self._override(item)

    def _override(self, block: d.Block) -> None:
        known = self.blocks[block.kind]
        name = block.name
        if name not in known:
            self.strays.append(block)
            return
        self.overrides.append(block)
        known[name] = replace(known[name], statements=known[name].statements + block.statements)

    def policy(self, files: Sequence[File], parameters: Parameters) -> Policy:
        period = self.periods[-1] if self.periods else None
        protects, found = like_others(self.blocks["protect"], parameters.unreadable)
        self.diagnostics += found
        self.doubtful += [one.place for one in found if isinstance(one.place, Span)]
        self.blocks["protect"] = consistent(protects, period, parameters.known)
        return Policy(
            title=self.titles[0].text if self.titles else None,
            seed=self.seeds[-1].number if self.seeds else None,
            period=period,
            blocks=self.blocks,
            facts=tuple(self.facts),
            overrides=tuple(self.overrides),
            parameters=parameters.known,
            unused=frozenset(parameters.known) - parameters.used,
            files=tuple(files),
            unreadable=parameters.unreadable,
            doubtful=tuple(filter(None, self.doubtful)),
        )


def _nothing_to_override(block: d.Block, policy: Policy) -> Diagnostic:
    name, known = block.name, policy.blocks[block.kind]
    prefixed = policy.prefixed(block.kind, name)
    label = f"did you mean `{prefixed}`?" if prefixed else did_you_mean(name, known)
    other = next((kind for kind in KINDS if name in policy.blocks[kind]), None)
    notes = [f"`{name}` is declared as {'an' if other[0] == 'a' else 'a'} {other}"] if other else []
    return diagnostic("SDC119", f"there is no {block.kind} `{name}` to override", block.heading, label, notes=notes)


def _unreadable(files: Sequence[File]) -> Iterator[str]:
    for file in files:
        if file.parsed.damaged:
            for token in file.parsed.tokens:
                if file.parsed.is_damaged(token.start, max(token.end, token.start + 1)):
                    yield token.text
