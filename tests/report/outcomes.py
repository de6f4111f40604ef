"""Outcomes to report on: small ones from the whole pipeline, and large ones put together by hand."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np

from sdcdsl.audit import audit
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.tables import Binding
from sdcdsl.diagnostics import has_errors
from sdcdsl.diagnostics.render import render
from sdcdsl.methods.result import Result
from sdcdsl.outcome import Attempt, End, Outcome
from sdcdsl.pattern import hidden
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy.read import read_policy
from sdcdsl.report.provenance import Provenance

DAY = datetime.date(2026, 1, 1)

# Figures that nothing else on a page looks like: a search for them finds leaks and nothing else.
TABLE = """sdc 1
policy "{title}"
seed 7

dimension activity {{
  hierarchy industry = mining + steel
  hierarchy Total = industry + services
  total Total
}}

dimension region {{
  codes A, B, C
  total Total
}}

table investment {{
  by activity, region
  values
    | activity \\ region |     A |      B |     C |
    | mining            | 20731 |  50413 | 10957 |
    | steel             |  8329 |  19477 | 22651 |
    | services          | 17389 |  32803 | 12613 |
  unit "thousand EUR"
}}

{sensitive}

attacker external {{
  bounds 0 .. inf
}}

protect investment {{
  lpl 4111
  upl 4333
  against external
  cost value
  {method}
  release csv "investment.csv"
}}
"""
NAMED = 'sensitive investment at (activity: steel, region: C) because "Steelworks Mustermann GmbH is most of it"'
METHODS = {
    "csp": "method csp",
    "ip": "method ip",
    "cta": "method cta {\n    norm L1\n  }",
    "ecta": "method ecta",
    "rounding": "method rounding {\n    base 5000\n  }",
    "perturb": "method perturb {\n    range -9000 .. 9000\n  }",
}


def policy_text(method: str, title: str = "Investment", sensitive: str = NAMED) -> str:
    return TABLE.format(title=title, sensitive=sensitive, method=METHODS.get(method, method))


def outcomes_of(path: Path) -> tuple[tuple[Outcome, ...], Provenance]:
    """Through the whole pipeline."""
    policy, found = read_policy(path, path.name)
    assert not has_errors(found), render(found)
    request = ProtectRequest(policy, path, RecordedLocations(path.parent), DAY, path.parent)
    prepared = prepare(request)
    assert prepared.outcomes, render(prepared.diagnostics)
    return prepared.outcomes, Provenance.of(policy, path, request.places, DAY, {})


def made(folder: Path, method: str, **more: str) -> tuple[tuple[Outcome, ...], Provenance]:
    path = folder / f"{method.rsplit(maxsplit=1)[-1]}.sdc"
    path.write_text(policy_text(method, **more), encoding="utf-8")
    outcomes, provenance = outcomes_of(path)
    assert all(outcome.end is End.DONE for outcome in outcomes), [outcome.found for outcome in outcomes]
    return outcomes, provenance


def large(folder: Path, groups: int = 25, wide: int = 8) -> tuple[tuple[Outcome, ...], Provenance]:
    """More than a hundred thousand cells: three dimensions, two of them deep, a tenth of the cells hidden."""
    area = [f"area{g:02}" for g in range(groups)]
    inner = {code: [f"{code}-{i:02}" for i in range(10)] for code in area}
    (folder / "area.hrc").write_text("".join(f"{a}\n" + "".join(f"@{x}\n" for x in inner[a]) for a in area))
    sector = [f"sector{s}" for s in range(wide)]
    parts = {code: [f"{code}.{i}" for i in range(4)] for code in sector}
    (folder / "sector.hrc").write_text("".join(f"{s}\n" + "".join(f"@{x}\n" for x in parts[s]) for s in sector))
    sizes = [f"size{i}" for i in range(9)]
    random = np.random.default_rng(7)
    lines = ["unit,area,sector,size,turnover"]
    for number in range(40_000):
        where = inner[area[random.integers(groups)]][random.integers(10)]
        what = parts[sector[random.integers(wide)]][random.integers(4)]
        lines.append(f"u{number},{where},{what},{sizes[random.integers(9)]},{random.integers(1, 90_000)}")
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    path = folder / "large.sdc"
    path.write_text(
        'sdc 1\npolicy "A large table"\n\ndata firms {\n  csv "data.csv"\n  column unit = "unit"\n}\n\n'
        'dimension area {\n  hierarchy hrc "area.hrc"\n  total Total\n}\n\n'
        'dimension sector {\n  hierarchy hrc "sector.hrc"\n  total All\n}\n\n'
        f"dimension size {{\n  codes {', '.join(sizes)}\n  total any\n}}\n\n"
        "table turnover {\n  from firms\n  by area, sector, size\n  sum turnover\n}\n\n"
        'sensitive at (area: "area03-04", sector: "sector2.1", size: size3)\n\n'
        "attacker external {\n  bounds 0 .. inf\n}\n\n"
        "protect turnover {\n  lpl 1\n  upl 1\n  against external\n  method csp\n}\n"
    )
    policy, found = read_policy(path, path.name)
    assert not has_errors(found), render(found)
    places = RecordedLocations(folder)
    problem, found = bind_protect(Binding(policy, places, DAY), policy.protects["turnover"])
    assert problem is not None, render(found)
    corner = np.zeros(problem.n, dtype=bool)
    [table] = problem.tables
    assert table.lattice is not None
    # Enough around the sensitive cell for it to be protected: a whole corner of the table.
    for code in inner["area03"]:
        for part in parts["sector2"]:
            for size in sizes:
                corner[table.lattice.cell({"area": code, "sector": part, "size": size})] = True
    cells = corner.copy()
    cells[random.choice(problem.n, problem.n // 10, replace=False)] = True
    a = problem.dataset["a"].values
    pattern = hidden(a, cells)
    result = Result("feasible", pattern, objective=float(cells.sum()), bound=1.0)
    judged = audit(problem, hidden(a, corner), exact=False)  # who sees less cannot tell more
    outcome = Outcome(problem.name, problem, (Attempt("csp", result),), judged, seconds={"search": 0.5})
    return (outcome,), Provenance.of(policy, path, places, DAY, {})
