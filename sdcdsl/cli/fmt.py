"""`sdcdsl fmt`: the canonical form."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo, echo_document
from sdcdsl.cli.reading import colour_option, expand, files_argument, json_option, say, say_document
from sdcdsl.cli.replacing import replace_text
from sdcdsl.diagnostics import Diagnostic, Source
from sdcdsl.policy.files import LARGEST_FILE, decode, read_file
from sdcdsl.syntax.formatter import format_text
from sdcdsl.syntax.parser import parse


@click.command()
@files_argument
@click.option("--check", is_flag=True, help="Change nothing; exit with 7 if a file is not in canonical form.")
@click.option("--diff", "show_diff", is_flag=True, help="Change nothing; print what would change.")
@json_option
@colour_option
def fmt(files: tuple[str, ...], check: bool, show_diff: bool, as_document: bool, colour: bool | None) -> None:
    """Lay policies out in the one canonical form, in place. There are no options for style.

    FILE is a .sdc file, a folder (all policies below it), or - to read standard input and print the result.
    Files with syntax errors are left as they are.
    """
    if as_document and (show_diff or (not check and "-" in files)):
        raise click.UsageError("--json names the files; without --diff, and with --check for standard input")
    wrong: list[Diagnostic] = []
    changed: list[Path] = []
    for path in expand(files):
        source, found = _read(path)
        if source is None:
            wrong += found
            continue
        parsed, found = parse(source)
        if found:
            wrong += found
            continue
        text = format_text(parsed)
        if str(path) == "-" and not (check or show_diff):
            echo_document(text)
            continue
        if text == source.text and not _other_line_ends(path):
            continue
        changed.append(path)
        if show_diff:
            _print_diff(source, text)
        elif not check:
            wrong += replace_text(path, text)
    code = exits.WRONG_POLICY if wrong else exits.CHANGES if changed and (check or show_diff) else exits.DONE
    if as_document:
        say_document({"changed": [str(path) for path in changed], "written": not check}, wrong, code)
        sys.exit(code)
    say(wrong, "text", colour)
    for path in changed:
        echo(f"{'would format' if check or show_diff else 'formatted'} {path}", err=True)
    sys.exit(code)


def _read(path: Path) -> tuple[Source | None, list[Diagnostic]]:
    if str(path) == "-":
        return decode(sys.stdin.buffer.read(LARGEST_FILE + 1), "standard input")
    return read_file(path, str(path))


def _other_line_ends(path: Path) -> bool:
    """The canonical form has plain newlines and no byte-order mark."""
    if str(path) == "-":
        return False
    data = path.read_bytes()
    return b"\r" in data or data.startswith(b"\xef\xbb\xbf")


def _print_diff(source: Source, text: str) -> None:
    lines = difflib.unified_diff(
        source.text.splitlines(keepends=True), text.splitlines(keepends=True), source.name, f"{source.name} (formatted)"
    )
    for line in lines:
        echo(line if line.endswith("\n") else line + "\n\\ no newline at the end\n", nl=False)
