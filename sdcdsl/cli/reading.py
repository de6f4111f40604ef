"""What the commands share: finding policy files, reading them, saying what was found."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.diagnostics import Diagnostic, or_near
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import FORMATS, render
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.policy.files import LARGEST_FILE, decode
from sdcdsl.policy.read import not_collecting, read_policy, read_text
from sdcdsl.policy.read import read_any as policy_of
from sdcdsl.policy.resolve import Policy

files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE…")
output_option = click.option(
    "--output",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How to print what was found: for people (text, concise) or for tools.",
)
json_option = click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
outside_option = click.option(
    "--allow-outside", is_flag=True, help="Let `use` and data be files outside the policy's own folder."
)


class _Setting(click.ParamType):
    """`NAME=VALUE`."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not equals or not name.strip():
            self.fail(f"it takes NAME=VALUE, not {value}", param, ctx)
        return name.strip(), text


def _once_each(ctx: click.Context, param: click.Parameter, given: tuple[tuple[str, str], ...]) -> dict[str, str]:
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise click.BadParameter(f"{name} is set twice", ctx, param)
    return dict(given)


set_option = click.option(
    "--set",
    "settings",
    type=_Setting(),
    multiple=True,
    callback=_once_each,
    metavar="NAME=VALUE",
    help="Give a parameter of the policy another value. May be repeated.",
)
colour_option = click.option("--colour/--no-colour", default=None, help="Colours; by default only on a terminal.")


def expand(names: Iterable[str]) -> list[Path]:
    """Files as given; a folder stands for all policies below it."""
    out: list[Path] = []
    for name in names:
        path = Path(name)
        if name != "-" and path.is_dir():
            found = sorted(p for p in path.rglob("*.sdc") if p.is_file())
            if not found:
                raise click.UsageError(f"no .sdc file in {name}")
            out += found
        else:
            out.append(path)
    return out


def read(
    path: Path, allow_outside: bool = False, settings: Mapping[str, str] | None = None
) -> tuple[Policy, list[Diagnostic]]:
    """A policy from a file, or from standard input for `-`."""
    with not_collecting():
        if str(path) != "-":
            return read_policy(path, str(path), allow_outside, settings)
        source, found = decode(sys.stdin.buffer.read(LARGEST_FILE + 1), "standard input")
        if source is None:
            return Policy(), found
        return read_text(source, Path("stdin.sdc"), allow_outside, settings=settings)


def read_any(
    path: Path,
    allow_outside: bool = False,
    method: str = "csp",
    release: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> tuple[Policy, list[Diagnostic]]:
    """The same, or the policy that a JJ file stands for: its cells protected by `method`, written to `release`."""
    if str(path) == "-":
        return read(path, allow_outside, settings)
    with not_collecting():
        return policy_of(path, allow_outside, method, release, settings)


def wants_colour(colour: bool | None, stream: TextIO | None = None) -> bool:
    import os  # noqa: PLC0415

    if colour is not None:
        return colour
    return (stream or sys.stdout).isatty() and "NO_COLOR" not in os.environ


def say(diagnostics: list[Diagnostic], output: str, colour: bool | None = None) -> None:
    """Print what was found, of each file as much as anybody reads; machine formats print even when there is nothing."""
    if diagnostics or output in ("json", "sarif"):
        echo(render(for_reading(diagnostics), output, wants_colour(colour)), nl=False, colour=True)


def say_document(body: Mapping[str, Any], diagnostics: Iterable[Diagnostic], code: int) -> None:
    """What a command has to say, and what was found, as one JSON document."""
    echo_json({**body, "diagnostics": [as_json(d) for d in for_reading(diagnostics)], "exit": code})


def refuse(
    nothing: Mapping[str, Any],
    found: Iterable[Diagnostic],
    as_document: bool,
    colour: bool | None,
    code: int,
    stream: TextIO | None = None,
) -> NoReturn:
    """Ends a command that did nothing: what was found is its result. `nothing`: what its document holds then."""
    if as_document:
        say_document(nothing, found, code)
    else:
        said = render(for_reading(found), "text", wants_colour(colour, stream))
        echo(said, file=stream, nl=False, colour=True)
    sys.exit(code)


def known_block(policy: Policy, block: str | None) -> None:
    """Wrong usage where the policy has no such protect block."""
    if block is not None and block not in policy.protects:
        raise click.UsageError(or_near(f"the policy has no protect block `{block}`", block, policy.protects))


def tell(diagnostics: Iterable[Diagnostic], colour: bool | None = None) -> None:
    """The same on standard error, for people, beside a result."""
    said = render(for_reading(diagnostics), "text", wants_colour(colour, sys.stderr))
    echo(said, nl=False, err=True, colour=True)
