"""Tasks on a cluster of dask.distributed (the extra `cluster`): one that runs, by its address, or one of this machine.

What dask sees of a task is a sealed parcel. It prints keys, names of functions and, when something fails, arguments and
exceptions into its logs and onto its dashboard: so keys are a word of ours and a random number, arguments are bytes in
an object that prints as its length, and a task that fails hands its exception back as a result. What a task says while
it runs passes through the scheduler, which keeps such messages for a while: lines are *discreet* here, and who speaks
on a discreet line gives no figures.

Data that tasks share goes to the cluster once (`scatter`) and from worker to worker after that. Where all workers that
held it are gone, dask forgets the tasks that need it: they are given to it again, with the data.
"""

from __future__ import annotations

import contextlib
import logging
import pickle
import signal
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from time import monotonic
from typing import TYPE_CHECKING, Any

from sdcdsl.executing.choosing import ClusterRefused, cores
from sdcdsl.executing.frames import packed
from sdcdsl.executing.team import DEATHS, Channel, ClusterLost, SharedValue, Stopped, Team, WorkerLost
from sdcdsl.executing.worker import Placeholder, sendable
from sdcdsl.version import __version__

if TYPE_CHECKING:
    import distributed

PATIENCE = 0.5
CONNECT = 10  # seconds to reach a scheduler
ARRIVE = 30  # seconds for its first worker to be there
ABSENT = 120.0  # seconds without any worker after which none is expected any more
LOOK = 1.0  # seconds between two looks for workers


