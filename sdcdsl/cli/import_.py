"""`sdcdsl import`: files of τ-ARGUS, and data structures of SDMX, become a policy."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo, echo_document
from sdcdsl.cli.reading import colour_option, json_option, say_document, wants_colour
from sdcdsl.diagnostics import has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.syntax.automaton import RESERVED

NOTHING = {"policy": None, "written": None}


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="Write the policy to this file.")
@click.option("--force", is_flag=True, help="Overwrite the file if it is there.")
@click.option("--dimensions", metavar="A,B", help="The dimensions of the cells in a .hst file, in its order.")
@click.option("--table", metavar="NAME", help="The table that a .hst file is about; any that fits, if not given.")
@click.option("--encoding", metavar="NAME", help="The text encoding of the source, such as cp1252; UTF-8 if not given.")
@json_option
@colour_option
def import_(
    source: Path,
    target: Path | None,
    force: bool,
    dimensions: str | None,
    table: str | None,
    encoding: str | None,
    as_document: bool,
    colour: bool | None,
) -> None:
    """Turn a τ-ARGUS batch file (.arb), a JJ file (.jj), an a-priori file (.hst) or an SDMX data structure (.xml)
    into a policy.

    The policy is printed, or written with -o. A warning names each thing that could not be carried over, with its
    line and what to do by hand. Exit code 3: the source is malformed.
    """
    from sdcdsl.importing import ENDINGS, ImportOptions, policy_from  # noqa: PLC0415

    ending = source.suffix.lower()
    if ending not in ENDINGS:
        raise click.UsageError(f"only {', '.join(ENDINGS)} can be imported, not {source.name}")
    names = _names(ending, dimensions, table)
    if target is not None and target.exists():
        if source.exists() and target.samefile(source):
            raise click.UsageError("the policy would overwrite its source")
        if not force:
            echo(f"{target} is there already; --force overwrites it", err=True)
            sys.exit(exits.USAGE)
    folder = target.parent if target is not None else None
    text, found = policy_from(source, ImportOptions(folder, names, table, encoding))
    if as_document:
        code = exits.WRONG_DATA if text is None or has_errors(found) else exits.DONE
        if code == exits.DONE and target is not None:
            _write(target, text or "")
        done = code == exits.DONE
        say_document(
            {"policy": text if done else None, "written": str(target) if done and target else None}, found, code
        )
        sys.exit(code)
    if found:
        echo(render(found, "text", wants_colour(colour, sys.stderr)), nl=False, err=True, colour=True)
    if text is None or has_errors(found):
        sys.exit(exits.WRONG_DATA)
    if target is None:
        echo_document(text)
        return
    _write(target, text)
    echo(f"wrote {target}\nnext: sdcdsl check {target}", err=True)


def _write(target: Path, text: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        echo(f"cannot write {target}: {error.strerror}", err=True)
        sys.exit(exits.USAGE)


def _names(ending: str, dimensions: str | None, table: str | None) -> list[str]:
    if ending != ".hst":
        if dimensions is not None or table is not None:
            raise click.UsageError("--dimensions and --table are for .hst files, which name neither")
        return []
    if not dimensions:
        raise click.UsageError("a .hst file does not name its dimensions: --dimensions region,size")
    names = [name.strip() for name in dimensions.split(",")]
    for name in [*names, *([table] if table is not None else [])]:
        if not re.fullmatch(r"[^\W\d]\w*", name) or name in RESERVED:
            raise click.UsageError(f"`{name}` cannot be the name of a dimension or table")
    if len(set(names)) < len(names):
        raise click.UsageError("--dimensions names one of them twice")
    return names
