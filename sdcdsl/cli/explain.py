"""`sdcdsl explain`: the page of a diagnostic or of a word of the vocabulary; or why a cell of a table is as it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sdcdsl.cli import exits
from sdcdsl.cli.audit import published_options
from sdcdsl.cli.data_options import DataOptions, given_options
from sdcdsl.cli.limits import Duration
from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.diagnostics import CODES, or_near
from sdcdsl.diagnostics.codes import page
from sdcdsl.registry import REGISTRIES
from sdcdsl.vocabulary.backends import BACKENDS
from sdcdsl.vocabulary.formats import FORMATS
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import METHODS, method_names
from sdcdsl.vocabulary.option import OptionSpec, options_of
from sdcdsl.vocabulary.rules import Rule, find_rule

POLICIES = (".sdc", ".jj")


@click.command()
@click.argument("what", required=False)
@click.option("--plain", is_flag=True, help="Print Markdown as it is.")
@click.option("--cell", "cells", multiple=True, metavar="CELL", help='Of a policy: "nace: 20, nuts: XA13". Repeatable.')
@click.option("--released", multiple=True, metavar="[TABLE=]FILE", help="The released table; else the policy is run.")
@click.option("--block", metavar="NAME", help="Look at this protect block only.")
@click.option("--time-limit", type=Duration(), help="For each method, instead of the policy's: 90s, 10min, 1h.")
@click.option("--json", "as_document", is_flag=True, help="Print one JSON document.")
@published_options
@given_options
def explain(
    what: str | None,
    plain: bool,
    cells: tuple[str, ...],
    released: tuple[str, ...],
    block: str | None,
    time_limit: float | None,
    as_document: bool,
    given: DataOptions,
    **published: Any,
) -> None:
    """Explain a diagnostic (SDC116), a method (csp) or a rule (p_percent). Without a name: list all diagnostics.

    With a policy or a JJ file and --cell: why a cell is sensitive, what the release did with it and what for, and what
    attackers infer about it. The release is the one that --released names, or else made now; nothing is written.

    \b
      sdcdsl explain p_percent
      sdcdsl explain turnover.sdc --cell "nace: 20, nuts: XA13" --released turnover.csv
      sdcdsl explain hier13.jj --cell "cell 17" --time-limit 60s

    What is said about a cell is as confidential as the data.
    """
    if what is not None and Path(what).suffix.lower() in POLICIES:
        if not cells:
            raise click.UsageError(f'which cell of {what}? --cell "DIMENSION: CODE, …"')
        from sdcdsl.cli.explain_cell import Options, explained  # noqa: PLC0415

        options = Options(Path(what), cells, released, block, time_limit, published)
        sys.exit(explained(options, as_document, given))
    if cells or released:
        raise click.UsageError("--cell and --released are about a policy: sdcdsl explain turnover.sdc --cell …")
    if what is None and as_document:
        listed = [{"code": code, "title": about.title, "advice": about.warning} for code, about in CODES.items()]
        echo_json({"codes": listed})
        return
    if what is None:
        for code, about in CODES.items():
            echo(f"{code}  {about.title}{' (advice)' if about.warning else ''}")
        return
    text = _page(what)
    if text is None:
        known = [*CODES, *method_names(), *(name for registry in REGISTRIES for name in registry)]
        echo(_fault(what) or or_near(f"nothing is called {what}", what, known), err=True)
        sys.exit(exits.USAGE)
    if as_document:
        echo_json({"name": what, "page": text})
        return
    _print(text, plain)


def _page(what: str) -> str | None:
    if what.upper() in CODES:
        return page(what.upper())
    if (method := METHODS.find(what)) is not None:
        also = f" Also called {', '.join(method.aliases)}." if method.aliases else ""
        about = f"{method.about.capitalize()}.{also} It publishes {method.publishes}. Paper: {method.paper}."
        head = f"# method {method.name}\n\n{about}\n"
        return head + "\n## Options\n" + _table(options_of(method.options))
    if (rule := find_rule(what)) is not None:
        also = f" Also called {', '.join(rule.aliases)}." if rule.aliases else ""
        head = f"# rule {rule.name}\n\nA cell is sensitive when: {rule.about}.{also}\n"
        return head + _formula(rule) + "\n## Arguments\n" + _table(options_of(rule.arguments))
    if what in BACKENDS:
        return f"# backend {what}\n\n{BACKENDS[what].about}.\n"
    if what in FUNCTIONS:
        return f"# function {what}\n\n{FUNCTIONS[what].about.capitalize()}.\n"
    formats = [(use, known[what]) for use, known in FORMATS.items() if what in known]
    if formats:
        parts = [
            f"\n## Of {use}\n\n{found.about[0].upper()}{found.about[1:]}.\n{_table(options_of(found.options))}"
            for use, found in formats
        ]
        return f"# format {what}\n{''.join(parts)}"
    return None


def _fault(what: str) -> str | None:
    return next((fault.headline for registry in REGISTRIES if (fault := registry.fault(what)) is not None), None)


def _formula(rule: Rule) -> str:
    if rule.formula is None:
        return ""
    letters = "X is the sum of the absolute contributions to the cell, x1 ≥ x2 ≥ … are the largest of them."
    rows = (f"    sensitive  {rule.formula.sensitive}", f"    level      {rule.formula.level}")
    return "\n".join(["", "## Formula", "", letters, "", *rows, ""])


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
        echo(text.rstrip())
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    Console().print(Markdown(text))
