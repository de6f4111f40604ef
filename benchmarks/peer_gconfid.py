"""Run by `peers.py` with the Python of gconfid's own environment: a table as JJ file in, what it hides out.

    python peer_gconfid.py TABLE.jj ANSWER.json '{"times": 2, "costs": ["Size", "Information"]}'

gconfid lets a cell move by TotalNoise / 2 and asks for moves of Sensitivity / 2. `times` is what a level is multiplied
with: 2 for cells known within 50 %, 1 for cells that may go from 0 to twice their value. Cells of 0 it does not
take: they stay published.
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

import gconfid  # pyright: ignore[reportMissingImports]
import pandas as pd  # pyright: ignore[reportMissingImports]


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


def main() -> None:
    setting = json.loads(sys.argv[3])
    first, second = (*setting["costs"], None)[:2]
    cells, relations = table(Path(sys.argv[1]), setting["times"])
    before = os.times()
    made = gconfid.Suppression(
        incell=cells, inconstraint=relations, cost_function1=first, cost_function2=second, trace=False
    )
    after = os.times()
    answer = {"version": version("gconfid"), "cpu": sum(after[:4]) - sum(before[:4]), "hidden": None, "said": ""}
    if made.outsuppress is None:
        answer["said"] = "no pattern: a linear program failed"
    else:
        out = made.outsuppress.to_pandas()
        answer["hidden"] = [int(i) - 1 for i in out["CellId"][out["OutStatus"] == "X"]]
    Path(sys.argv[2]).write_text(json.dumps(answer))


main()
