"""`sdcdsl methods`: what a policy can choose from."""

from __future__ import annotations

import click

from sdcdsl.cli.printing import echo, echo_json
from sdcdsl.registry import REGISTRIES, Fault
from sdcdsl.vocabulary.backends import BACKENDS
from sdcdsl.vocabulary.formats import FORMATS
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.rules import RULES


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with all options.")
def methods(as_json: bool) -> None:
    """List the methods, rules, experiments, formats, backends and functions that a policy may name.

    `sdcdsl explain NAME` tells more about one of them.
    """
    faults = [fault for registry in REGISTRIES for fault in registry.faults]
    if as_json:
        echo_json(_document(faults))
        return
    echo("methods (protect … { method NAME { options } })")
    for m in METHODS.values():
        also = f" (also {', '.join(m.aliases)})" if m.aliases else ""
        echo(f"  {m.name:<12} {m.about}: {m.publishes}{also}")
        echo(f"  {'':<12} options: {', '.join(options_of(m.options))}")
    echo("\nrules (sensitive by NAME(arguments))")
    for r in RULES.values():
        also = f" (also {', '.join(r.aliases)})" if r.aliases else ""
        arguments = ", ".join(options_of(r.arguments))
        echo(f"  {r.name + '(' + arguments + ')':<28} {r.about}{also}")
    echo("\nexperiments (protect … { assess NAME, … })")
    for e in EXPERIMENTS.values():
        echo(f"  {e.name:<12} {e.about}")
    for use, known in FORMATS.items():
        echo(f"\nformats of {use}")
        for f in known.values():
            echo(f"  {f.name:<12} {f.about}")
    echo("\nbackends (method NAME { backend NAME })")
    for b in BACKENDS.values():
        echo(f"  {b.name:<12} {b.about}")
    echo("\nfunctions (cost NAME(amount, …))")
    for f in FUNCTIONS.values():
        echo(f"  {f.name:<12} {f.about}")
    if any(registry.plugins for registry in REGISTRIES):
        echo("\n(some of these come from plug-ins)")
    for fault in faults:
        echo(f"\n{fault.headline}")


def _document(faults: list[Fault]) -> dict[str, dict]:
    return {
        "methods": {
            m.name: {
                "about": m.about,
                "aliases": list(m.aliases),
                "publishes": m.publishes,
                "paper": m.paper,
                "options": _options(m.options),
            }
            for m in METHODS.values()
        },
        "rules": {
            r.name: {"about": r.about, "aliases": list(r.aliases), "arguments": _options(r.arguments)}
            for r in RULES.values()
        },
        "experiments": {e.name: e.about for e in EXPERIMENTS.values()},
        "formats": {
            use: {f.name: {"about": f.about, "options": _options(f.options)} for f in known.values()}
            for use, known in FORMATS.items()
        },
        "backends": {b.name: b.about for b in BACKENDS.values()},
        "functions": {f.name: f.about for f in FUNCTIONS.values()},
        "unusable": {fault.name: fault.headline for fault in faults},
    }


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
