"""What every executor here can do beside `submit`: hold what many tasks need, and talk to a task that runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from math import inf
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")

DEATHS = 3  # workers that may die on a task before the task is to blame


class WorkerLost(RuntimeError):
    """Every worker that was given a task died of it."""


class ClusterLost(WorkerLost):
    """The cluster itself is gone, and with it everything that it was given; the message says what is known of it."""


class Stopped(RuntimeError):
    """The team was sent home while it worked."""


class SharedValue(Generic[T]):
    """What many tasks need. It goes to every worker once; a task that has it among its arguments is given the value."""

    def __init__(self, value: T) -> None:
        self.value = value


class Channel:
    """Between who waits for a task and the task itself, in whatever process that runs: what the task says meanwhile,
    and up to which point it should stop. Among the arguments of a task, the task gets its own end of the line."""

    def __init__(self, receive: Callable[[Any], None] = lambda message: None, *, discreet: bool = False) -> None:
        self._receive = receive
        self.discreet = discreet  # others may listen, too: no figures
        self._lock = Lock()
        self._last = 0
        self._heard: Callable[[int], None] | None = None

    # ---- of who waits ------------------------------------------------------------------------------------

    def stop(self, number: int) -> None:
        """Ends what the task does, up to its part of this number."""
        with self._lock:
            if number <= self._last:
                return
            self._last, heard = number, self._heard
        if heard is not None:
            heard(number)

    @property
    def stopped_at(self) -> int:
        """The last part that was to be stopped; 0: none so far."""
        return self._last

    # ---- of the task, or of what connects it -------------------------------------------------------------

    def say(self, message: Any) -> None:
        """Numbers, words, and lists of them: it may have to go far."""
        self._receive(message)

    def listen(self, heard: Callable[[int], None]) -> None:
        with self._lock:
            self._heard, last = heard, self._last
        if last:
            heard(last)


class Team(Executor, ABC):
    """`width` tasks at a time. `patience`: seconds of work that are done by who asks, before anybody else is bothered;
    starting a process takes longer than many an audit."""

    width: int = 1
    patience: float = inf
    apart = False  # tasks are done in other processes, by copies of what they are given
    near = True  # and on this machine, where our files are

    def share(self, value: T) -> SharedValue[T]:
        return SharedValue(value)

    @abstractmethod
    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Of an executor; what is `SharedValue` or a `Channel` among the arguments reaches the task as such."""

    def dismiss(self) -> None:
        """At once, whatever is still being done: futures that are not done fail with `Stopped`."""
        self.shutdown(wait=False, cancel_futures=True)

    def __exit__(self, *error: object) -> None:
        """Who leaves has the results they wanted: what is still being done was given up."""
        self.dismiss()


def opened(args: tuple[Any, ...]) -> list[Any]:
    """Arguments as a task wants them, within one process."""
    return [arg.value if isinstance(arg, SharedValue) else arg for arg in args]
