"""Inner loops that run compiled where the work is large and as they stand where it is small.

`@kernel` wraps a function over arrays and numbers. `.plain` is the function itself; `.fast` is the same function
compiled, on the first use, and kept on disk between runs. Loading the compiler takes longer than many a small table, so
nothing here imports it before `.fast` is required; where it is not installed `.fast` is `.plain`.

A kernel may call other kernels: in `.plain` they are plain, in `.fast` compiled. The copy on disk is renewed when the
kernel's own file changes, or that of a kernel it calls, or a number that they name and another module defines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

from sdcdsl.numerics.tuning import TUNING

P = ParamSpec("P")
R = TypeVar("R")
Mode = Literal["by size", "plain", "fast"]


_mode: Mode = "by size"


@contextmanager
def kernels(mode: Mode) -> Iterator[None]:
    """Within the block every choice that is left to size is made this way. For tests and measurements."""
    global _mode  # noqa: PLW0603  one switch for the process is the point
    before, _mode = _mode, mode
    try:
        yield
    finally:
        _mode = before


def large(size: int) -> bool:
    """Whether work on arrays of this size should run compiled."""
    return size >= TUNING.large if _mode == "by size" else _mode == "fast"


class Kernel(Generic[P, R]):
    """A function in two forms. Called directly, it takes the form that fits the longest of its arguments."""

    def __init__(self, written: Callable[P, R], reorder: bool = False) -> None:
        self._written = cast(FunctionType, written)
        # Sums may be added up in another order, several terms at a time.
        self._freedom: Any = {"reassoc", "contract", "nsz"} if reorder else False
        update_wrapper(self, written)

    @cached_property
    def plain(self) -> Callable[P, R]:
        return cast("Callable[P, R]", self._bound("plain"))

    @cached_property
    def fast(self) -> Callable[P, R]:
        return self._compiled(_marked(self._bound("inner"), *self._elsewhere()))

    @cached_property
    def inner(self) -> Callable[P, R]:
        """The same for other compiled kernels alone: what Python would call it by takes longer to compile than a short
        loop."""
        bound = _marked(self._bound("inner"), *self._elsewhere())
        # Its own name, since numba keeps copies by name: Python cannot call this one.
        return self._compiled(
            _renamed(bound, f"{bound.__qualname__}_inner"), no_cpython_wrapper=True, no_cfunc_wrapper=True
        )

    def _compiled(self, bound: FunctionType, **options: Any) -> Callable[P, R]:
        try:
            from numba import njit  # noqa: PLC0415  half a second, so only here
        except ImportError:
            return self.plain
        options |= {"nogil": True, "fastmath": self._freedom}
        try:
            return cast("Callable[P, R]", njit(cache=True, **options)(bound))
        except RuntimeError:  # no folder to keep it in
            return cast("Callable[P, R]", njit(**options)(bound))

    def at(self, size: int) -> Callable[P, R]:
        """The form that fits the size; the compiled one in any case once it is there."""
        ready = _mode == "by size" and "fast" in self.__dict__
        return self.fast if ready or large(size) else self.plain

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        size = max((len(cast(Any, a)) for a in args if hasattr(a, "__len__")), default=0)
        return self.at(size)(*args, **kwargs)

    def _callees(self) -> list[Kernel]:
        named = (self._written.__globals__.get(name) for name in self._written.__code__.co_names)
        return [value for value in named if isinstance(value, Kernel)]

    def _elsewhere(self) -> tuple[set[str], dict[str, object]]:
        """Files of the kernels it calls, and of those they call, other than its own; and the numbers they all name."""
        files: set[str] = set()
        numbers: dict[str, object] = {}
        seen: list[Kernel] = []
        waiting: list[Kernel] = [self]
        while waiting:
            one = waiting.pop()
            if not any(one is other for other in seen):
                seen.append(one)
                code = one._written.__code__
                files.add(code.co_filename)
                named = {name: one._written.__globals__.get(name) for name in code.co_names}
                numbers |= {
                    f"{Path(code.co_filename).stem} {name}": value
                    for name, value in named.items()
                    if isinstance(value, int | float | tuple)
                }
                waiting += one._callees()
        return files - {self._written.__code__.co_filename}, numbers

    def _bound(self, form: Literal["plain", "inner"]) -> FunctionType:
        """The function with the kernels it names replaced by their one form. Done late, when its module is complete."""
        written = self._written
        names = {
            name: getattr(value, form)
            for name in written.__code__.co_names
            if isinstance(value := written.__globals__.get(name), Kernel)
        }
        if not names:
            return written
        made = FunctionType(written.__code__, written.__globals__ | names, written.__name__, written.__defaults__)
        made.__qualname__, made.__module__ = written.__qualname__, written.__module__
        return made


def _marked(function: FunctionType, files: set[str], numbers: dict[str, object]) -> FunctionType:
    """The same with a variable that nobody reads: what stands in these files, and the numbers. numba looks for its copy
    by the variables that a function closes over, and by its own file, but not by the files of what it calls, nor by
    numbers that other modules define."""
    if not files and not numbers:
        return function
    text = sha256()
    for file in sorted(files):
        with suppress(OSError):
            text.update(Path(file).read_bytes())
    text.update(repr(sorted(numbers.items())).encode())
    code = function.__code__.replace(co_freevars=(*function.__code__.co_freevars, "elsewhere"))
    closure = (*(function.__closure__ or ()), CellType(text.hexdigest()))
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _renamed(function: FunctionType, name: str) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__qualname__, made.__module__ = name, function.__module__
    return made


def kernel(written: Callable[P, R]) -> Kernel[P, R]:
    """Marks an inner loop: only arrays and numbers, only indexing and arithmetic, no objects."""
    return Kernel(written)


def reordering_kernel(written: Callable[P, R]) -> Kernel[P, R]:
    """The same for loops that do not mind in which order sums are added up, which makes them several times as fast."""
    return Kernel(written, reorder=True)
