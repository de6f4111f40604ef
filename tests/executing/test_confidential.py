"""What a cluster shows to others, in keys, logs and events, tells nothing about cells."""

from __future__ import annotations

import datetime
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.outcome import End
from sdcdsl.pattern import hidden
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy.read import read_policy
from tests.executing import tasks_for_tests as tasks
from tests.waiting import HANGS

CODES = ("Xanadu", "Atlantis", "Lemuria", "Weaving", "Dyeing")
VALUES = ((8765401, 3456702, 2345603), (1234504, 9876505, 7654306))

POLICY = """sdc 1
policy "Secrets"
seed 7

dimension trade {
  codes Weaving, Dyeing
  total All
}

dimension place {
  codes Xanadu, Atlantis, Lemuria
  total Everywhere
}

table secrets {
  by trade, place
  values
ROWS
}

sensitive secrets at (trade: Weaving, place: Xanadu)

attacker external {
  bounds 0 .. inf
}
"""
BLOCK = """
protect secrets as NAME {
  lpl 500001
  upl 500003
  against external
  cost value
  METHOD
}
"""


def policy(folder: Path) -> ProtectRequest:
    rows = [[*row, sum(row)] for row in VALUES]
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    lines = ["    | trade \\\\ place | Xanadu | Atlantis | Lemuria | Everywhere |"]
    for code, row in zip(("Weaving", "Dyeing", "All"), rows, strict=True):
        lines.append(f"    | {code} | " + " | ".join(map(str, row)) + " |")
    text = POLICY.replace("ROWS", "\n".join(lines).replace("\\\\", "\\"))
    methods = {"first": "method csp", "second": "method ip"}
    text += "".join(BLOCK.replace("NAME", name).replace("METHOD", method) for name, method in methods.items())
    path = folder / "secrets.sdc"
    path.write_text(text, encoding="utf-8")
    made, found = read_policy(path, str(path))
    assert not found, found
    return ProtectRequest(made, path, RecordedLocations(folder), datetime.date(2026, 1, 1), folder)


@pytest.fixture(scope="module")
def talkative() -> Iterator[Any]:
    """A cluster that logs all it can."""
    distributed = pytest.importorskip("distributed")
    from sdcdsl.executing.cluster import Cluster  # noqa: PLC0415

    local = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=logging.DEBUG
    )
    with Cluster(distributed.Client(local, set_as_default=False), local, patience=0.0) as team:
        yield team


def shown(team: Any) -> str:
    """Keys, logs and events, as anybody sees them who may look at the cluster."""
    client = team.client
    story = client.run_on_scheduler(lambda dask_scheduler: [repr(entry) for entry in dask_scheduler.transition_log])
    names = client.run_on_scheduler(
        lambda dask_scheduler: [*map(str, dask_scheduler.tasks), *dask_scheduler.task_prefixes]
    )
    return "\n".join(
        [*story, *names, repr(client.get_worker_logs()), repr(client.get_scheduler_logs()), repr(client.get_events())]
    )


def secrets(text: str) -> list[str]:
    numbers = {value for row in VALUES for value in row}
    numbers |= {sum(row) for row in VALUES} | {sum(column) for column in zip(*VALUES, strict=True)} | {500001, 500003}
    return [s for s in (*CODES, *map(str, sorted(numbers))) if re.search(rf"(?<![\w.]){s}(?![\w])", text)]


@pytest.mark.long
def test_nothing_is_told(talkative, tmp_path):
    request = policy(tmp_path)
    made = prepare(request, team=talkative)
    assert made.end is End.DONE
    problem = made.outcomes[0].problem
    d = problem.dataset
    audit(problem, hidden(d["a"].values, np.ones(problem.n, dtype=bool)), team=talkative)
    run(problem, "ecta", SolveContext({"alpha": 0.9, "tries": 16}, team=talkative))
    # A task that fails is what logs are fullest of.
    with pytest.raises(ValueError, match="Xanadu: 8765401"):
        talkative.submit(tasks.failing_loudly, np.array(VALUES[0], dtype=float), "Xanadu").result(HANGS)
    seen = shown(talkative)
    assert "sdcdsl-" in seen
    assert secrets(seen) == []


@pytest.mark.long
def test_the_test_would_notice(talkative):
    """The same failure, handed to dask as it is."""
    future = talkative.client.submit(tasks.failing_loudly, [8765401.0], "Xanadu", pure=False)
    assert future.exception() is not None
    assert "Xanadu" in secrets(shown(talkative))
