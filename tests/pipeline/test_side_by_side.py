"""Several protect blocks: searched side by side, told apart, and ended together when nothing can be released."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.deadline import Deadline
from sdcdsl.outcome import End
from sdcdsl.pattern.digest import digest
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.release import release
from sdcdsl.pipeline.request import ProtectRequest, Watch
from sdcdsl.policy.read import read_policy
from tests.cli.investment import POLICY
from tests.cli.protecting import files
from tests.pipeline.others import others  # noqa: F401

BLOCK = "protect investment as NAME {\n  lpl 5\n  upl 8\n  against external\n  cost value\n  METHOD\n}\n"


def asked(folder: Path, *methods: str, jobs: int = 2) -> ProtectRequest:
    text = POLICY[: POLICY.index("protect investment")]
    names = "abcdefg"[: len(methods)]
    text += "\n".join(BLOCK.replace("NAME", n).replace("METHOD", m) for n, m in zip(names, methods, strict=True))
    path = folder / "investment.sdc"
    path.write_text(text, encoding="utf-8")
    policy, found = read_policy(path, str(path))
    assert not found, found
    return ProtectRequest(policy, path, RecordedLocations(folder), datetime.date(2026, 1, 1), folder, jobs=jobs)


def released(name: str, method: str) -> str:
    return f'{method}\n  release csv "{name}.csv"'


def test_two_blocks_run_at_the_same_time(tmp_path, others):  # noqa: F811
    prepared = prepare(asked(tmp_path, "method meeting", "method meeting"))
    assert prepared.end is End.DONE
    assert [outcome.name for outcome in prepared.outcomes] == ["a", "b"]


def test_one_job_is_one_block_at_a_time(tmp_path, others):  # noqa: F811
    request = asked(tmp_path, "method meeting", "method meeting", jobs=1)
    prepared = prepare(replace(request, instead={"time_limit": 0.2}))
    assert prepared.end is End.LIMIT
    assert len(prepared.outcomes) == 1  # nothing can be released: the other one is not searched


def test_results_do_not_depend_on_it(tmp_path):
    methods = ("method csp", "method ip", "method cta", "method csp {\n    gap 50%\n  }")
    alone, together = (prepare(asked(tmp_path, *methods, jobs=jobs)) for jobs in (1, 3))
    assert alone.end is together.end is End.DONE
    assert [o.name for o in together.outcomes] == ["a", "b", "c", "d"]
    for one, other in zip(alone.outcomes, together.outcomes, strict=True):
        assert one.pattern is not None and other.pattern is not None
        assert digest(one.pattern) == digest(other.pattern)


@pytest.mark.parametrize("order", [0, 1])
def test_a_block_without_a_release_ends_the_others(tmp_path, others, order):  # noqa: F811
    hopeless = released("b", "method csp {\n    cap_hidden 1\n  }")
    methods = ["method endless", hopeless]
    request = asked(tmp_path, *(methods[::-1] if order else methods))
    prepared = prepare(request)
    assert prepared.end is End.INFEASIBLE
    with pytest.raises(ValueError, match="not to be released"):
        release(prepared, request)
    assert files(tmp_path) == {"investment.sdc"}


class Seen(Watch):
    def __init__(self) -> None:
        self.ends: dict[str, str] = {}
        self.audited: dict[str, int] = {}

    def ended(self, block: str, end: str) -> None:
        self.ends[block] = end

    def auditing(self, block: str, done: int, total: int) -> None:
        self.audited[block] = done


def test_each_block_is_told_of_by_its_name(tmp_path):
    seen = Seen()
    prepared = prepare(asked(tmp_path, "method csp", "method ip"), seen)
    assert seen.ends == {"a": "done", "b": "done"}
    assert seen.audited == {"a": 1, "b": 1}
    assert np.isclose(prepared.outcomes[0].result.objective or 0.0, 59)


def test_digests_are_those_of_what_was_read(tmp_path):
    """A file that changes while a search runs does not change what the lock says."""
    request = asked(tmp_path, 'method csp {\n    previous "before.csv"\n  }', jobs=1)
    path = tmp_path / "before.csv"
    path.write_text("activity,region,value\nI,A,20\n", encoding="utf-8")
    before = hashlib.sha256(path.read_bytes()).hexdigest()

    class Rewriting(Watch):
        def searching(self, block: str, method: str, deadline: Deadline) -> None:
            path.write_text("something else", encoding="utf-8")

    assert prepare(request, Rewriting()).end is End.DONE
    assert request.places.digests == {path: before}
