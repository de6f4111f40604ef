"""`sdcdsl new`: a first policy to start from."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo

STARTERS = {
    "inline": "a small table typed into the policy",
    "microdata": "tables made from a file with one row a respondent",
    "cells": "a table whose cells were made elsewhere",
    "jj": "a JJ file of τ-ARGUS or CSPLIB",
    "house-rules": "rules for a whole office, for other policies to use",
}
# House rules that come along; in a checkout they stand with the other specs.
LIBRARY = {
    "library/threshold-and-p": "house rules: too few contributors, or one can estimate another",
    "library/dominance": "house rules: a few contributors make up most of a cell",
    "library/internal-attackers": "house rules: contributors who know their own part",
    "library/informed-competitor": "house rules: competitors who know the market",
    "library/frequency-tables": "house rules: tables of counts",
    "library/strict": "house rules: the strictest of these together",
}


def _text(starter: str) -> str:
    here = Path(__file__).parent
    if starter in STARTERS:
        return (here / "starters" / f"{starter}.sdc").read_text(encoding="utf-8")
    name = starter.rpartition("/")[2]
    inside = here.parent / "library"
    folder = inside if inside.is_dir() else here.parent.parent / "specs" / "library"
    return (folder / f"{name}.sdc").read_text(encoding="utf-8")


def _write_used(folder: Path, text: str) -> None:
    """House rules that build on others bring them along, unless a file of that name is there."""
    for name in re.findall(r'^use "([\w-]+)\.sdc"', text, re.MULTILINE):
        beside = folder / f"{name}.sdc"
        if f"library/{name}" in LIBRARY and not beside.exists():
            beside.write_text(_text(f"library/{name}"), encoding="utf-8", newline="\n")
            echo(f"wrote {beside}, which it uses", err=True)


def _help() -> str:
    names = STARTERS | LIBRARY
    width = max(map(len, names))
    listed = "\n".join(f"  {name:{width}}  {about}" for name, about in names.items())
    about = "Write a commented policy to start from. The result passes `sdcdsl check`."
    return f"{about}\n\n\b\nWhat to start from:\n{listed}"


@click.command(help=_help())
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "starter",
    type=click.Choice([*STARTERS, *LIBRARY]),
    default="inline",
    show_default=True,
    metavar="NAME",
    help="What to start from, one of the list above.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
def new(file: Path, starter: str, force: bool) -> None:
    if file.exists() and not force:
        echo(f"{file} is there already; --force overwrites it", err=True)
        sys.exit(exits.USAGE)
    text = _text(starter)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        _write_used(file.parent, text)
    except OSError as error:
        echo(f"cannot write {file}: {error.strerror}", err=True)
        sys.exit(exits.USAGE)
    echo(f"wrote {file}: {(STARTERS | LIBRARY)[starter]}\nnext: sdcdsl check {file}", err=True)
