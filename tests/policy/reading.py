"""Short forms for tests that read policies."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.diagnostics import Diagnostic, Source
from sdcdsl.diagnostics.render import render
from sdcdsl.policy.read import read_text
from sdcdsl.policy.resolve import Policy

# A policy that is right; tests put one thing wrong at a time.
TINY = """sdc 1
policy "tiny"
seed 1

dimension activity {
  codes I, II, III
  total Total
}

dimension region {
  codes A, B, C
  total Total
}

table investment {
  by activity, region
  values
    | activity \\ region | A | B | C | Total |
    | I | 20 | 50 | 10 | 80 |
    | II | 8 | 19 | 22 | 49 |
    | III | 17 | 32 | 12 | 61 |
    | Total | 45 | 101 | 44 | 190 |
}

sensitive investment at (activity: II, region: C)

attacker external {
  bounds 0 .. inf
}

attacker informed {
  bounds 50% of value .. 200% of value
}

protect investment {
  lpl 10
  upl 12
  against external
  cost value
  method csp
  release csv "out.csv"
}
"""


def read(text: str) -> tuple[Policy, list[Diagnostic]]:
    return read_text(Source("test.sdc", text), Path("test.sdc"))


def policy(text: str) -> Policy:
    found, wrong = read(text)
    assert not wrong, render(wrong)
    return found


def codes(text: str) -> list[str]:
    return [d.code for d in read(text)[1]]


def change(old: str, new: str, text: str = TINY) -> str:
    assert old in text, old
    return text.replace(old, new)
