"""A process that works for another: tasks come in by standard input, results go out by what was standard output.

Whatever else writes to standard output is shown as an error message would be, and does not get between the results.
When the other side is gone, however it ended, so is this process: a thread reads all the time and notices.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from typing import Any

from sdcdsl.executing.frames import packed, receive, send
from sdcdsl.executing.team import Channel

# Messages to a worker: ("share", key, bytes), ("forget", key), ("do", number, bytes), ("stop", number, part); from one:
# ("said", number, message), ("done", number, result) and ("failed", number, error).
Message = tuple[Any, ...]


class Placeholder:
    """Stands for an argument that is not sent with the task: what is shared under a key, or the line (no key)."""

    def __init__(self, key: int | None) -> None:
        self.key = key


def serve() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us decides what Ctrl-C means
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)  # what solvers print may quote data
    os.dup2(nowhere, 1)
    os.close(nowhere)
    source = sys.stdin.buffer
    tasks: queue.SimpleQueue[Message] = queue.SimpleQueue()
    lines: dict[int, Channel] = {}
    lock = threading.Lock()

    def tell(frame: bytes) -> None:
        with lock:
            send(out, frame)

    def read() -> None:
        try:
            while True:
                message = pickle.loads(receive(source))
                if message[0] == "stop":
                    if message[1] in lines:
                        lines[message[1]].stop(message[2])
                    continue
                if message[0] == "do":
                    number = message[1]
                    lines[number] = Channel(lambda said, number=number: tell(packed(("said", number, said))))
                tasks.put(message)
        finally:
            os._exit(0)  # the work may be deep in a solver, which nothing else can end

    threading.Thread(target=read, daemon=True).start()
    shared: dict[int, Any] = {}
    while True:
        kind, key, *rest = tasks.get()
        if kind == "share":
            shared[key] = pickle.loads(rest[0])
        elif kind == "forget":
            shared.pop(key, None)
        else:
            tell(_done(key, rest[0], shared, lines[key]))
            del lines[key]


def _done(number: int, task: bytes, shared: dict[int, Any], line: Channel) -> bytes:
    try:
        work, args, kwargs = pickle.loads(task)
        given = [_value(arg, shared, line) if isinstance(arg, Placeholder) else arg for arg in args]
        return packed(("done", number, work(*given, **kwargs)))
    except Exception as error:  # what cannot be sent is an error of the task, too
        return packed(("failed", number, sendable(error)))


def _value(place: Placeholder, shared: dict[int, Any], line: Channel) -> Any:
    return line if place.key is None else shared[place.key]


def sendable(error: BaseException) -> BaseException:
    try:
        pickle.loads(packed(error))
    except Exception:  # an exception may take anything, and pickle only some of it
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
