"""`make fuzz`: every reader for some CPU minutes, with atheris where it is installed; a table of what came of it."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from tests.fuzzing.running import fuzz
from tests.fuzzing.targets import TARGETS


def main() -> int:
    asking = argparse.ArgumentParser(prog="make fuzz")
    asking.add_argument("readers", nargs="*", choices=[[], *TARGETS], help="all of them, if not given")
    asking.add_argument("--minutes", type=float, default=10.0, help="CPU minutes for each")
    asking.add_argument("--engine", choices=("atheris", "random"))
    asking.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="corpus and findings stay here")
    asked = asking.parse_args()
    engine = asked.engine or ("atheris" if importlib.util.find_spec("atheris") else "random")
    print(f"{'reader':<12}{'engine':<9}{'CPU min':>8}{'inputs':>10}{'slowest s':>11}{'peak MB':>9}{'findings':>10}")
    found = 0
    for reader in asked.readers or TARGETS:
        out = fuzz(reader, seconds=60 * asked.minutes, engine=engine, keep=asked.keep / reader)
        found += len(out.findings)
        memory = out.most_memory / 2**20
        figures = f"{out.cpu / 60:>8.1f}{out.inputs:>10}{out.slowest:>11.2f}{memory:>9.0f}{len(out.findings):>10}"
        print(f"{reader:<12}{engine:<9}{figures}", flush=True)
        for one in out.findings:
            print(
                f"    {one['kind']}: {one['message'][:120]}  ({asked.keep / reader / 'found' / one['input']})",
                flush=True,
            )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
