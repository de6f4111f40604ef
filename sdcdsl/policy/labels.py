"""What codes are called in words: which files say it, and in which languages."""

from __future__ import annotations

from collections.abc import Iterable

from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy


def names_of_labels(dimension: d.Block) -> list[str]:
    """What each `labels` statement is called on the command line: `nace.labels.en`; one for each, in their order."""
    names: list[str] = []
    for statement in dimension.all(d.Labels):
        name = ".".join(filter(None, (dimension.name, "labels", statement.language)))
        again = sum(known == name or known.startswith(f"{name}.again") for known in names)
        names.append(f"{name}.again{again}" if again else name)
    return names


def same_language(one: str, other: str) -> bool:
    """`en_GB` in a policy is `en-GB` in a file."""
    return one.replace("_", "-").casefold() == other.replace("_", "-").casefold()


def asked(release: d.Release) -> d.Option | None:
    """The option of a release that asks for labels."""
    return next((option for option in release.file.options if option.name == "labels"), None)


def languages(policy: Policy, tables: Iterable[str]) -> tuple[bool, frozenset[str] | None]:
    """Whether any dimension of these tables has labels; and in which languages, None where only the files tell."""
    named: set[str] = set()
    there = told = False
    for table in tables:
        block = policy.tables.get(table)
        for by in block.all(d.By) if block is not None else ():
            for name in by.dimensions:
                for statement in policy.dimensions[name].all(d.Labels) if name in policy.dimensions else ():
                    there = True
                    told |= statement.language is None
                    named |= {statement.language} if statement.language else set()
    return there, None if told else frozenset(named)
