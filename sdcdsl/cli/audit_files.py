"""The options of `audit` about released files: which file belongs to which table, and how it is to be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from sdcdsl.diagnostics import did_you_mean
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.policy.resolve import Policy
from sdcdsl.released import Layout, PublishedStatements

ROLES = ("value", "low", "high", "status", "base", "deviation", "cell")


def released_tables(released: Iterable[str], policy: Policy, block: str | None, **reading: Any) -> ReleasedTables:
    """Files and options as they were given; what contradicts itself is wrong usage."""
    files = _files(released, policy, block)
    unused = [f"--{name}" for name, value in reading.items() if value not in (None, ())]
    if unused and not files:
        raise click.UsageError(f"{', '.join(unused)}: said of a released table, and none is given (--released)")
    columns = _columns(reading["column"], policy)
    said = {name: reading.get(name) for name in ("base", "deviation", "alpha", "beta")}
    try:
        statements = PublishedStatements(**said, hidden_words=reading.get("hidden", ()))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return ReleasedTables(
        files, statements, reading["format"], reading.get("absent") or "error", Layout(columns=columns)
    )


def _files(released: Iterable[str], policy: Policy, block: str | None) -> dict[str, Path]:
    """`TABLE=FILE`, or just FILE where there is only one table."""
    blocks = [policy.protects[block]] if block is not None else list(policy.protects.values())
    tables = list(dict.fromkeys(name for b in blocks for name in b.tables))
    out: dict[str, Path] = {}
    for given in released:
        table, file = _one(given, tables)
        if table in out:
            raise click.UsageError(f"two released files for table `{table}`: {out[table]} and {file}")
        out[table] = file
    return out


def _one(given: str, tables: list[str]) -> tuple[str, Path]:
    name, equals, file = given.partition("=")
    if equals and name in tables:
        return name, Path(file)
    if equals and not Path(given).exists():
        near = did_you_mean(name, tables) or f"its tables: {', '.join(tables)}"
        raise click.UsageError(f"no table `{name}` is audited. {near}")
    if len(tables) == 1:
        return tables[0], Path(given)
    raise click.UsageError(f"which table is {given}? Write TABLE={given}; the tables are {', '.join(tables)}")


def _columns(given: Iterable[str], policy: Policy) -> dict[str, str]:
    out: dict[str, str] = {}
    known = [*policy.dimensions, *ROLES]
    for one in given:
        name, equals, found = one.partition("=")
        if not equals or not found:
            raise click.UsageError(f"--column takes NAME=COLUMN, not {one}")
        if name not in known:
            near = did_you_mean(name, known) or f"NAME is a dimension or one of {', '.join(ROLES)}"
            raise click.UsageError(f"--column {one}: there is no `{name}`. {near}")
        out[name] = found
    return out
