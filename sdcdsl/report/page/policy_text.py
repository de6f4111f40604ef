"""The policy's own text, line by line, with what each statement did beside the line on which it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdcdsl.diagnostics import Span
from sdcdsl.policy.files import File
from sdcdsl.report.effects import Effect
from sdcdsl.report.provenance import Provenance

MOST_LINES = 4_000  # of one file; inline tables can be long


class PolicyText:
    """The files of a policy, each once, the one that was required first."""

    def __init__(self, provenance: Provenance) -> None:
        jj = provenance.source.suffix.lower() == ".jj"  # then the policy is not a text that somebody wrote
        own = [] if jj else [file for file in provenance.policy.files if not file.again]
        self.files: list[File] = own[::-1]

    def anchor(self, span: Span | None) -> str:
        """The id of a line on the page; nothing for lines that are not shown."""
        if span is None:
            return ""
        number = next((i for i, f in enumerate(self.files) if f.parsed.source is span.source), None)
        line = span.first[0]
        return f"line-{number + 1}-{line}" if number is not None and line <= MOST_LINES else ""

    def data(self, effects: Sequence[Effect]) -> list[dict[str, Any]]:
        said: dict[str, list[str]] = {}
        for effect in effects:
            said.setdefault(self.anchor(effect.span), []).append(effect.text)
        out = []
        for number, file in enumerate(self.files, 1):
            source = file.parsed.source
            lines = [
                {
                    "number": i,
                    "id": f"line-{number}-{i}",
                    "text": source.line(i),
                    "effects": said.get(f"line-{number}-{i}", []),
                }
                for i in range(1, min(len(source.line_starts), MOST_LINES) + 1)
            ]
            while lines and not lines[-1]["text"].strip():
                lines.pop()
            left = len(source.line_starts) - MOST_LINES
            out.append({"name": file.path.name, "lines": lines, "left": max(left, 0)})
        return out
