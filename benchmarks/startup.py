"""How long does `sdcdsl check` take, as a multiple of importing lark? (At most 3.)

Both sides run as fresh processes, alternately, and the smallest CPU time of each counts: noise only ever adds.
"""

from __future__ import annotations

import argparse
import compileall
import json
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--policy", default=str(ROOT / "sdcdsl/cli/starters/microdata.sdc"))
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "sdcdsl", quiet=1)  # as an installed package is
    lark = [sys.executable, "-c", "import lark"]
    check = [sys.executable, "-m", "sdcdsl", "check", options.policy]
    pairs = [(cpu_seconds(lark), cpu_seconds(check)) for _ in range(options.repeat)]
    base, ours = min(p[0] for p in pairs), min(p[1] for p in pairs)
    print(
        json.dumps(
            {
                "import lark, CPU s": round(base, 4),
                "sdcdsl check, CPU s": round(ours, 4),
                "ratio": round(ours / base, 2),
                "limit": 3.0,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
