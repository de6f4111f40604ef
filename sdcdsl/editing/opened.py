"""A policy as it stands in an editor: its text, what was understood of it, and what is wrong with it."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, Source, has_errors, in_reading_order
from sdcdsl.policy.files import File
from sdcdsl.policy.lint import lint
from sdcdsl.policy.read import read_text
from sdcdsl.policy.resolve import Policy
from sdcdsl.syntax.tree import Node, Parsed, Token


@dataclass(frozen=True, eq=False)
class Opened:
    """One file with all it uses. `path` says where its `use` lines start from."""

    path: Path
    source: Source
    policy: Policy
    mistakes: list[Diagnostic]

    @property
    def file(self) -> File:
        """The file itself; those it uses come before it."""
        return self.policy.files[-1]

    @property
    def parsed(self) -> Parsed:
        return self.file.parsed

    def diagnostics(self, today: datetime.date) -> list[Diagnostic]:
        """Mistakes; advice where there are none."""
        if has_errors(self.mistakes):
            return self.mistakes
        return in_reading_order([*self.mistakes, *lint(self.policy, today)])

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.parsed.tokens]

    def token_at(self, offset: int) -> Token | None:
        """The token that covers a place, or ends there."""
        place = bisect_right(self._starts, offset) - 1
        for at in (place, place - 1):  # of `a,` the comma begins where `a` ends: a word goes before a sign
            if at >= 0:
                token = self.parsed.tokens[at]
                if token.start <= offset <= token.end and (token.text[:1].isalnum() or token.text[:1] in '"_'):
                    return token
        return self.parsed.tokens[place] if place >= 0 and offset < self.parsed.tokens[place].end else None

    def nodes_at(self, start: int, end: int) -> list[Node]:
        """The nodes that cover a stretch of text, from the whole file down to the smallest."""
        out: list[Node] = []
        node: Node | None = self.parsed.tree
        while node is not None:
            out.append(node)
            node = next((n for n in node.nodes() if n.start <= start and end <= n.end), None)
        return out


def open_text(text: str, path: Path, name: str | None = None, others: Mapping[Path, str] | None = None) -> Opened:
    """`others`: texts of other files as they stand in the editor, by their real paths."""
    source = Source(name or str(path), text.replace("\r\n", "\n").replace("\r", "\n"))
    policy, mistakes = read_text(source, path, others=others)
    return Opened(path, source, policy, mistakes)
