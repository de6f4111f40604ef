"""What an audit and the verification of its certificate cost as commands, from files to what they print."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sdcdsl.pattern import Pattern


def audit_and_verify(table: Path, pattern: Pattern, folder: Path) -> tuple[float, float]:
    """CPU seconds of `sdcdsl audit` and `sdcdsl verify`, interpreter and all."""
    released, certificate = folder / "released.csv", folder / "command.cert"
    write_release(pattern, released)
    audited = cpu(["audit", str(table), "--released", str(released), "--certificate", str(certificate)])
    return audited, min(cpu(["verify", str(certificate)]) for _ in range(3))


def write_release(pattern: Pattern, path: Path) -> None:
    lines = ["cell,value,low,high"]
    for cell, (low, high) in enumerate(zip(pattern.low.tolist(), pattern.high.tolist(), strict=True)):
        if low == high:
            lines.append(f"{cell},{low!r},,")
        elif np.isinf([low, high]).all():
            lines.append(f"{cell},x,,")
        else:
            lines.append(f"{cell},,{low!r},{high!r}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def cpu(arguments: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "sdcdsl", *arguments], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 6), done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
