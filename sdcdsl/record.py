"""Frozen records that are cheap to define.

`dataclass(frozen=True)` writes and compiles six methods a class, and a signature for classes without a docstring: with
a hundred small records that is most of the start-up time of `sdcdsl check`. A `Record` gets only its `__init__` made;
the rest is inherited. Two records are equal when they are of one class and their fields are, except for those declared
with `compare=False`, such as places in a text.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    from typing import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda f: f


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: _Class) -> _Class:
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__
    return dataclass(eq=False, repr=False)(cls)


class Record:
    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise FrozenInstanceError(f"cannot change {name} of a {type(self).__name__}")
        self.__dict__[name] = value

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.__dict__, other.__dict__
        return all(mine[name] == theirs[name] for name in _compared(type(self)))

    def __hash__(self) -> int:
        return hash((type(self), *(self.__dict__[name] for name in _compared(type(self)))))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={self.__dict__[name]!r}" for name in _compared(type(self)))
        return f"{type(self).__name__}({inside})"


@cache
def _compared(cls: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if f.compare)
