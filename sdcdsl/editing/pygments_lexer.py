"""Policies in colour wherever Pygments is used: documents, notebooks, terminals. The parser says what each word is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

from sdcdsl.editing.colouring import coloured
from sdcdsl.editing.opened import open_text

_TOKENS: dict[str, Any] = {
    "keyword": Keyword,
    "comment": Comment.Single,
    "string": String.Double,
    "number": Number,
    "operator": Operator,
    "dimension": Name.Class,
    "data": Name.Class,
    "table": Name.Class,
    "attacker": Name.Class,
    "scenario": Name.Class,
    "protect": Name.Class,
    "param": Name.Constant,
    "alias": Name.Namespace,
    "code": Name.Constant,
    "rule": Name.Function,
    "method": Name.Function,
    "function": Name.Builtin,
    "option": Name.Attribute,
    "format": Name.Builtin,
    "quantity": Name.Variable,
    "role": Name.Attribute,
}


class SdcLexer(Lexer):
    """For `pygmentize -l sdc` and ```` ```sdc ````."""

    name = "sdc"
    aliases: ClassVar[Sequence[str]] = ["sdc"]
    filenames: ClassVar[Sequence[str]] = ["*.sdc"]
    url = ""

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        # A part of a policy is coloured as if the first line, which names the edition, stood above it.
        head = "" if text.lstrip().startswith("sdc ") else "sdc 1\n"
        opened = open_text(head + text, Path("part.sdc"))
        at = 0
        for word in coloured(opened) if opened.policy.files else ():
            start, end = word.start - len(head), word.end - len(head)
            if start < at:
                continue
            if start > at:
                yield at, Text, text[at:start]
            yield start, _TOKENS[word.kind], text[start:end]
            at = end
        if at < len(text):
            yield at, Text, text[at:]
