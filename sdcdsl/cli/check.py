"""`sdcdsl check` and `sdcdsl lint`: is the policy right, and is it wise?"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import click

from sdcdsl.cli import exits
from sdcdsl.cli.printing import echo
from sdcdsl.cli.reading import (
    colour_option,
    expand,
    files_argument,
    json_option,
    output_option,
    outside_option,
    read,
    say,
    say_document,
    set_option,
)
from sdcdsl.diagnostics import Diagnostic, Severity, has_errors, in_reading_order
from sdcdsl.diagnostics.diagnostic import count as counted
from sdcdsl.policy.files import read_file


@click.command()
@files_argument
@output_option
@json_option
@set_option
@outside_option
@colour_option
@click.option("--fix", is_flag=True, help="Put right what is certain, in place; report the rest.")
def check(
    files: tuple[str, ...],
    output: str,
    as_document: bool,
    settings: Mapping[str, str],
    allow_outside: bool,
    colour: bool | None,
    fix: bool,
) -> None:
    """Read policies and report every mistake, without data. Silent when all is well.

    FILE is a .sdc file, a folder (all policies below it), or - for standard input.

    \b
    sdcdsl check turnover.sdc
    sdcdsl check policies/ --output github
    """
    found: list[Diagnostic] = []
    for path in expand(files):
        if fix:
            found += _fix(path)
        found += read(path, allow_outside, settings)[1]
    _end(found, "json" if as_document else output, colour, has_errors(found))


def _fix(path: Path) -> list[Diagnostic]:
    from sdcdsl.cli.replacing import replace_text  # noqa: PLC0415
    from sdcdsl.editing.fixing import fixed_policy  # noqa: PLC0415

    if str(path) == "-":
        raise click.UsageError("--fix changes files: standard input has none")
    source, wrong = read_file(path, str(path))
    if source is None:
        return []  # reading it says so
    text, count = fixed_policy(source.text, path, str(path))
    if count:
        wrong += replace_text(path, text)
        echo(f"{path}: {_plural(count, 'replacement')}", err=True)
    return wrong


@click.command()
@files_argument
@output_option
@json_option
@set_option
@outside_option
@colour_option
@click.option("--strict", is_flag=True, help="Exit with 1 when there is advice.")
@click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day to judge waivers by; today if not given.",
)
def lint(
    files: tuple[str, ...],
    output: str,
    as_document: bool,
    settings: Mapping[str, str],
    allow_outside: bool,
    colour: bool | None,
    strict: bool,
    today: datetime.datetime | None,
) -> None:
    """Advice on policies that are right but perhaps not meant: dead statements, endless waivers, revealing levels.

    Mistakes are reported too (as by `check`). Advice alone does not fail, except with --strict.
    """
    from sdcdsl.policy.lint import lint as advise  # noqa: PLC0415

    day = today.date() if today is not None else datetime.date.today()
    found: list[Diagnostic] = []
    for path in expand(files):
        policy, wrong = read(path, allow_outside, settings)
        found += wrong
        if not has_errors(wrong):
            found += in_reading_order(advise(policy, day))
    failed = has_errors(found) or (strict and bool(found))
    _end(found, "json" if as_document else output, colour, failed)


def _end(found: list[Diagnostic], output: str, colour: bool | None, failed: bool) -> NoReturn:
    code = exits.WRONG_POLICY if failed else exits.DONE
    if output == "json":
        say_document({}, found, code)
    else:
        say(found, output, colour)
        _summary(found, output)
    sys.exit(code)


def _summary(found: list[Diagnostic], output: str) -> None:
    if found and output == "text":
        errors = counted(d for d in found if d.severity is Severity.ERROR)
        parts = [_plural(errors, "mistake"), _plural(counted(found) - errors, "piece of advice", "pieces of advice")]
        text = " and ".join(p for p in parts if p)
        echo(f"{text} found; `sdcdsl explain {found[0].code}` tells more", err=True)


def _plural(n: int, one: str, many: str | None = None) -> str:
    return "" if n == 0 else f"{n} {one if n == 1 else many or one + 's'}"
