"""One renderer a format: diagnostics in, text out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdcdsl.diagnostics.diagnostic import Diagnostic, public


def _text(diagnostics: Iterable[Diagnostic], colour: bool) -> str:
    from sdcdsl.diagnostics.render.text import render  # noqa: PLC0415

    return render(diagnostics, colour)


def _concise(diagnostics: Iterable[Diagnostic], colour: bool) -> str:
    from sdcdsl.diagnostics.render.concise import render  # noqa: PLC0415

    return render(diagnostics)


def _json(diagnostics: Iterable[Diagnostic], colour: bool) -> str:
    from sdcdsl.diagnostics.render.json import render  # noqa: PLC0415

    return render(diagnostics)


def _github(diagnostics: Iterable[Diagnostic], colour: bool) -> str:
    from sdcdsl.diagnostics.render.github import render  # noqa: PLC0415

    return render(diagnostics)


def _sarif(diagnostics: Iterable[Diagnostic], colour: bool) -> str:
    from sdcdsl.diagnostics.render.sarif import render  # noqa: PLC0415

    return render(diagnostics)


# Imported on use: a command pays only for the format it prints.
FORMATS: dict[str, Callable[[Iterable[Diagnostic], bool], str]] = {
    "text": _text,
    "concise": _concise,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
}


def render(diagnostics: Iterable[Diagnostic], output: str = "text", colour: bool = False) -> str:
    return FORMATS[output]([public(d) for d in diagnostics], colour)
