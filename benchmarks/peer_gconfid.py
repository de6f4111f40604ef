"""Run by `peers.py` with the Python of gconfid's own environment: a table as JJ file in, what it hides out.

    python peer_gconfid.py TABLE.jj ANSWER.json '{"times": 2, "costs": ["Size", "Information"]}'

gconfid lets a cell move by TotalNoise / 2 and asks for moves of Sensitivity / 2. `times` is what a level is multiplied
with: 2 for cells known within 50 %, 1 for cells that may go from 0 to twice their value. Cells of 0 it does not
take: they stay published.

With `{"do": "audit"}` the interval of every hidden cell comes out, as gconfid's audit finds it for an attacker who
knows 0 and ten times the value, the widest that it takes.
"""

import json
import os
import resource
import sys
from importlib.metadata import version
from pathlib import Path

import gconfid  # pyright: ignore[reportMissingImports]
import pandas as pd  # pyright: ignore[reportMissingImports]

MOST_TIMES = 10.0


def table(path: Path, times: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    lines = path.read_text().splitlines()
    n = int(lines[1])
    cells, kept = [], set()
    for text in lines[2 : n + 2]:
        index, value, _, status, _, _, lower, upper, _ = text.split()
        if float(value) > 0:
            kept.add(int(index))
            level = max(float(lower), float(upper)) if status == "u" else -1.0
            word = {"u": "S", "s": "V", "z": "P", "m": "X"}[status]
            cells.append((int(index) + 1.0, float(value), float(value), times * level, word, "C"))
    entries = []
    for number, text in enumerate(lines[n + 3 :], 1):
        words = text.split(":")[1].replace("(", " ").replace(")", " ").split()
        found = [(number, int(i) + 1, int(float(c))) for i, c in zip(words[::2], words[1::2], strict=True)]
        found = [entry for entry in found if entry[1] - 1 in kept]
        entries += found if len(found) > 1 else []
    columns = ["CellId", "Total", "TotalNoise", "Sensitivity", "Status", "Type"]
    return pd.DataFrame(cells, columns=columns), pd.DataFrame(
        entries, columns=["ConstraintId", "CellId", "Coefficient"]
    )


def suppressed(path: Path, setting: dict) -> dict:
    first, second = (*setting["costs"], None)[:2]
    cells, relations = table(path, setting["times"])
    before = os.times()
    made = gconfid.Suppression(
        incell=cells, inconstraint=relations, cost_function1=first, cost_function2=second, trace=False
    )
    after = os.times()
    answer = {"cpu": sum(after[:4]) - sum(before[:4]), "hidden": None, "said": ""}
    if made.outsuppress is None:
        return answer | {"said": "no pattern: a linear program failed"}
    out = made.outsuppress.to_pandas()
    return answer | {"hidden": [int(i) - 1 for i in out["CellId"][out["OutStatus"] == "X"]]}


def audited(path: Path) -> dict:
    cells, relations = table(path, 1)
    cells["OutStatus"] = ["X" if status in ("S", "X") else "P" for status in cells["Status"]]
    before = os.times()
    made = gconfid.Auditing(incell=cells, inconstraint=relations, lb_factor=0.0, ub_factor=MOST_TIMES, trace=False)
    after = os.times()
    out = made.outaudit.to_pandas() if made.outaudit is not None else pd.DataFrame({"CellId": []})
    found = []
    for row in out.to_dict("records"):
        if row["OutStatus"] == "X" and row["MinValue"] == row["MinValue"]:
            found.append((int(row["CellId"]) - 1, float(row["MinValue"]), float(row["MaxValue"])))
    return {"cpu": sum(after[:4]) - sum(before[:4]), "intervals": found}


def main() -> None:
    path, setting = Path(sys.argv[1]), json.loads(sys.argv[3])
    answer = audited(path) if setting.get("do") == "audit" else suppressed(path, setting)
    answer["version"] = version("gconfid")
    answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    Path(sys.argv[2]).write_text(json.dumps(answer))


main()
