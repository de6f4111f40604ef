"""Work that tests give to teams; workers import it by name."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from sdcdsl.executing import Channel
from tests.waiting import HANGS, until


def add(numbers: list[int], more: int) -> int:
    return sum(numbers) + more


def slow(numbers: list[int], more: int) -> int:
    time.sleep(0.7)
    return add(numbers, more)


def who(*given: Any) -> int:
    return os.getpid()


def identity_of(value: Any) -> tuple[int, int]:
    return os.getpid(), id(value)


def waiting(line: Channel) -> str:
    stopped = threading.Event()
    line.listen(lambda part: stopped.set())
    line.say({"at": 1})
    return "stopped" if stopped.wait(HANGS) else "forgotten"


def dying(*given: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_at_first(folder: str, times: int) -> int:
    """Leaves a mark in the folder each time; how many there are once it survives."""
    marks = len(os.listdir(folder))
    if marks < times:
        open(os.path.join(folder, str(marks)), "w").close()
        dying()
    return marks


def failing(*given: Any) -> None:
    raise ValueError("this does not go")


def printing(text: str) -> str:
    os.write(1, text.encode())
    print(text, flush=True)
    return text


def unsendable() -> Any:
    return threading.Lock()


def late_if_first(number: int) -> int:
    time.sleep(0.6 if number == 0 else 0.0)
    return number


def sleeping(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def waiting_for(path: str) -> str:
    """Ends once there is such a file, and leaves another when it begins."""
    open(f"{path}.begun", "w").close()
    return until(lambda: os.path.exists(path) and path)


def who_slowly(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def failing_loudly(values: Any, code: str) -> None:
    raise ValueError(f"{code}: {int(values[0])}")


def wait_after_beginning(file: str) -> None:
    """Says that it has begun, and does not end by itself."""
    Path(file).touch()
    time.sleep(3600)
