"""`sdcdsl explain`: the page of a diagnostic, a method or a rule."""

from __future__ import annotations

import sys

import click

from sdcdsl.cli import exits
from sdcdsl.diagnostics import CODES, did_you_mean
from sdcdsl.diagnostics.codes import page
from sdcdsl.vocabulary.methods import METHODS
from sdcdsl.vocabulary.option import OptionSpec, options_of
from sdcdsl.vocabulary.rules import ALIASES, RULES


@click.command()
@click.argument("what", required=False)
@click.option("--plain", is_flag=True, help="Print Markdown as it is.")
def explain(what: str | None, plain: bool) -> None:
    """Explain a diagnostic (SDC116), a method (csp) or a rule (p_percent). Without a name: list all diagnostics."""
    if what is None:
        for code, about in CODES.items():
            click.echo(f"{code}  {about.title}{' (advice)' if about.warning else ''}")
        return
    text = _page(what)
    if text is None:
        known = [*CODES, *METHODS, *RULES]
        click.echo(f"nothing is called {what}. {did_you_mean(what, known)}".strip(), err=True)
        sys.exit(exits.USAGE)
    _print(text, plain)


def _page(what: str) -> str | None:
    if what.upper() in CODES:
        return page(what.upper())
    if what in METHODS:
        method = METHODS[what]
        about = f"{method.about.capitalize()}. It publishes {method.publishes}. Paper: {method.paper}."
        head = f"# method {method.name}\n\n{about}\n"
        return head + "\n## Options\n" + _table(options_of(method.options))
    name = ALIASES.get(what, what)
    if name in RULES:
        rule = RULES[name]
        also = f" Also called {', '.join(rule.aliases)}." if rule.aliases else ""
        head = f"# rule {rule.name}\n\nA cell is sensitive when: {rule.about}.{also}\n"
        return head + "\n## Arguments\n" + _table(options_of(rule.arguments))
    return None


def _table(options: dict[str, OptionSpec]) -> str:
    if not options:
        return "\nNone.\n"
    rows = ["", "| name | takes | default | what it does |", "|---|---|---|---|"]
    for spec in options.values():
        default = "required" if spec.required else "–" if spec.default in (None, False) else str(spec.default)
        where = " [where …]" if spec.per_cell else ""
        rows.append(f"| `{spec.name}` | {spec.form.replace('|', 'or')}{where} | {default} | {spec.about} |")
    return "\n".join(rows) + "\n"


def _print(text: str, plain: bool) -> None:
    if plain or not sys.stdout.isatty():
        click.echo(text.rstrip())
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    Console().print(Markdown(text))
