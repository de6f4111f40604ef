"""Run by `rounding.py` with the Python of gconfid's own environment: a table as JSON in, its rounded values out.

    python peer_gconfid_rounding.py TABLE.json ANSWER.json '{"base": 5, "seconds": 120}'

Windows of cells go in as the bounds that gconfid takes, so that it rounds to the same multiples. Its solver gets the
time limit; gconfid does not say whether it was reached, so that the caller looks at what comes out.
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

import gconfid  # pyright: ignore[reportMissingImports]
import pandas as pd  # pyright: ignore[reportMissingImports]
import pulp  # pyright: ignore[reportMissingImports]


def main() -> None:
    setting, table = json.loads(sys.argv[3]), json.loads(Path(sys.argv[1]).read_text())
    names = range(1, len(table["a"]) + 1)
    cells = pd.DataFrame(
        {"CellId": names, "Total": table["a"], "Weight": table["w"], "CellLB": table["low"], "CellUB": table["high"]}
    )
    entries = pd.DataFrame(
        {
            "ConstraintId": [e + 1 for e in table["equation"]],
            "CellId": [c + 1 for c in table["cell"]],
            "Coefficient": table["coefficient"],
        }
    )
    rows = pd.DataFrame({"ConstraintId": sorted(set(entries["ConstraintId"]))})
    rows["ConstraintLB"] = rows["ConstraintUB"] = 0.0
    solver = pulp.HiGHS(msg=False, timeLimit=setting["seconds"], threads=1)
    before = os.times()
    answer = {"version": version("gconfid"), "values": None, "said": ""}
    try:
        made = gconfid.OptRounding(
            incell=cells,
            additive_con=entries,
            additive_bound=rows,
            base=setting["base"],
            custom_solver=solver,
            trace=False,
        )
        out = made.outround
        out = out if isinstance(out, pd.DataFrame) else out.to_pandas()
        out = out.sort_values("CellId")
        answer["columns"] = list(out.columns)
        column = next(c for c in out.columns if "ounded" in c)
        answer["values"] = [float(v) for v in out[column]]
    except Exception as said:
        answer["said"] = f"{type(said).__name__}: {said}"[:200]
    after = os.times()
    answer["cpu"] = sum(after[:4]) - sum(before[:4])
    Path(sys.argv[2]).write_text(json.dumps(answer))


main()
