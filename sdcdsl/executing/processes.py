"""Tasks in processes of this machine, which are started when there is something to do and kept for what comes next.

A worker that dies (a solver that crashes, no memory left, somebody's kill) is replaced and its task done again;
`DEATHS` workers later the task is to blame. Workers are new interpreters, not forks: threads of solvers do not survive
a fork. And they do not run the user's main program again, as processes of `multiprocessing` do: that may be a notebook,
or a script that did not expect it.

Workers have the environment of who starts them, as it is: with another number of threads linear algebra adds up in
another order, and where several answers are as good a solver may then give another.

Each worker has a thread here that hands it tasks and waits for answers. What is shared is pickled once, and sent to a
worker ahead of the first of its tasks that needs it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from typing import IO, Any

from sdcdsl.executing.frames import packed, receive, send
from sdcdsl.executing.team import DEATHS, Channel, SharedValue, Stopped, Team, WorkerLost
from sdcdsl.executing.worker import Placeholder

PATIENCE = 1.0  # about what it takes to start a process and load what attacks need
# The first line that a worker reads says where modules are: what a program added to that is not inherited.
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    "from sdcdsl.executing.worker import serve; serve()"
)


@dataclass(eq=False)
class _Task:
    number: int
    frame: bytes
    held: tuple[SharedValue[Any], ...]  # what is shared: kept until the task is done
    keys: tuple[int, ...]
    line: Channel | None
    future: Future
    deaths: int = 0


class _Worker:
    """One process, and what it was sent so far."""

    def __init__(self) -> None:
        where: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}  # Ctrl-C is heard here alone
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BOOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **where,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._to: IO[bytes] = self.process.stdin
        self._answers: IO[bytes] = self.process.stdout
        self._lock = threading.Lock()
        self.shared: set[int] = set()
        self._raw(json.dumps(sys.path).encode() + b"\n")

    def _raw(self, text: bytes) -> None:
        with contextlib.suppress(OSError), self._lock:
            self._to.write(text)
            self._to.flush()

    def tell(self, *message: Any) -> None:
        frame = packed(message)
        with contextlib.suppress(OSError, ValueError), self._lock:  # it died meanwhile: `hear` finds out
            send(self._to, frame)

    def hear(self) -> tuple[Any, ...]:
        return pickle.loads(receive(self._answers))

    def end(self) -> int:
        """Its exit code; what it still does is of no use."""
        with contextlib.suppress(OSError):
            self._to.close()
        self.process.kill()
        self._answers.close()
        return self.process.wait()


@dataclass
class _Parcels:
    """What is shared, pickled, until nobody refers to it any more."""

    frames: dict[int, bytes] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def forget(self, key: int) -> None:
        self.frames.pop(key, None)
        self.gone.add(key)


class Processes(Team):
    apart = True

    def __init__(self, width: int, patience: float = PATIENCE) -> None:
        self.width = width
        self._patience = patience
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._numbers = count(1)
        self._parcels = _Parcels()
        self._keys: weakref.WeakKeyDictionary[SharedValue[Any], int] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._workers: dict[threading.Thread, _Worker | None] = {}
        self._idle = 0
        self._closed = self._dismissed = False

    @property
    def patience(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """None is needed once they are there."""
        return self._patience if not self._workers else 0.0

    @property
    def pids(self) -> list[int]:
        """Of the processes that are there."""
        return [worker.process.pid for worker in self._workers.values() if worker is not None]

    # ---- what is required -------------------------------------------------------------------------------

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        lines = [arg for arg in args if isinstance(arg, Channel)]
        if len(lines) > 1:
            raise ValueError("a task has one line")
        held = tuple(arg for arg in args if isinstance(arg, SharedValue))
        keys = tuple(self._key(arg) for arg in held)
        frame = packed((work, tuple(self._outgoing(arg) for arg in args), kwargs))
        task = _Task(next(self._numbers), frame, held, keys, lines[0] if lines else None, Future())
        with self._lock:
            if self._closed:
                raise RuntimeError("the team has been sent home")
            self._tasks.put(task)
            if self._idle < self._tasks.qsize() and len(self._workers) < self.width:
                thread = threading.Thread(target=self._attend, daemon=True, name="worker")
                self._workers[thread] = None
                thread.start()
        return task.future

    def _outgoing(self, arg: Any) -> Any:
        if isinstance(arg, SharedValue):
            return Placeholder(self._key(arg))
        return Placeholder(None) if isinstance(arg, Channel) else arg

    def _key(self, shared: SharedValue[Any]) -> int:
        with self._lock:
            if shared not in self._keys:
                key = next(self._numbers)
                self._parcels.frames[key] = packed(shared.value)
                self._keys[shared] = key
                weakref.finalize(shared, self._parcels.forget, key)
            return self._keys[shared]

    # ---- a thread for each worker ------------------------------------------------------------------------

    def _attend(self) -> None:
        me = threading.current_thread()
        while True:
            with self._lock:
                self._idle += 1
            task = self._tasks.get()
            with self._lock:
                self._idle -= 1
            if task is None:
                break
            if task.future.set_running_or_notify_cancel():
                self._do(task, me)
            del task  # and with it what it shares
        worker = self._workers[me]
        if worker is not None:
            worker.end()

    def _do(self, task: _Task, me: threading.Thread) -> None:
        while not self._dismissed:
            try:
                worker = self._living(self._workers[me]) or _Worker()
            except OSError as error:  # no memory for another process, say
                task.future.set_exception(error)
                return
            self._workers[me] = worker
            if self._dismissed:  # by somebody who could not see this one yet
                worker.end()
                break
            try:
                done, result = self._sent(worker, task)
            except (EOFError, OSError):
                code = worker.end()
                self._workers[me] = None
                task.deaths += 1
                if task.deaths >= DEATHS and not self._dismissed:
                    why = "; was there memory left?" if code == -9 else ""
                    times = f"{task.deaths} times: " if task.deaths > 1 else ""
                    task.future.set_exception(WorkerLost(f"{times}its process ended with code {code}{why}"))
                    return
                continue
            task.future.set_result(result) if done else task.future.set_exception(result)
            return
        task.future.set_exception(Stopped("stopped"))

    @staticmethod
    def _living(worker: _Worker | None) -> _Worker | None:
        """One that died with nothing to do: the next task is not to blame for it."""
        if worker is None or worker.process.poll() is None:
            return worker
        worker.end()
        return None

    def _sent(self, worker: _Worker, task: _Task) -> tuple[bool, Any]:
        for key in self._parcels.gone & worker.shared:
            worker.tell("forget", key)
            worker.shared.discard(key)
        for key in task.keys:
            if key not in worker.shared:
                worker.tell("share", key, self._parcels.frames[key])
                worker.shared.add(key)
        worker.tell("do", task.number, task.frame)
        if task.line is not None:
            task.line.listen(lambda part: worker.tell("stop", task.number, part))
        while True:
            kind, _, content = worker.hear()
            if kind != "said":
                return kind == "done", content
            if task.line is not None:
                task.line.say(content)

    # ---- the end -----------------------------------------------------------------------------------------

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if cancel_futures:
                self._cancel_waiting()
            for _ in self._workers:
                self._tasks.put(None)
        if wait:
            for thread in self._workers:
                thread.join()

    def dismiss(self) -> None:
        self._dismissed = True
        with self._lock:
            self._closed = True
            self._cancel_waiting()
            for _ in self._workers:
                self._tasks.put(None)
        for worker in list(self._workers.values()):
            if worker is not None:
                worker.process.kill()  # its thread hears of it

    def _cancel_waiting(self) -> None:
        with contextlib.suppress(queue.Empty):
            while (task := self._tasks.get_nowait()) is not None:
                task.future.cancel()
                task.future.set_running_or_notify_cancel()
