"""What the words of the language mean, as Markdown: statements, rules, methods, options, formats, quantities."""

from __future__ import annotations

from collections.abc import Mapping

from sdcdsl.syntax.messages import BLOCKS, USAGE, Usage
from sdcdsl.vocabulary.formats import (
    CELL_LISTS,
    HIERARCHIES,
    LABELS,
    READERS,
    RECODES,
    TABLES,
    WRITERS,
    Reader,
    StatusOptions,
    ValueOptions,
    Writer,
)
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.methods import EXPERIMENTS, METHODS, ExperimentOptions, Limits, PeriodOptions
from sdcdsl.vocabulary.option import OptionSpec, options_of
from sdcdsl.vocabulary.quantities import KNOWLEDGE, QUANTITIES, ROLES
from sdcdsl.vocabulary.rules import find_rule


def of_statement(block: str, word: str) -> str | None:
    usage = USAGE.get(block, {}).get(word)
    return (
        None
        if usage is None
        else f"{_code(usage.pattern)}\n\nin {BLOCKS[block]}, for example\n\n{_code(usage.example)}"
    )


def usage_of(block: str, word: str) -> Usage | None:
    return USAGE.get(block, {}).get(word)


def of_rule(name: str) -> str | None:
    rule = find_rule(name)
    if rule is None:
        return None
    also = f" Also called {', '.join(rule.aliases)}." if rule.aliases else ""
    return f"rule **{rule.name}**: a cell is sensitive when {rule.about}.{also}\n\n{table(options_of(rule.arguments))}"


def of_method(name: str) -> str | None:
    method = METHODS.find(name)
    if method is None:
        return None
    also = f" Also called {', '.join(method.aliases)}." if method.aliases else ""
    about = f"method **{method.name}**: {method.about}.{also}"
    about = f"{about}\n\nIt publishes {method.publishes} (paper {method.paper})."
    return f"{about}\n\n{table(options_of(method.options))}"


def of_experiment(name: str) -> str | None:
    found = EXPERIMENTS.get(name)
    return None if found is None else f"experiment **{name}** (paper {found.paper}): {found.about}"


def of_option(spec: OptionSpec) -> str:
    default = "" if spec.default is None else f" Default: {spec.default}."
    return f"option **{spec.name}** ({spec.form}): {spec.about}.{default}"


def of_format(name: str, word: str) -> str | None:
    found = formats_of(word).get(name)
    return None if found is None else f"format **{name}**: {found.about}"


def of_quantity(name: str) -> str | None:
    if name in QUANTITIES:
        return f"**{name}** (a number): {QUANTITIES[name].about}"
    if name in FUNCTIONS:
        return f"function **{name}**: {FUNCTIONS[name].about}"
    return None


def of_role(name: str) -> str | None:
    return f"role **{name}**: {ROLES[name]}" if name in ROLES else None


def of_knowledge(words: str) -> str | None:
    return f"the attacker knows {KNOWLEDGE[words]}" if words in KNOWLEDGE else None


def formats_of(word: str) -> Mapping[str, Reader | Writer]:
    """The formats that may follow the first word of a statement; "" for the data of a data block or a table."""
    match word:
        case "hierarchy":
            return HIERARCHIES
        case "recode":
            return RECODES
        case "labels":
            return LABELS
        case "sensitive":
            return CELL_LISTS
        case "release":
            return WRITERS
    return {**READERS, **TABLES}


def options_in(opening: tuple[str, ...]) -> dict[str, OptionSpec]:
    """The options of the block that a statement opens: `method csp {`, `release csv "…" {`, `else ip {`."""
    first = opening[0] if opening else ""
    if first == "method":
        name = opening[max(i for i, word in enumerate(opening) if word in ("method", "else")) + 1 :][:1]
        method = METHODS.find(name[0]) if name else None
        return {} if method is None else options_of(method.options) | _not(options_of(Limits), method.lacks)
    if first == "period":
        return options_of(PeriodOptions)
    if first == "assess":
        return options_of(ExperimentOptions)
    if first == "status":
        return options_of(StatusOptions)
    if first == "value":
        return options_of(ValueOptions)
    if first in ("release", "hierarchy", "labels", "sensitive"):
        known = formats_of(first)
        found = next((known[word] for word in opening if word in known), None)
    else:
        found = formats_of("").get(first)
    return {} if found is None else options_of(found.options)


def _not(options: dict[str, OptionSpec], lacking: tuple[str, ...]) -> dict[str, OptionSpec]:
    return {name: spec for name, spec in options.items() if name not in lacking}


def table(options: dict[str, OptionSpec]) -> str:
    if not options:
        return ""
    rows = ["| name | takes | default | |", "|---|---|---|---|"]
    for spec in options.values():
        default = "required" if spec.required else "" if spec.default is None else str(spec.default)
        cells = (f"`{spec.name}`", spec.form, default, spec.about)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _code(text: str) -> str:
    return f"```sdc\n{text}\n```"
