"""`sdcdsl methods`: what a policy can choose from."""

from __future__ import annotations

import click

from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.plugins import find_method, find_rule, method_names, rule_names
from sdcdsl.vocabulary.rules import ALIASES, RULES


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with all options.")
def methods(as_json: bool) -> None:
    """List the methods, sensitivity rules and risk experiments, with their options.

    `sdcdsl explain NAME` tells more about one of them.
    """
    found_methods = [m for name in method_names() if (m := find_method(name)) is not None]
    found_rules = [r for name in rule_names() if name not in ALIASES and (r := find_rule(name)) is not None]
    if as_json:
        document = {
            "methods": {
                m.name: {"about": m.about, "publishes": m.publishes, "paper": m.paper, "options": _options(m.options)}
                for m in found_methods
            },
            "rules": {
                r.name: {"about": r.about, "aliases": list(r.aliases), "arguments": _options(r.arguments)}
                for r in found_rules
            },
            "experiments": {e.name: e.about for e in EXPERIMENTS.values()},
        }
        echo_json(document)
        return
    echo("methods (protect … { method NAME { options } })")
    for m in found_methods:
        echo(f"  {m.name:<12} {m.about}: {m.publishes}")
        echo(f"  {'':<12} options: {', '.join(options_of(m.options))}")
    echo("\nrules (sensitive by NAME(arguments))")
    for r in found_rules:
        also = f" (also {', '.join(r.aliases)})" if r.aliases else ""
        arguments = ", ".join(options_of(r.arguments))
        echo(f"  {r.name + '(' + arguments + ')':<28} {r.about}{also}")
    echo("\nexperiments (protect … { assess NAME, … })")
    for e in EXPERIMENTS.values():
        echo(f"  {e.name:<12} {e.about}")
    if len(found_methods) > len(METHODS) or len(found_rules) > len(RULES):
        echo("\n(some of these come from plug-ins)")


def _options(described: type) -> dict[str, dict]:
    return {
        name: {
            "takes": spec.form,
            "about": spec.about,
            "required": spec.required,
            "default": spec.default,
            "per_cell": spec.per_cell,
        }
        for name, spec in options_of(described).items()
    }
