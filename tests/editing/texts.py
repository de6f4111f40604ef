"""A policy in two files, as it stands in an editor."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.editing.opened import Opened, open_text

HOUSE = """sdc 1

# Anybody who reads the table.
attacker external {
  bounds 0 .. inf
}

scenario careful {
  against external
  lpl 20% of value
}
"""

POLICY = """sdc 1

use "house.sdc" as office

policy "Turnover, 2026"

# The regions of the country.
dimension region {
  codes A, B, "10-49"
  total Total
  hierarchy coastal = A + B as coast
}

data enterprises {
  csv "enterprises.csv"
  column unit = "id"
  column region = "area"
}

table turnover {
  from enterprises
  by region
  sum turnover
}

sensitive turnover by p_percent(10%) where region = A and value > 3

suppress turnover at (region: B)

protect turnover as main {
  lpl max(1, 10% of value)
  upl needed where region under Total
  against office.external
  scenarios office.careful
  method csp {
    time_limit 10 min
  } else ip
  release csv "turnover-release.csv"
}
"""


def opened(text: str = POLICY, house: str = HOUSE) -> Opened:
    return open_text(text, Path("/policies/main.sdc"), others={Path("/policies/house.sdc").resolve(): house})


def at(text: str, word: str, more: int = 0) -> int:
    """The place of the first such word, so many characters on."""
    return text.index(word) + more
