"""Large and hostile policies. Nothing is timed: work is counted, and the sizes are such that a loop inside a loop would
take minutes."""

from __future__ import annotations

import pytest

from sdcdsl.diagnostics import suggest
from sdcdsl.policy import codes as codes_module
from sdcdsl.policy.checks import inline, statements
from tests.policy.reading import TINY, change, codes, read

HEAD = 'sdc 1\npolicy "large"\n'
DIMENSION = "dimension d {{\n  codes {}\n  total T\n}}\n"
FROM_FILE = 'data e {\n  csv "x.csv"\n}\n'


def counted(monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> list[int]:
    """How often a function is called."""
    calls = [0]
    real = getattr(module, name)

    def counting(*arguments):
        calls[0] += 1
        return real(*arguments)

    monkeypatch.setattr(module, name, counting)
    return calls


def table(i: int) -> str:
    return f"table t{i} {{\n  from e\n  by d\n  sum v\n}}\n"


@pytest.mark.long
def test_codes_are_collected_once_a_dimension(monkeypatch: pytest.MonkeyPatch):
    calls = counted(monkeypatch, inline, "codes_of")
    rows = "".join(f"    | c{i} | 1 |\n" for i in range(20_000))
    listed = ", ".join(f"c{i}" for i in range(20_000))
    text = HEAD + DIMENSION.format(listed) + "table t {\n  by d\n  values\n    | d | value |\n" + rows
    _, found = read(text + "    | T | 19999 |\n}\n")
    assert "SDC128" in [f.code for f in found]
    assert calls[0] <= 4


def test_answers_about_a_block_are_kept_only_while_it_lives():
    policy, _ = read(TINY)
    block = policy.dimensions["region"]
    assert codes_module.known_codes(block) is codes_module.known_codes(block)
    assert codes_module.known_codes(block) == {"A", "B", "C", "Total"}
    other, _ = read(change("codes A, B, C", "codes A, B, C, D"))
    assert "D" in (codes_module.known_codes(other.dimensions["region"]) or ())


def test_what_facts_speak_of_is_worked_out_once(monkeypatch: pytest.MonkeyPatch):
    calls = counted(monkeypatch, statements, "dimensions_of")
    text = HEAD + DIMENSION.format("A") + FROM_FILE + "".join(map(table, range(500)))
    read(text + "".join(f"suppress where value < {i}\n" for i in range(2000)))
    assert calls[0] == 1


@pytest.mark.long
def test_words_are_compared_within_bounds(monkeypatch: pytest.MonkeyPatch):
    calls = counted(monkeypatch, suggest, "edit_distance")
    known = ", ".join(f"code{i:05}" for i in range(5000))
    text = HEAD + DIMENSION.format(known) + FROM_FILE + table(0)
    _, found = read(text + "".join(f"suppress t0 where d = code{i:05}x\n" for i in range(2000)))
    assert sum(d.code == "SDC116" for d in found) == 2000
    assert calls[0] * 64 <= suggest.EFFORT


def test_a_table_of_unknown_codes():
    listed = ", ".join(f"c{i}" for i in range(20_000))
    rows = "".join(f"    | x{i} | 1 |\n" for i in range(20_000))
    text = HEAD + DIMENSION.format(listed) + "table t {\n  by d\n  values\n    | d | value |\n" + rows + "}\n"
    assert codes(text).count("SDC129") == 20_000


@pytest.mark.long
def test_a_long_chain_of_sums_is_no_circle():
    sums = "".join(f"  hierarchy c{i} = c{i + 1} + x{i}\n" for i in range(20_000))
    assert "SDC136" not in codes(f"{HEAD}dimension d {{\n{sums}  total c0\n}}\n")


def test_a_circle_behind_a_long_chain_is_found():
    sums = "".join(f"  hierarchy c{i} = c{i + 1} + x{i}\n" for i in range(3000))
    _, found = read(f"{HEAD}dimension d {{\n{sums}  hierarchy c3000 = c2999\n  total c0\n}}\n")
    assert [d.code for d in found if d.code == "SDC136"] == ["SDC136"]


def test_a_number_with_a_billion_digits_is_refused():
    _, found = read(change("| I | 20 |", "| I | 1e-999999999 |"))
    assert [d.code for d in found] == ["SDC023"]
    assert "SDC023" not in codes(change("| I | 20 |", "| I | 2e1 |"))


@pytest.mark.parametrize("rows", ["|---|---|", "|", "|---|---|\n|---|---|", "|\n| a | 1 |"])
def test_a_table_without_a_header(rows: str):
    _, found = read(f"{HEAD}{DIMENSION.format('A')}table t {{\n  by d\n  values\n{rows}\n}}\n")
    assert [d.code for d in found if d.code == "SDC022"] == ["SDC022"]
    assert found[0].headline == "the table has no header"
