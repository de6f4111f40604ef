"""`make faults`: as many corrupted answers as asked for, spread over methods and places."""

from __future__ import annotations

import argparse
import resource
import sys
import time
from itertools import count

from tests.faults import kills
from tests.faults.injecting import PLACES
from tests.faults.running import Tally, tried
from tests.faults.worlds import METHODS

KILLS = "kills"


def main() -> int:
    asking = argparse.ArgumentParser(prog="make faults")
    asking.add_argument("--faults", type=int, default=1000, help="at least so many in each place")
    asking.add_argument("--first", type=int, default=0, help="the first seed")
    asking.add_argument("--places", nargs="*", default=[*PLACES, KILLS], choices=[*PLACES, KILLS])
    asked = asking.parse_args()
    wrong = corrupted(asked) if set(asked.places) & set(PLACES) else 0
    return max(wrong, killed(asked.faults, asked.first) if KILLS in asked.places else 0)


def killed(least: int, seed: int) -> int:
    """Kills while a release is written."""
    whole = kills.Tally()
    print("kills                                 kills   old   new  mixed")
    for name, tally in kills.many(least, seed):
        figures = "".join(f"{tally.ends[end]:>6}" for end in ("old", "new", "mixed"))
        print(f"{name:<38}{tally.kills:>5}{figures}", flush=True)
        whole.add(tally)
        for problem in tally.wrong[:10]:
            print(problem, flush=True)
    print(f"{whole.kills} kills, {len(whole.wrong)} of them wrong")
    return 1 if whole.wrong else 0


def corrupted(asked: argparse.Namespace) -> int:
    """Solvers, methods and engines that lie."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a run that goes astray must not take the machine along
    whole = Tally()
    print("place       runs  faults  released  with faults  unsafe  silent   CPU s")
    for place in (place for place in PLACES if place in asked.places):
        tally, begun = Tally(), time.process_time()
        for seed, method in (
            (seed, method) for seed in count(asked.first) for method in METHODS
        ):  # `product` would not end
            if tally.injected.total() >= asked.faults or seed > asked.first + 500:
                break
            tally.add(tried(place, method, seed))
        figures = f"{tally.runs:>6}{tally.injected.total():>8}{tally.released:>10}{tally.released_with_faults:>13}"
        passed = time.process_time() - begun
        print(f"{place:<10}{figures}{len(tally.unsafe):>8}{len(tally.silent):>8}{passed:>8.0f}", flush=True)
        whole.add(tally)
    for name, numbers in (("injected", whole.injected), ("ended", whole.ends)):
        print(f"{name}: " + ", ".join(f"{what} {n}" for what, n in sorted(numbers.items())))
    for problem in [*whole.unsafe, *whole.silent][:40]:
        print(problem)
    return 1 if whole.unsafe or whole.silent else 0


if __name__ == "__main__":
    sys.exit(main())
