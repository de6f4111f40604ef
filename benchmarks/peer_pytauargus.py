"""Run by `peers.py` with the Python of pytauargus' own environment: a table as JJ file in, what it hides out.

    python peer_pytauargus.py TABLE.jj ANSWER.json '{"minutes": 2}'

Optimal suppression, OPT, as a batch runs it: the routine gets the table as a JJ file and whole minutes (of CPU time),
and writes the indices of the secondary cells of its best pattern. Code 1 says that the limit was met.
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

from pytauargus import _tauargus  # pyright: ignore[reportMissingImports]


def main() -> None:
    found = Path(sys.argv[2]).with_suffix(".found")
    before = os.times()
    code = _tauargus.HiTaSCtrl().full_jj(
        in_file_jj=sys.argv[1], out_file=str(found), max_time=json.loads(sys.argv[3])["minutes"]
    )
    after = os.times()
    answer = {"version": version("pytauargus"), "cpu": sum(after[:4]) - sum(before[:4]), "hidden": None}
    answer["said"] = {0: "ended", 1: "stopped at its limit"}.get(code, f"failed with code {code}")
    if code in (0, 1) and found.is_file() and found.stat().st_size:
        answer["hidden"] = [int(text.split()[0]) for text in found.read_text().splitlines() if text.strip()]
    Path(sys.argv[2]).write_text(json.dumps(answer))


main()
