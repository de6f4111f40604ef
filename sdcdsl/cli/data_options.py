"""What every command that meets data is told about it: which files, which day, what may be read, colours."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from sdcdsl.cli.reading import colour_option, outside_option, set_option
from sdcdsl.diagnostics import or_near
from sdcdsl.policy.document import HierarchyFile
from sdcdsl.policy.labels import names_of_labels
from sdcdsl.policy.resolve import Policy

if TYPE_CHECKING:
    from sdcdsl.bind.file_locations import RecordedLocations


class InputFields(TypedDict):
    """Of `sdcdsl.pipeline.request.Inputs`."""

    policy: Policy
    source: Path
    places: RecordedLocations
    day: datetime.date
    block: str | None


@dataclass(frozen=True)
class DataOptions:
    instead: tuple[str, ...]  # NAME=PATH
    today: datetime.datetime | None
    allow_outside: bool
    colour: bool | None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])  # of parameters

    @property
    def day(self) -> datetime.date:
        """To judge waivers by."""
        return self.today.date() if self.today is not None else datetime.date.today()

    def inputs(self, policy: Policy, path: Path, block: str | None = None) -> InputFields:
        """What every request of the pipeline begins with."""
        from sdcdsl.bind.file_locations import RecordedLocations  # noqa: PLC0415  reading a policy needs none of it

        places = RecordedLocations(path.parent, named_files(self.instead, policy), self.allow_outside)
        return {"policy": policy, "source": path, "places": places, "day": self.day, "block": block}


_OPTIONS = (
    click.option(
        "--data",
        "instead",
        multiple=True,
        metavar="NAME=PATH",
        help="Read data, table, dimension or DIMENSION.TREE from another file than the policy says. May be repeated.",
    ),
    click.option("--today", type=click.DateTime(["%Y-%m-%d"]), help="The day to judge waivers by; today if not given."),
    set_option,
    outside_option,
    colour_option,
)


def given_options(command: Callable) -> Callable:
    """The command gets them as one `given`."""

    @functools.wraps(command)
    def run(
        *args: Any,
        instead: tuple[str, ...],
        today: datetime.datetime | None,
        allow_outside: bool,
        colour: bool | None,
        settings: Mapping[str, str],
        **others: Any,
    ) -> Any:
        return command(*args, given=DataOptions(instead, today, allow_outside, colour, settings), **others)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run


def named_files(instead: tuple[str, ...], policy: Policy) -> dict[str, Path]:
    out = {}
    known = [name for kind in ("data", "dimension", "table") for name in policy.blocks[kind]]
    known += [f"{name}.{tree}" for name, block in policy.dimensions.items() for tree in _named_trees(block)]
    known += [name for block in policy.dimensions.values() for name in names_of_labels(block)]
    for given in instead:
        name, equals, path = given.partition("=")
        if not equals or not path:
            raise click.UsageError(f"--data takes NAME=PATH, not {given}")
        if name not in known:
            raise click.UsageError(or_near(f"the policy has no data, dimension or table `{name}`", name, known))
        out[name] = Path(path)
    return out


def _named_trees(dimension: Any) -> list[str]:
    return [statement.name for statement in dimension.all(HierarchyFile) if statement.name]
