"""The one place that prints. Whatever a command says passes here, and nothing that others wrote reaches the terminal as
an instruction to it (`diagnostics/foreign.py`).

Our own colours are the only escape sequences that pass, and only in text whose foreign parts were made visible where
they were painted.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import IO, Any

import click

from sdcdsl.diagnostics.foreign import json_text, visible

VERSION = 1  # of the documents; it grows when a key goes or changes its meaning
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


def echo(
    text: object = "", *, err: bool = False, nl: bool = True, colour: bool = False, file: IO[Any] | None = None
) -> None:
    """`colour`: the text was painted by us."""
    said = str(text)
    if colour:
        parts = _COLOUR.split(said)  # every second one is a colour
        parts[::2] = [visible(part, lines=True) for part in parts[::2]]
        said = "".join(parts)
    else:
        said = visible(said, lines=True)
    click.echo(said, file, nl=nl, err=err, color=True if colour else None)


def versioned(document: Mapping[str, Any]) -> dict[str, Any]:
    """A command's document as `schemas/` describes it: which schema, what was found, and the exit code."""
    name = f"sdcdsl-{click.get_current_context().info_name}/{VERSION}"
    ends = {"diagnostics": document.get("diagnostics", []), "exit": document.get("exit", 0)}
    return {"schema": name, **{key: value for key, value in document.items() if key not in ends}, **ends}


def echo_json(document: Mapping[str, Any]) -> None:
    click.echo(json_text(versioned(document)))


def echo_event(event: Any) -> None:
    """On one line of standard error."""
    click.echo(json_text(event, indent=None), err=True)


def echo_document(text: str) -> None:
    """A policy, to a pipe or a file as it is: whoever reads it there is a program, and wants the codes of the data."""
    echo(text, nl=False) if sys.stdout.isatty() else click.echo(text, nl=False)


def echo_in_place(text: str = "") -> None:
    """A line on the terminal that the next one takes the place of; without text, that of nothing."""
    click.echo(f"\r{visible(text)}" if text else "\r\x1b[K", nl=False, err=True)
