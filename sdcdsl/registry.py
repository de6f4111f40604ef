"""Every method, rule, format, backend and function by its name: one line each, to the record that describes it and
names what does the work.

A record is loaded when its name is used first, so `sdcdsl check` loads no numerical library. Third parties add records
by entry points, in the group `sdcdsl.KIND`. A plug-in that cannot be used is a `Fault`, which commands report: it is
never raised, and no registry contains it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, Generic, Protocol, TypeVar

from sdcdsl.record import Record, record

LINES: dict[str, dict[str, str]] = {
    "methods": {
        "csp": "sdcdsl.methods.csp:METHOD",
        "ip": "sdcdsl.methods.ip:METHOD",
        "cta": "sdcdsl.methods.cta:METHOD",
        "ecta": "sdcdsl.methods.ecta:METHOD",
        "rounding": "sdcdsl.methods.rounding:METHOD",
        "perturb": "sdcdsl.methods.perturb:METHOD",
        "combined": "sdcdsl.methods.combined:METHOD",
        "cellkey": "sdcdsl.methods.cellkey:METHOD",
    },
    "rules": {
        "threshold": "sdcdsl.bind.rules.threshold:RULE",
        "dominance": "sdcdsl.bind.rules.dominance:RULE",
        "p_percent": "sdcdsl.bind.rules.p_percent:RULE",
        "pq": "sdcdsl.bind.rules.pq:RULE",
        "contributors": "sdcdsl.bind.rules.contributors:RULE",
        "request": "sdcdsl.bind.rules.request:RULE",
        "zero": "sdcdsl.bind.rules.zero:RULE",
        "group_disclosure": "sdcdsl.bind.rules.group_disclosure:RULE",
        "status": "sdcdsl.bind.rules.status:RULE",
    },
    "readers": {
        "csv": "sdcdsl.formats.csv:READER",
        "parquet": "sdcdsl.formats.parquet:READER",
        "argus": "sdcdsl.formats.argus:READER",
        "excel": "sdcdsl.formats.excel:READER",
        "sas": "sdcdsl.formats.sas:READER",
        "spss": "sdcdsl.formats.spss:READER",
        "stata": "sdcdsl.formats.stata:READER",
        "duckdb": "sdcdsl.formats.duckdb:READER",
        "postgres": "sdcdsl.formats.postgres:READER",
        "sdmx": "sdcdsl.formats.sdmx:READER",
        "frame": "sdcdsl.formats.frame:READER",
    },
    "tables": {
        "jj": "sdcdsl.formats.jj:TABLE",
    },
    "hierarchies": {
        "hrc": "sdcdsl.formats.hrc:HIERARCHY",
        "columns": "sdcdsl.formats.columns:HIERARCHY",
        "parents": "sdcdsl.formats.parents:HIERARCHY",
        "sdmx": "sdcdsl.formats.sdmx:HIERARCHY",
    },
    "recodes": {
        "grc": "sdcdsl.formats.grc:RECODE",
    },
    "labels": {
        "csv": "sdcdsl.formats.csv_labels:LABELS",
        "cdl": "sdcdsl.formats.cdl:LABELS",
        "sdmx": "sdcdsl.formats.sdmx:LABELS",
    },
    "cell_lists": {
        "csv": "sdcdsl.formats.csv:CELL_LIST",
        "hst": "sdcdsl.formats.hst:CELL_LIST",
    },
    "writers": {
        "csv": "sdcdsl.formats.csv:WRITER",
        "parquet": "sdcdsl.formats.parquet:WRITER",
        "sdmx": "sdcdsl.formats.sdmx:WRITER",
        "jj": "sdcdsl.formats.jj:WRITER",
        "argus": "sdcdsl.formats.argus:WRITER",
        "excel": "sdcdsl.formats.excel:WRITER",
        "cross_table": "sdcdsl.formats.cross_table:WRITER",
        "pivot": "sdcdsl.formats.pivot:WRITER",
        "code_value": "sdcdsl.formats.code_value:WRITER",
        "html": "sdcdsl.formats.html:WRITER",
    },
    "reviews": {
        "excel": "sdcdsl.formats.excel:REVIEW",
        "sdmx": "sdcdsl.formats.sdmx:REVIEW",
        "hst": "sdcdsl.formats.hst:REVIEW",
        "sacro": "sdcdsl.formats.sacro:REVIEW",
    },
    "backends": {
        "highs": "sdcdsl.solve.highs:BACKEND",
        "scip": "sdcdsl.solve.scip:BACKEND",
        "gurobi": "sdcdsl.solve.through_linopy:GUROBI",
        "cplex": "sdcdsl.solve.through_linopy:CPLEX",
        "xpress": "sdcdsl.solve.through_linopy:XPRESS",
        "mosek": "sdcdsl.solve.through_linopy:MOSEK",
    },
    "functions": {
        "min": "sdcdsl.vocabulary.functions:MIN",
        "max": "sdcdsl.vocabulary.functions:MAX",
        "abs": "sdcdsl.vocabulary.functions:ABS",
        "sqrt": "sdcdsl.vocabulary.functions:SQRT",
        "log": "sdcdsl.vocabulary.functions:LOG",
        "exp": "sdcdsl.vocabulary.functions:EXP",
        "round": "sdcdsl.vocabulary.functions:ROUND",
        "floor": "sdcdsl.vocabulary.functions:FLOOR",
        "ceil": "sdcdsl.vocabulary.functions:CEIL",
        "largest": "sdcdsl.vocabulary.functions:LARGEST",
        "level": "sdcdsl.vocabulary.functions:LEVEL",
    },
}


class Described(Protocol):
    """What all records have."""

    @property
    def name(self) -> str: ...

    def incomplete(self) -> str | None:
        """Which half is missing, description or implementation, in a sentence; None if both are there."""
        ...


@record
class Fault(Record):
    """A plug-in that cannot be used."""

    kind: str  # of the registry
    name: str
    package: str
    why: str

    @property
    def headline(self) -> str:
        return f"the plug-in `{self.name}` of the package {self.package} ({self.kind}) cannot be used: {self.why}"


class Unusable(Exception):
    """What a record names cannot be loaded. The text is the reason."""


class PluginFailed(Exception):
    """The code of a plug-in raised, or gave something else than it has to. The text says of which, and no data."""


T = TypeVar("T", bound=Described)
R = TypeVar("R")


class Registry(Mapping[str, T], Generic[T]):
    """All records of one kind, our own first. Nothing is imported before it is looked up."""

    def __init__(self, kind: str, of: type[T], lines: Mapping[str, str] | None = None):
        self.kind, self._of = kind, of
        self._lines = LINES[kind] if lines is None else lines
        self._own: dict[str, T] = {}
        self._plugins: dict[str, T] | None = None
        self._faults: list[Fault] = []
        REGISTRIES.append(self)

    @property
    def group(self) -> str:
        return f"sdcdsl.{self.kind}"

    def __getitem__(self, name: str) -> T:
        if name in self._lines:
            if name not in self._own:
                self._own[name] = load(self._lines[name])
            return self._own[name]
        return self.plugins[name]

    def __contains__(self, name: object) -> bool:
        return name in self._lines or name in self.plugins

    def __iter__(self) -> Iterator[str]:
        yield from self._lines
        yield from self.plugins

    def __len__(self) -> int:
        return len(self._lines) + len(self.plugins)

    def find(self, name: str) -> T | None:
        """By its name, or by another name that a record gives itself. Ours come first."""
        if name in self._lines:
            return self[name]
        for records in (self.built_in, self.plugins):
            if name in records:
                return records[name]
            for found in records.values():
                if name in _aliases(found):
                    return found
        return None

    @property
    def built_in_names(self) -> tuple[str, ...]:
        return tuple(self._lines)

    @property
    def built_in(self) -> dict[str, T]:
        return {name: self[name] for name in self._lines}

    @property
    def plugins(self) -> dict[str, T]:
        """Those that can be used. Read only when a name is not built in: an office without plug-ins pays nothing."""
        if self._plugins is None:
            self._plugins, self._faults = {}, []
            for point in sorted(_entry_points(self.group), key=lambda p: (p.name, p.value)):
                self._add(self._plugins, point)
        return self._plugins

    @property
    def faults(self) -> list[Fault]:
        _ = self.plugins
        return self._faults

    def fault(self, name: str) -> Fault | None:
        """Why a plug-in of this name cannot be used, if there is one."""
        if name in self:
            return None
        return next((fault for fault in self.faults if fault.name == name), None)

    def is_plugin(self, name: str) -> bool:
        return name not in self._lines and name in self.plugins

    def call(self, name: str, function: Callable[..., R], *given: Any, **named: Any) -> R:
        """Calls what the record of this name brings along. What ours raises is a bug of ours."""
        if not self.is_plugin(name):
            return function(*given, **named)
        try:
            return function(*given, **named)
        except (OSError, MemoryError):  # of files and machines, and said so
            raise
        except Exception as error:
            raise PluginFailed(f"the plug-in `{name}` ({self.kind}) failed: {_raised(error)}") from error

    def forget(self) -> None:
        self._plugins, self._faults = None, []

    def _add(self, found: dict[str, T], point: Any) -> None:
        package = point.dist.name if point.dist is not None else "?"
        why, loaded = self._loaded(point)
        if why is None:
            why = self._taken(found, {point.name, *_aliases(loaded)})
        if why is not None:
            self._faults.append(Fault(self.kind, point.name, package, why))
        else:
            found[point.name] = loaded

    def _taken(self, found: Mapping[str, T], names: set[str]) -> str | None:
        ours, theirs = {*self._lines}, {*found}
        if hasattr(self._of, "aliases"):  # else nothing is loaded to look for them
            ours |= {alias for own in self.built_in.values() for alias in _aliases(own)}
            theirs |= {alias for other in found.values() for alias in _aliases(other)}
        for name in sorted(names):
            if name in ours:
                return f"sdcdsl itself has the name `{name}`"
            if name in theirs:
                return f"another plug-in has the name `{name}`"
        return None

    def _loaded(self, point: Any) -> tuple[str | None, Any]:
        try:
            loaded = load(point.value)
        except Unusable as error:
            return str(error), None
        if not isinstance(loaded, self._of):
            kind = self._of.__name__
            return f"{point.value} is a {type(loaded).__name__}, and a {kind} is needed, which describes it", None
        if loaded.name != point.name:
            return f"its record has another name, `{loaded.name}`", None
        try:
            return loaded.incomplete(), loaded
        except Exception as error:  # a record whose fields are not what they should be
            return f"its record does not hold together ({type(error).__name__}: {error})", None


REGISTRIES: list[Registry] = []


def _aliases(record: Any) -> tuple[str, ...]:
    return getattr(record, "aliases", ())


def load(reference: str | Callable[..., Any] | None) -> Any:
    """What "module:attribute" or "module" names; anything else is what it is."""
    if reference is None:
        raise Unusable("nothing carries it out")
    if not isinstance(reference, str):
        return reference
    module, _, path = reference.partition(":")
    try:
        found: Any = import_module(module.strip())
        for name in filter(None, path.strip().split(".")):
            found = getattr(found, name)
    except (Exception, SystemExit) as error:  # whatever the code of somebody else raises when it is imported
        raise Unusable(f"{reference} cannot be loaded ({type(error).__name__}: {error})") from error
    return found


def unloaded(reference: str | Callable[..., Any] | None) -> str | None:
    """Why what a record names cannot be loaded, in a sentence; None if it is there."""
    try:
        load(reference)
    except Unusable as error:
        return str(error)
    return None


def unloadable(reference: str | Callable[..., Any] | None) -> str | None:
    """Why what a record names cannot be called, in a sentence; None if it can. Nothing is imported: a module that is
    there is enough, and its absence is what a forgotten half of a plug-in looks like."""
    if callable(reference):
        return None
    if not isinstance(reference, str) or not all(part.strip().isidentifier() for part in _parts(reference)):
        return f'{reference!r} is no function, and does not name one by "module:function"'
    try:
        there = find_spec(reference.partition(":")[0].strip())
    except (Exception, SystemExit) as error:  # of a package above it, which is imported
        return f"{reference} cannot be found ({type(error).__name__}: {error})"
    return None if there is not None else f"there is no module for {reference}"


def _parts(reference: str) -> list[str]:
    return reference.replace(":", ".").split(".")


def _raised(error: Exception) -> str:
    """Where the code of a plug-in failed. What an exception says may be data, and messages end up in logs."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in line {frames[-1].lineno} of {PurePath(frames[-1].filename).name}" if frames else ""
    return f"it raised {type(error).__name__}{where}"


def forget() -> None:
    """Plug-ins are looked up again: after packages were installed into a running process."""
    for registry in REGISTRIES:
        registry.forget()


def _entry_points(group: str) -> Any:
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points(group=group)
