"""All suites, or some of them.

    python benchmarks/run.py --cache FOLDER --results benchmarks/results       # everything: hours
    python benchmarks/run.py --quick --jobs 2 --within 490 --results FOLDER    # what `make bench-quick` does
    python benchmarks/run.py --suites csp,ip --only 'lookalike-*' --limit 10
    python benchmarks/run.py --list

Rows whose data is not there are named and left out. Peers are asked where there is a folder to install them into
(`--cache`). Pages and plots are written from what is kept (`report.py`), at the end of every run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from registry import suites
from report import all_written
from runner import main

if __name__ == "__main__":
    ended = main(list(suites().values()), __doc__)
    if "--results" in sys.argv:
        all_written(Path(sys.argv[sys.argv.index("--results") + 1]))
    sys.exit(ended)
