"""The first stage: policy and data become one table problem for each protect block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from sdcdsl.bind.known_codes import unknown_codes
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.pipeline.request import Inputs, Watch
from sdcdsl.report.journal import settle_around


@dataclass(frozen=True, eq=False)
class BoundBlocks:
    problems: Mapping[str, TableProblem] = field(default_factory=dict[str, TableProblem])  # by block
    found: tuple[Diagnostic, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])  # by block

    @property
    def wrong(self) -> bool:
        return has_errors(self.found)


def bind(inputs: Inputs, files: Iterable[Path] = (), *, all_tables: bool = False) -> BoundBlocks:
    """Releases that were interrupted, here and around the `files` that the stage reads or writes, are made whole before
    anything is read. `all_tables`: also those that no block protects are read, since their data may be wrong too."""
    interrupted = settle_around((inputs.source, *files))
    if has_errors(interrupted):
        return BoundBlocks(found=tuple(interrupted))
    bound = bind_blocks(inputs, all_tables=all_tables)
    return BoundBlocks(bound.problems, (*interrupted, *bound.found), bound.seconds)


def bind_blocks(
    inputs: Inputs,
    watch: Watch | None = None,
    known: Mapping[str, TableProblem] | None = None,
    *,
    all_tables: bool = False,
) -> BoundBlocks:
    """`known`: blocks that were bound before, for the same data and levels."""
    binding = Binding(inputs.policy, inputs.places, inputs.day)
    problems: dict[str, TableProblem] = dict(known or {})
    found: list[Diagnostic] = []
    seconds: dict[str, float] = {}
    for name in inputs.blocks:
        if name not in problems:
            begun = perf_counter()
            problem, wrong = bind_protect(binding, inputs.policy.protects[name])
            seconds[name] = perf_counter() - begun
            found += wrong
            if problem is None:
                continue
            problems[name] = problem
        if watch is not None:
            watch.bound(problems[name])
    for name in inputs.policy.tables if all_tables else ():
        binding.table(name)
    found += unknown_codes(inputs.policy, binding.dimensions, binding.published)
    # What is wrong with records is wrong in every table they feed: once is enough.
    return BoundBlocks(problems, tuple(dict.fromkeys([*binding.diagnostics, *found])), seconds)
