"""`sdcdsl new`: a first policy to start from."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sdcdsl.cli import exits

STARTERS = {
    "inline": "a small table typed into the policy",
    "microdata": "tables made from a file with one row a respondent",
    "cells": "a table whose cells were made elsewhere",
    "jj": "a JJ file of τ-ARGUS or CSPLIB",
    "house-rules": "rules for a whole office, for other policies to use",
}


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "starter",
    type=click.Choice(list(STARTERS)),
    default="inline",
    show_default=True,
    help="What to start from: " + "; ".join(f"{name}: {about}" for name, about in STARTERS.items()) + ".",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
def new(file: Path, starter: str, force: bool) -> None:
    """Write a commented policy to start from. The result passes `sdcdsl check`."""
    if file.exists() and not force:
        click.echo(f"{file} is there already; --force overwrites it", err=True)
        sys.exit(exits.USAGE)
    text = (Path(__file__).parent / "starters" / f"{starter}.sdc").read_text(encoding="utf-8")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        click.echo(f"cannot write {file}: {error.strerror}", err=True)
        sys.exit(exits.USAGE)
    click.echo(f"wrote {file}: {STARTERS[starter]}\nnext: sdcdsl check {file}", err=True)
