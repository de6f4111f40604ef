"""Run by `rounding.py` with the Python of gconfid's own environment: a table as JSON in, its rounded values out.

    python peer_gconfid_rounding.py TABLE.json ANSWER.json '{"base": 5, "seconds": 120}'

Windows of cells go in as the bounds that gconfid takes, so that it rounds to the same multiples. Its solver is stopped
after so many seconds of CPU time, as ours is: its own limit counts the wall, which on a busy machine is much less.
gconfid does not say whether it was stopped before it had a table, so that the caller looks at what comes out.
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from time import process_time

import gconfid  # pyright: ignore[reportMissingImports]
import highspy  # pyright: ignore[reportMissingImports]
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
    before = os.times()
    end = process_time() + setting["seconds"]
    answer = {"version": version("gconfid"), "values": None, "said": "", "stopped": False}

    def look(kind, message, out, into, data):
        if process_time() > end:
            into.user_interrupt = answer["stopped"] = True

    kinds = highspy.cb.HighsCallbackType
    solver = pulp.HiGHS(
        msg=False,
        threads=1,
        callbackTuple=(look, None),
        callbacksToActivate=[kinds.kCallbackMipInterrupt, kinds.kCallbackSimplexInterrupt],
    )
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