class Parcel:
    """Bytes that say nothing about themselves; opened once where they are used, and kept open."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._value: Any = None
        self._open = False
        self._lock = threading.Lock()

    def value(self) -> Any:
        with self._lock:
            if not self._open:
                self._value, self._open = pickle.loads(self._content), True
            return self._value

    def __getstate__(self) -> bytes:
        return self._content

    def __setstate__(self, content: bytes) -> None:
        self.__init__(content)

    def __sizeof__(self) -> int:
        return len(self._content)

    def __repr__(self) -> str:
        return f"<parcel of {len(self._content)} bytes>"


# ---- on a worker of the cluster -------------------------------------------------------------------------


_lines: dict[str, Channel] = {}  # of the tasks that run here
_stops: dict[str, int] = {}  # what was said to tasks, wherever they are


def do(task: Parcel, topic: str, key: str, *shared: Parcel) -> Parcel:
    try:
        work, args, kwargs, version = task.value()
        if version != __version__:
            raise ClusterRefused(f"a worker of the cluster has sdcdsl {__version__}, and this is {version}")
        say = _saying(topic, key)
        line = Channel(say, discreet=True)
        _lines[key] = line
        if key in _stops:
            line.stop(_stops[key])
        if any(isinstance(arg, Placeholder) and arg.key is None for arg in args):
            say(None)  # it begins, perhaps once more: who waits may have said something meanwhile
        given = iter(shared)
        opened = [
            arg if not isinstance(arg, Placeholder) else line if arg.key is None else next(given).value()
            for arg in args
        ]
        return Parcel(packed((True, work(*opened, **kwargs))))
    except Exception as error:
        return Parcel(packed((False, sendable(error))))
    finally:
        _lines.pop(key, None)


def _saying(topic: str, key: str) -> Callable[[Any], None]:
    from distributed import get_worker  # noqa: PLC0415

    worker = get_worker()

    def say(message: Any) -> None:
        with contextlib.suppress(Exception):  # progress that nobody hears of is no reason to fail
            worker.log_event(topic, {"task": key, "said": message})

    return say


def stop(key: str, part: int) -> None:
    """Run on every worker: who knows which of them has the task, or will have it when it is done again?"""
    _stops[key] = part
    if key in _lines:
        _lines[key].stop(part)


def version_here() -> str:
    return __version__


# ---- here -----------------------------------------------------------------------------------------------


class _Task:
    def __init__(self, key: str, parcel: Parcel, shared: list[SharedValue[Any]], line: Channel | None) -> None:
        self.key, self.parcel, self.shared, self.line = key, parcel, shared, line
        self.future: Future = Future()
        self.there: distributed.Future | None = None
        self.losses = 0


class Cluster(Team):
    apart, near = True, False

    def __init__(
        self, client: distributed.Client, local: distributed.SpecCluster | None = None, patience: float = PATIENCE
    ) -> None:
        self._client, self._local = client, local
        self.patience = patience
        self._topic = f"sdcdsl-{uuid.uuid4().hex}"
        self._scattered: weakref.WeakKeyDictionary[SharedValue[Any], distributed.Future] = weakref.WeakKeyDictionary()
        self._tasks: dict[str, _Task] = {}
        self._lock = threading.RLock()
        self._closed = False
        self._client.subscribe_topic(self._topic, self._hear)
        self._ended = threading.Event()
        threading.Thread(target=self._look_for_workers, daemon=True, name="workers").start()

    @staticmethod
    def at(address: str, patience: float = PATIENCE) -> Cluster:
        """`tcp://host:8786`, `tls://host:8786`, or `local:4` for four processes of this machine."""
        kind, _, rest = address.partition(":")
        if kind not in ("tcp", "tls", "local") or (kind == "local" and rest and not (rest.isdigit() and int(rest))):
            raise ClusterRefused(f"{address} is no cluster: tcp://host:8786, tls://host:8786, or local:4")
        try:
            import distributed  # noqa: PLC0415
        except ImportError:
            raise ClusterRefused("a cluster needs the package distributed: install sdcdsl[cluster]") from None
        if kind == "local":
            return _local(distributed, int(rest) if rest else cores(), patience)
        try:
            client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise ClusterRefused(f"there is no answer from a scheduler at {address}: {error}") from None
        try:
            client.wait_for_workers(1, timeout=ARRIVE)
            _same_version(client)
        except BaseException as error:
            client.close()
            if isinstance(error, TimeoutError):
                raise ClusterRefused(f"the cluster at {address} has no workers") from None
            raise
        return Cluster(client, patience=patience)

    @property
    def width(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        with self._reaching():
            known: Any = self._client.nthreads()  # dask's clients wait for answers or do not, and types cannot tell
        return max(sum(known.values()), 1)

    @property
    def client(self) -> distributed.Client:
        return self._client

    # ---- tasks -----------------------------------------------------------------------------------------

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        shared = [arg for arg in args if isinstance(arg, SharedValue)]
        lines = [arg for arg in args if isinstance(arg, Channel)]
        if len(lines) > 1:
            raise ValueError("a task has one line")
        places = [
            Placeholder(0) if isinstance(a, SharedValue) else Placeholder(None) if isinstance(a, Channel) else a
            for a in args
        ]
        parcel = Parcel(packed((work, places, kwargs, __version__)))
        key = f"sdcdsl-{work.__name__.strip('_')}-{uuid.uuid4().hex}"
        task = _Task(key, parcel, shared, lines[0] if lines else None)
        with self._lock:
            if self._closed:
                raise RuntimeError("the team has been sent home")
            self._tasks[key] = task
        if task.line is not None:
            task.line.listen(lambda part: self._stop(key, part))
        task.future.add_done_callback(lambda made: self._forget(task))
        with self._reaching():
            self._hand_over(task)
        return task.future

    @property
    def _gone(self) -> bool:
        """Is there no connection to the scheduler? It forgets what a client that went away had given it."""
        return self._client.status != "running" or self._client.scheduler_comm is None

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        """Whatever dask raises when nobody is there any more."""
        try:
            yield
        except Exception as error:
            if self._gone and not self._closed:
                raise ClusterLost(
                    f"there is no connection to its scheduler any more ({type(error).__name__})"
                ) from error
            raise

    def _hand_over(self, task: _Task, anew: bool = False) -> None:
        with self._lock:
            data = [self._on_cluster(shared, anew) for shared in task.shared]
            key = f"{task.key}-{task.losses}"  # dask remembers what became of a key
            task.there = self._client.submit(do, task.parcel, self._topic, task.key, *data, key=key, pure=False)
        task.there.add_done_callback(lambda there: self._done(task, there))

    def _on_cluster(self, shared: SharedValue[Any], anew: bool) -> distributed.Future:
        known = self._scattered.get(shared)
        if known is None or (anew and known.status != "finished"):
            known = self._scattered[shared] = self._sent(Parcel(packed(shared.value)))
        return known

    def _sent(self, parcel: Parcel) -> Any:
        """A worker may die while the data is on its way to it; dask then sends it to nobody else."""
        for _ in range(DEATHS - 1):
            with contextlib.suppress(OSError):
                return self._client.scatter(parcel, hash=False)
        return self._client.scatter(parcel, hash=False)

    def _done(self, task: _Task, there: distributed.Future) -> None:
        if task.future.done():
            return
        if self._closed:
            self._fail(task, Stopped("stopped"))
            return
        if self._gone and there.status != "finished":
            self._fail(task, ClusterLost("there is no connection to its scheduler any more"))
            return
        why: Any = None
        if there.status == "finished":
            try:
                good, result = there.result().value()
                with contextlib.suppress(Exception):  # somebody cancelled it meanwhile
                    task.future.set_result(result) if good else task.future.set_exception(result)
                return
            except Exception as error:  # the worker died with the result in its hands
                why = error
        elif there.status == "error":
            why = there.exception()
        task.losses += 1
        if task.losses >= DEATHS or type(why).__name__ == "KilledWorker":  # dask has tried it again and again
            self._fail(task, WorkerLost(f"workers of the cluster were lost with it: {type(why).__name__}"))
            return
        try:
            with self._reaching():
                self._hand_over(task, anew=True)
        except Exception as error:
            self._fail(task, error)

    def _fail(self, task: _Task, error: BaseException) -> None:
        with contextlib.suppress(Exception):
            task.future.set_exception(error)

    def _forget(self, task: _Task) -> None:
        self._tasks.pop(task.key, None)
        if task.there is not None and task.future.cancelled():
            task.there.cancel()

    def _look_for_workers(self) -> None:
        """Tasks wait without end where no worker is left: dask does not mind."""
        alone_since: float | None = None
        while not self._ended.wait(LOOK):
            there: Any = None
            with contextlib.suppress(Exception):  # whoever has a task hears that the scheduler is gone
                there = self._client.nthreads()
            if there != {} or not self._tasks:
                alone_since = None
            elif alone_since is None:
                alone_since = monotonic()
            elif monotonic() - alone_since > ABSENT:
                for task in list(self._tasks.values()):
                    self._fail(task, ClusterLost(f"its last worker is gone, and none came within {ABSENT:g} s"))

    # ---- lines -----------------------------------------------------------------------------------------

    def _hear(self, event: tuple[float, Any]) -> None:
        message = event[1]
        task = self._tasks.get(message["task"])
        if task is None or task.line is None:
            return
        if message["said"] is not None:
            task.line.say(message["said"])
        elif task.line.stopped_at:
            self._stop(task.key, task.line.stopped_at)

    def _stop(self, key: str, part: int) -> None:
        """In a thread: who says stop may be somebody whom the client waits for."""

        def tell() -> None:
            with contextlib.suppress(Exception):
                self._client.run(stop, key, part, on_error="ignore")

        if not self._closed:
            threading.Thread(target=tell, daemon=True, name="stop").start()

    # ---- the end ---------------------------------------------------------------------------------------

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if wait and not cancel_futures:
            for task in list(self._tasks.values()):
                with contextlib.suppress(Exception):
                    task.future.exception()
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._ended.set()
            left = list(self._tasks.values())
        for task in left:
            if not task.future.cancel():
                self._fail(task, Stopped("stopped"))
        with contextlib.suppress(Exception):
            self._client.close()
        if self._local is not None:
            with contextlib.suppress(Exception):
                self._local.close()


def _local(distributed: Any, width: int, patience: float) -> Cluster:
    """Processes of this machine behind a scheduler: without a dashboard, open to nobody else who works on this machine,
    and without a limit of memory at which dask would write data to disk."""
    try:
        security = distributed.Security.temporary()
    except ImportError:
        raise ClusterRefused("a local cluster needs the package cryptography: install sdcdsl[cluster]") from None
    import dask.config  # noqa: PLC0415

    from sdcdsl.executing.dask_nodes import SchedulerWithoutHTTP, WorkerWithoutHTTP  # noqa: PLC0415

    at: dict[str, Any] = {"host": "127.0.0.1", "security": security, "protocol": "tls://", "dashboard": False}
    worker = {
        **at,
        "nthreads": 1,
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
        "worker_class": WorkerWithoutHTTP,
    }
    cluster = None
    # Workers have the environment of this process: other numbers of threads add up in another order.
    try:
        with dask.config.set({"distributed.nanny.pre-spawn-environ": {}}):
            cluster = distributed.SpecCluster(
                scheduler={"cls": SchedulerWithoutHTTP, "options": {**at, "port": 0, "allowed_failures": DEATHS - 1}},
                workers={i: {"cls": distributed.Nanny, "options": worker} for i in range(width)},
                silence_logs=logging.CRITICAL,
                security=security,
            )
        client = distributed.Client(cluster, set_as_default=False)
    except Exception as error:  # dask has a word of its own for each way in which a process can end while it starts
        if cluster is not None:
            with contextlib.suppress(Exception):
                cluster.close()
        raise ClusterLost(f"a process of the local cluster ended while it started ({type(error).__name__})") from error

    class Deaf(distributed.WorkerPlugin):
        """Ctrl-C is heard by who asks: a terminal tells all of its processes."""

        def setup(self, worker: Any) -> None:
            with contextlib.suppress(ValueError):
                signal.signal(signal.SIGINT, signal.SIG_IGN)

    client.register_plugin(Deaf())
    return Cluster(client, cluster, patience)


def _same_version(client: distributed.Client) -> None:
    there: Any = client.run(version_here, on_error="return")
    for worker, said in there.items():
        if isinstance(said, BaseException):
            raise ClusterRefused(f"the worker {worker} has no sdcdsl {__version__} to work with: {said}")
        if said != __version__:
            raise ClusterRefused(f"the worker {worker} has sdcdsl {said}, and this is {__version__}: install the same")
