"""A policy that was read and found right."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.readers.frames import no_frame
from sdcdsl.diagnostics import Diagnostic, Source, has_errors, or_near
from sdcdsl.methods.result import Progress
from sdcdsl.notebook import html
from sdcdsl.notebook import policy as written
from sdcdsl.notebook.problem import Problem
from sdcdsl.notebook.progress import watch
from sdcdsl.notebook.refused import Refused
from sdcdsl.notebook.run import Run
from sdcdsl.notebook.verdict import Verdict
from sdcdsl.outcome import End
from sdcdsl.pipeline.audit import AuditRequest, audit_blocks
from sdcdsl.pipeline.bind import BoundBlocks, bind
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.released_tables import ReleasedTables
from sdcdsl.pipeline.request import Inputs, ProtectRequest
from sdcdsl.pipeline.show_model import model_with_codes
from sdcdsl.policy import document as d
from sdcdsl.policy.read import read_policy, read_text
from sdcdsl.policy.resolve import Policy

if TYPE_CHECKING:
    import linopy


def load(
    source: str | Path | written.Policy,
    *,
    data: Mapping[str, Any] | None = None,
    parameters: Mapping[str, str | int | float] | None = None,
    today: str | datetime.date | None = None,
    allow_outside: bool = False,
) -> Loaded:
    """Reads and checks a policy: a path, the text itself if it has more than one line, or a `Policy` of Python.

    `data` names other files than the policy does, by the name of what they hold, or is the data: data frames of pandas,
    polars, pyarrow and what else narwhals knows, datasets of xarray. `parameters` gives parameters of the policy other
    values, as `--set` does: `{"year": 2026, "share": "10%"}`; `today` is the day to judge waivers by. Raises `Refused`
    with the diagnostics if something is wrong.
    """
    settings = {name: str(value) for name, value in (parameters or {}).items()}
    if isinstance(source, written.Policy) or (isinstance(source, str) and "\n" in source):
        path = Path("policy.sdc")
        policy, found = read_text(Source("policy", str(source)), path, allow_outside, settings=settings)
    else:
        path = Path(source)
        policy, found = read_policy(path, str(path), allow_outside, settings)
    if has_errors(found):
        raise Refused(found)
    files, frames = _handed_in(policy, data or {})
    day = datetime.date.fromisoformat(today) if isinstance(today, str) else today or datetime.date.today()
    places = RecordedLocations(path.parent, files, allow_outside, frames=frames)
    return Loaded(policy, path, places, day, found)


def _handed_in(policy: Policy, data: Mapping[str, Any]) -> tuple[dict[str, Path], dict[str, Any]]:
    known = [name for kind in ("data", "dimension", "table") for name in policy.blocks[kind]]
    files: dict[str, Path] = {}
    frames: dict[str, Any] = {}
    for name, given in data.items():
        if name.partition(".")[0] not in known:
            raise KeyError(or_near(f"the policy has no data, dimension or table {name}", name, known))
        if isinstance(given, str | Path):
            files[name] = Path(given)
        elif name not in policy.data:
            raise TypeError(f"{name} is no data of the policy, and only those can be a data frame: give a file")
        elif (why := no_frame(given)) is not None:
            raise TypeError(f"the data {name} cannot be read: {why}")
        else:
            frames[name] = given
    return files, frames


class Loaded:
    """What `load` gives. Data are read when they are required."""

    def __init__(
        self,
        policy: Policy,
        source: Path,
        places: RecordedLocations,
        day: datetime.date,
        found: list[Diagnostic] | None = None,
    ):
        self.policy, self.source, self.day = policy, source, day
        self.advice = tuple(found or ())  # warnings of the check
        self._places = places

    @property
    def blocks(self) -> tuple[str, ...]:
        return tuple(self.policy.protects)

    @cached_property
    def problems(self) -> dict[str, Problem]:
        """Every protect block bound to its data, by name."""
        bound = bind(Inputs(self.policy, self.source, self._places, self.day))
        if bound.wrong:
            raise Refused(bound.found, "the data does not fit the policy")
        return {name: Problem(problem) for name, problem in bound.problems.items()}

    def model(self, block: str) -> linopy.Model:
        """The model of the block's method in linopy, not solved; its variables have the codes of their cells, so that
        `policy.model("turnover").variables["x"].sel(region="North")` picks some. Raises `Refused` without a model."""
        if block not in self.policy.protects:
            raise KeyError(or_near(f"no protect block {block}", block, self.blocks))
        inputs = Inputs(self.policy, self.source, self._places, self.day)
        model, found = model_with_codes(self.problems[block].bound, self.policy.protects[block], inputs)
        if model is None:
            raise Refused(found, "there is no model to show")
        return model

    def protect(
        self,
        block: str | None = None,
        *,
        time_limit: float | None = None,
        gap: float | None = None,
        threads: int | None = None,
        backend: str | None = None,
        jobs: int = 0,
        progress: bool | Callable[[str, Progress], None] | None = None,
    ) -> Run:
        """Searches and audits; writes nothing. Options win over those of the policy.

        `progress=True` shows where the search stands, in a notebook below the cell; `progress(block, state)` is
        called instead. Raises `Refused` where a block was not found protected.
        """
        if block is not None and block not in self.policy.protects:
            raise KeyError(or_near(f"no protect block {block}", block, self.blocks))
        said = {"time_limit": time_limit, "gap": gap, "threads": threads, "backend": backend}
        instead = {name: value for name, value in said.items() if value is not None}
        request = ProtectRequest(
            self.policy, self.source, self._places, self.day, self.source.parent, instead, block=block, jobs=jobs
        )
        with watch(progress) as watching:
            prepared = prepare(request, watching)
        if prepared.end is not End.DONE:
            raise Refused(prepared.diagnostics, str(prepared.end))
        return Run(prepared, request)

    def audit(self, released: str | Path | Mapping[str, str | Path], *, exact: bool = True) -> Verdict:
        """Attacks a released table, whoever made it: a file, or one for each table by its name."""
        tables = {t: name for name, problem in self.problems.items() for t in (b.name for b in problem.bound.tables)}
        if not isinstance(released, Mapping):
            if len(tables) != 1:
                raise ValueError(f"several tables, so name their files: {', '.join(tables)}")
            released = {next(iter(tables)): released}
        strangers = [name for name in released if name not in tables]
        if strangers:
            raise KeyError(or_near(f"no table {strangers[0]}", strangers[0], tables))
        blocks = {tables[name] for name in released}
        if len(blocks) != 1:
            raise ValueError(f"files of one block at a time, not of {', '.join(sorted(blocks))}")
        block = blocks.pop()
        request = AuditRequest(
            self.policy,
            self.source,
            self._places,
            self.day,
            ReleasedTables({name: Path(path) for name, path in released.items()}),
            exact,
            block=block,
        )
        made = audit_blocks(request, bound=BoundBlocks({block: self.problems[block].bound}))
        if not made.audits:
            raise Refused(made.found, "the release cannot be audited")
        [audit] = made.audits.values()
        return Verdict(audit)

    def __repr__(self) -> str:
        return f"<policy {self.policy.title or self.source.name}: {', '.join(self.blocks) or 'protects nothing'}>"

    def _repr_html_(self) -> str:
        rows = []
        for name, protect in self.policy.protects.items():
            methods = " else ".join(engine.name for engine in protect.the(d.MethodChain).engines)
            files = ", ".join(release.file.path for release in protect.all(d.Release))
            rows.append([name, ", ".join(protect.tables), methods, files])
        names = ["block", "tables", "method", "releases"]
        advice = f"{len(self.advice)} pieces of advice" if self.advice else ""
        return html.heading(self.policy.title or self.source.name, advice) + html.table(names, rows)
