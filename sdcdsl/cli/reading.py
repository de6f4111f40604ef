"""What the commands share: finding policy files, reading them, saying what was found."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.diagnostics import Diagnostic, FilePlace, Mark, Source, diagnostic
from sdcdsl.diagnostics.diagnostic import for_reading
from sdcdsl.diagnostics.render import FORMATS, render
from sdcdsl.diagnostics.render.json import as_json
from sdcdsl.policy.files import LARGEST_FILE, decode
from sdcdsl.policy.read import read_policy, read_text
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


def read(path: Path, allow_outside: bool = False) -> tuple[Policy, list[Diagnostic]]:
    """A policy from a file, or from standard input for `-`."""
    with _not_collecting():
        if str(path) != "-":
            return read_policy(path, str(path), allow_outside)
        source, found = decode(sys.stdin.buffer.read(LARGEST_FILE + 1), "standard input")
        if source is None:
            return Policy(), found
        return read_text(source, Path("stdin.sdc"), allow_outside)


def is_jj(path: Path) -> bool:
    return path.suffix.lower() == ".jj"


def read_any(
    path: Path, allow_outside: bool = False, method: str = "csp", release: str | None = None
) -> tuple[Policy, list[Diagnostic]]:
    """A policy, or the one that a JJ file stands for: its cells protected by `method`, written to `release`."""
    if not is_jj(path):
        return read(path, allow_outside)
    if not path.is_file():
        return Policy(), [diagnostic("SDC302", f"there is no file {path}", FilePlace(str(path)))]
    name = _quoted(path.name)
    lines = [f"method {method}", *([f"release csv {_quoted(release)}"] if release is not None else [])]
    statements = "".join(f"  {line}\n" for line in lines)
    text = f"sdc 1\npolicy {name}\n\ntable cells {{\n  jj {name}\n}}\n\nprotect cells {{\n{statements}}}\n"
    policy, found = read_text(Source(str(path), text), path, allow_outside)
    return policy, [_of_the_file(one, path) for one in found]


def _of_the_file(found: Diagnostic, path: Path) -> Diagnostic:
    """Nobody wrote the policy that stands for a JJ file: no line of it is shown, and who wants more writes one."""
    help = f"a policy can say it: sdcdsl new {path.stem}.sdc --from jj" if found.help is not None else None
    return replace(found, marks=(Mark(FilePlace(str(path))),), help=help, fix=None)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextmanager
def _not_collecting() -> Iterator[None]:
    """Reading makes millions of records and hardly a circle: looking for circles again and again is a fifth of the
    time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def wants_colour(colour: bool | None, stream=None) -> bool:
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


def tell(diagnostics: Iterable[Diagnostic], colour: bool | None = None) -> None:
    """The same on standard error, for people, beside a result."""
    said = render(for_reading(diagnostics), "text", wants_colour(colour, sys.stderr))
    echo(said, nl=False, err=True, colour=True)


def guarded(path: Path, act: Callable[[], tuple[Policy, list[Diagnostic]]]) -> tuple[Policy, list[Diagnostic]]:
    """The parser refuses what is nested too deeply for the stages behind it; should one of them still run out of stack,
    the reader learns that, and nothing else is guessed. Every other exception is a bug and looks like one."""
    try:
        return act()
    except RecursionError:
        headline = f"{path} is nested more deeply than this program can follow"
        return Policy(), [diagnostic("SDC007", headline, FilePlace(str(path)))]
