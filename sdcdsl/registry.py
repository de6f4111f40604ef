"""Every method, rule, reader, writer, backend and cost by its name: one line each, to the record that describes it and
names what does the work.

A record is loaded when its name is used first, so `sdcdsl check` loads no numerical library. Third parties add records
by entry points, in the group `sdcdsl.KIND`. A plug-in that cannot be used is a `Fault`, which commands report: it is
never raised, and no table contains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
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


T = TypeVar("T", bound=Described)


class Registry(Mapping[str, T], Generic[T]):
    """All records of one kind, our own first. Nothing is imported before it is looked up."""

    def __init__(self, kind: str, of: type[T], lines: Mapping[str, str] | None = None):
        self.kind, self._of = kind, of
        self._lines = LINES[kind] if lines is None else lines
        self._own: dict[str, T] = {}
        self._plugins: dict[str, T] | None = None
        self._faults: list[Fault] = []
        _ALL.append(self)

    @property
    def group(self) -> str:
        return f"sdcdsl.{self.kind}"

    def __getitem__(self, name: str) -> T:
        if name in self._lines:
            if name not in self._own:
                self._own[name] = load(self._lines[name])
            return self._own[name]
        return self.plugins[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._lines
        yield from self.plugins

    def __len__(self) -> int:
        return len(self._lines) + len(self.plugins)

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
        if name in self._lines:
            return None
        return next((fault for fault in self.faults if fault.name == name), None)

    def forget(self) -> None:
        self._plugins, self._faults = None, []

    def _add(self, found: dict[str, T], point: Any) -> None:
        package = point.dist.name if point.dist is not None else "?"
        why, loaded = self._loaded(point)
        if why is None and point.name in self._lines:
            why = "sdcdsl has this name itself"
        elif why is None and point.name in found:
            why = "another package has registered this name"
        if why is not None:
            self._faults.append(Fault(self.kind, point.name, package, why))
        else:
            found[point.name] = loaded

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
        return loaded.incomplete(), loaded


_ALL: list[Registry] = []


def load(reference: str | Callable[..., Any]) -> Any:
    """What "module:attribute" or "module" names; anything else is what it is."""
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


def forget() -> None:
    """Plug-ins are looked up again: after packages were installed into a running process."""
    for registry in _ALL:
        registry.forget()


def _entry_points(group: str) -> Any:
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points(group=group)
