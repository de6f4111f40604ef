"""Soak the program in random work, and say what came of it.

    make soak MINUTES=60 SEED=7                # all methods, one after another
    python -m tests.soak --cases 40            # a number of cases instead of a time
    python -m tests.soak --seed 7 --case 1234  # one case again, left in the folder soak/7-1234

What should not be is a finding: it is written to the folder with the policy and the data that lead to it, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.soak.case import METHODS, Case, make_case
from tests.soak.checks import judge
from tests.soak.counting import Tally
from tests.soak.running import run, work


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1e6, help="how long; no new case is begun afterwards")
    parser.add_argument("--cases", type=int, help="how many, if that comes first")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--methods", default=",".join(METHODS), help="which, separated by commas")
    parser.add_argument("--folder", type=Path, default=Path("soak"), help="where findings and counts go")
    parser.add_argument("--case", type=int, help="one case alone, in this process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    methods = tuple(arguments.methods.split(","))
    if arguments.worker:
        work(arguments.seed, methods)
        return 0
    if arguments.case is not None:
        return one(make_case(arguments.seed, arguments.case, methods), arguments.folder)
    if arguments.minutes >= 1e6 and arguments.cases is None:
        parser.error("say --minutes or --cases")
    tally, start, told = Tally(arguments.seed), time.monotonic(), 0.0
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for tale in run(arguments.seed, arguments.minutes, methods, arguments.first, arguments.cases):
        tally.add(tale)
        if tale["findings"]:
            keep(make_case(arguments.seed, int(tale["case"].rpartition("-")[2]), methods), tale, arguments.folder)
            print(f"{tale['case']} ({tale['engine']}): {', '.join(kind for kind, _ in tale['findings'])}", flush=True)
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(
                f"{(told - start) / 60:.0f} min: {tally.total.cases} cases, {len(tally.findings)} findings", flush=True
            )
            write(tally, start, arguments.folder)
    write(tally, start, arguments.folder)
    print(tally.text(), end="")
    return 1 if tally.findings else 0


def one(case: Case, folder: Path) -> int:
    tale = judge(case, folder / case.name)
    print(json.dumps(tale.as_json(), indent=1))
    return 1 if tale.findings else 0


def keep(case: Case, tale: dict[str, Any], folder: Path) -> None:
    """Policy, data and what was found: enough to see it again without this program."""
    case.write(folder / case.name)
    (folder / case.name / "finding.json").write_text(json.dumps(tale, indent=1) + "\n", encoding="utf-8")


def write(tally: Tally, start: float, folder: Path) -> None:
    minutes = round((time.monotonic() - start) / 60, 1)
    content = {"minutes": minutes, **tally.as_json()}
    (folder / "soak.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (folder / "soak.txt").write_text(f"{minutes} minutes, seed {tally.seed}\n\n{tally.text()}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
