"""Manual pages and shell completions, from the commands themselves: `python packaging/manual.py FOLDER`.

FOLDER/man/man1/sdcdsl.1, sdcdsl-protect.1, …        man -M FOLDER/man sdcdsl-protect
FOLDER/completions/sdcdsl.bash, sdcdsl.zsh, sdcdsl.fish
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from sdcdsl.cli import COMMANDS, cli
from sdcdsl.version import __version__


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    root = click.Context(cli, info_name="sdcdsl")
    out = {"sdcdsl.1": _page("sdcdsl", cli, root, "protection of statistical tables")}
    for name, (_, about) in COMMANDS.items():
        command = cli.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root)
        out[f"sdcdsl-{name}.1"] = _page(f"sdcdsl {name}", command, context, about.rstrip("."))
    return out


def completions() -> dict[str, str]:
    out: dict[str, str] = {}
    for shell in ("bash", "zsh", "fish"):
        made = get_completion_class(shell)
        assert made is not None
        out[f"sdcdsl.{shell}"] = made(cli, {}, "sdcdsl", "_SDCDSL_COMPLETE").source()
    return out


def _page(name: str, command: click.Command, context: click.Context, about: str) -> str:
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{name.replace(" ", "-").upper()}" 1 "" "sdcdsl {__version__}" "sdcdsl"',
        ".SH NAME", f"{_escaped(name.replace(' ', '-'))} \\- {_escaped(about)}",
        ".SH SYNOPSIS", f".B {_escaped(name)}", _escaped(usage),
        ".SH DESCRIPTION", *_paragraphs(command.help or ""),
    ]  # fmt: skip
    stated = (p for p in command.get_params(context) if isinstance(p, click.Option))
    options = [record for p in stated if (record := p.get_help_record(context)) is not None]
    if options:
        lines.append(".SH OPTIONS")
        for words, said in options:
            lines += [".TP", f"\\fB{_escaped(words)}\\fR", _escaped(said) or "\\&"]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for word, (_, said) in COMMANDS.items():
            lines += [".TP", f".BR sdcdsl\\-{_escaped(word)} (1)", _escaped(said)]
    else:
        lines += [".SH SEE ALSO", ".BR sdcdsl (1)"]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    """Of a command's help. A paragraph after \\b keeps its lines."""
    for i, part in enumerate(re.split(r"\n\s*\n", text.strip())):
        if i:
            yield ".PP"
        lines = [line.rstrip() for line in part.splitlines()]
        if lines[0].strip() == "\b":
            yield ".nf"
            yield from (_escaped(line) for line in lines[1:])
            yield ".fi"
        else:
            yield _escaped(" ".join(line.strip() for line in lines))


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("-", "\\-").replace("…", "\\[u2026]")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def main() -> None:
    folder = Path(sys.argv[1])
    for place, made in (("man/man1", pages()), ("completions", completions())):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / place / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
