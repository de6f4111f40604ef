"""Other programs on the same tables: installed by pip into environments of their own, run apart, audited like ours.

    python benchmarks/peers.py --cache FOLDER --json benchmarks/results/peers.json      # environments stay in FOLDER
    python benchmarks/peers.py --cache FOLDER --only 'small,business-0' --minutes 1

gconfid (Statistics Canada) and pytauargus (τ-ARGUS with an open solver) get the cells, relations, levels and costs as a
JJ file, cells of 0 published: neither of them may hide those, and ours may not either here. Their CPU seconds are those
of the one call, without loading and reading. A peer that cannot be installed is named with the reason, and the others
run. Every pattern is judged by our audit, and by theirs: the intervals that they find, held against the same levels.

gconfid runs twice. "known ± 50 %" has the settings of the figures that we promise to be better than: there a cell moves
by no more than half its value. "0 to twice" is closer to what our attacker knows (0 and above), and costs less.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

from asking import AUDITS, MODULAR, OPTIONS, PEERS, WITH_DIMENSIONS, entry_of, secondary, their_audits, without_zeros
from instances import BENCH, CSPLIB, bench, business, from_file
from measuring import Case, figure, peak_memory, solved
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern.pattern import HIDDEN

TOOLS_KIND = "Tools side by side"
OURS = {"sdcdsl csp, 10 s": 10.0, "sdcdsl csp, 60 s": 60.0}
TABLES_OF_ALL: dict[str, tuple[Callable[[], TableProblem], bool]] = {
    "business-0": (lambda: business(seed=0), True),
    **{name: (lambda name=name: bench(name), (BENCH / name).is_dir()) for name in ("small", "mid")},
    **{
        name: (lambda name=name: from_file(CSPLIB / f"{name}.jj"), (CSPLIB / f"{name}.jj").is_file())
        for name in ("targus", "table8", "hier13x7x7d", "hier13")
    },
}


def entries(done: Done) -> Iterator[Entry]:
    for name, (make, here) in TABLES_OF_ALL.items():
        for peer in PEERS:
            if peer == MODULAR and name not in WITH_DIMENSIONS:
                continue
            quick = 60.0 if name == "business-0" and peer.startswith("gconfid") else None
            yield replace(entry_of(name, peer, make, here, quick=quick), kind=TOOLS_KIND)
        for method, seconds in OURS.items():
            yield Entry(
                TOOLS_KIND,
                name,
                method,
                lambda setting, name=name, method=method, make=make: our_row(name, method, make, setting),
                seconds,
                here=here,
                quick=10.0 if name == "business-0" and seconds == 10.0 else None,
                longer=300.0,
            )


def our_row(instance: str, method: str, make: Callable[[], TableProblem], setting: Setting) -> Row:
    """Ours, with cells of 0 published as the peers have to; audited by all of them."""
    case = Case(instance, lambda: without_zeros(make()), 0.95 * setting.limit)
    solved(replace(case, make=lambda: business(seed=99), limit=3.0), "csp", setting.clock)
    problem, result, row = solved(case, "csp", setting.clock)
    row["memory"] = peak_memory()
    if result.pattern is not None:
        cells = (result.pattern.status == HIDDEN) & problem.dataset["published"].values
        chosen = secondary(problem, cells)
        row |= {"secondary": int(chosen.sum()), "secondary_cost": float(problem.dataset["w"].values[chosen].sum())}
        if setting.cache and setting.options["their_audits"]:
            row["audits"] = their_audits(problem, cells, setting)
    return row | {"method": method, "version": version("sdcdsl")}


def _tool_words(row: Row) -> tuple[str, ...]:
    audits = row.get("audits", {})
    theirs = [_audit_words(audits.get(name)) for name in AUDITS]
    notes = "; ".join(note for note in row.get("notes", ()) if row.get("status") not in ("optimal", "feasible"))
    return (
        row["instance"],
        figure(row.get("cells")),
        row["method"],
        row.get("version") or "–",
        figure(row.get("cpu"), 1),
        figure(row.get("secondary")),
        figure(row.get("secondary_cost")),
        row.get("audit", "–"),
        figure(row.get("short")),
        *theirs,
        notes,
    )


def _audit_words(made: Row | None) -> str:
    if made is None:
        return "–"
    return made["said"] if "said" in made else f"{made['short']} in {figure(made['cpu'], 1)} s"


TOOL_COLUMNS = Columns(
    (
        "table",
        "cells",
        "tool",
        "version",
        "CPU s",
        "secondary cells",
        "secondary cost",
        "our audit",
        "short",
        *(f"short, says {name}" for name in AUDITS),
        "said",
    ),
    _tool_words,
)
SUITE = Suite("peers", __doc__, entries, {TOOLS_KIND: TOOL_COLUMNS}, OPTIONS | {"their_audits": 1})

if __name__ == "__main__":
    main([SUITE], __doc__)
