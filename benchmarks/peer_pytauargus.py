"""Run by `peers.py` with the Python of pytauargus' own environment: a table as JJ file in, what it hides out.

    python peer_pytauargus.py TABLE.jj ANSWER.json '{"do": "optimal", "minutes": 2}'

`optimal`: OPT, as a batch runs it. The routine gets the table as a JJ file and whole minutes (of CPU time), and writes
the indices of the secondary cells of its best pattern. Code 1 says that the limit was met.
`modular`: MOD, which needs dimensions and hierarchies: a batch on the table in `table.tab`, `table.rda` and `.hrc`
files beside the JJ file, whose cells stand in the same order.
`audit`: the interval of every hidden cell.
"""

import json
import os
import resource
import sys
from importlib.metadata import version
from pathlib import Path

from pytauargus import _tauargus  # pyright: ignore[reportMissingImports]

SECONDARY = (11, 12)  # codes of secondary cells


def optimal(table: str, minutes: int) -> dict:
    found = Path(sys.argv[2]).with_suffix(".found")
    code = _tauargus.HiTaSCtrl().full_jj(in_file_jj=table, out_file=str(found), max_time=minutes)
    said = {0: "ended", 1: "stopped at its limit"}.get(code, f"failed with code {code}")
    hidden = None
    if code in (0, 1) and found.is_file() and found.stat().st_size:
        hidden = [int(text.split()[0]) for text in found.read_text().splitlines() if text.strip()]
    return {"hidden": hidden, "said": said}


def modular(folder: Path) -> dict:
    from pytauargus.engine import run_batch  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    said, hidden = "ended", None
    try:
        run_batch(str(folder / "table.arb"))
        order = {line.rsplit(";", 5)[0]: at for at, line in enumerate((folder / "table.tab").read_text().splitlines())}
        hidden = []
        for line in (folder / "out.csv").read_text().splitlines():
            codes, _, status = line.replace('"', "").rsplit(",", 2)
            if int(status) in SECONDARY:
                hidden.append(order[codes.replace(",", ";")])
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:200]
    return {"hidden": hidden, "said": said}


def audit(table: str) -> dict:
    return {"intervals": [(found["cell"], found["min"], found["max"]) for found in _tauargus.audit_jj(table)]}


def main() -> None:
    table, setting = sys.argv[1], json.loads(sys.argv[3])
    before = os.times()
    if setting["do"] == "optimal":
        answer = optimal(table, setting["minutes"])
    else:
        answer = modular(Path(table).parent) if setting["do"] == "modular" else audit(table)
    after = os.times()
    answer |= {"version": version("pytauargus"), "cpu": sum(after[:4]) - sum(before[:4])}
    answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    Path(sys.argv[2]).write_text(json.dumps(answer))


main()
