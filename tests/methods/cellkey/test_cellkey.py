"""Noise by keys: the same wherever the same records are counted, unrelated elsewhere, and never called protected."""

from __future__ import annotations

import csv
import hashlib
import hmac
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.bind.record_keys import fixed, key_of
from sdcdsl.methods.cellkey.learned import elsewhere, posterior
from sdcdsl.methods.cellkey.ptable import made
from tests.cli.investment import document as audited
from tests.cli.protecting import protect
from tests.counts.every_table import consistent, people, recorded, told_to_strangers

SECRET = "nobody outside the office knows this"
NOISE = "deviation 5\n    variance 3\n    smallest 3"
WITHOUT = ("--no-report", "--no-lock")
COUNTS = np.array([[9, 0, 0], [4, 6, 12]])


def policy(options: str = f'{NOISE}\n    secret_file "secret.txt"', method: str = "cellkey") -> str:
    external = recorded(f"method {method} {{\n    {options}\n  }}", 1)
    return external.replace("  each unit\n  knows own contribution\n", "")


def released(folder: Path, text: str, counts: np.ndarray = COUNTS) -> tuple[dict, dict[tuple[str, str], float]]:
    (folder / "people.csv").write_text(people(counts))
    (folder / "secret.txt").write_text(SECRET + "\n")
    (folder / "p.sdc").write_text(text)
    found = protect(folder / "p.sdc", "--no-report")
    if found["exit"]:
        return found, {}
    rows = list(csv.DictReader((folder / "t.csv").open()))
    return found, {(row["area"], row["illness"]): float(row["value"]) for row in rows}


def test_the_row_nine_none_none_is_not_excluded(tmp_path):
    """No certainty is left, and what is likely is said, not called protected."""
    found, _ = released(tmp_path, policy())
    [block] = found["blocks"]
    assert (found["exit"], block["verdict"]) == (0, "not excluded")
    assert any("probability of" in note for note in block["notes"])
    seen = audited(tmp_path / "p.sdc", "--released", tmp_path / "t.csv", "--verdict-only")
    assert (seen["exit"], seen["verdict"]) == (0, "not excluded")


@pytest.mark.parametrize("person", range(3))
def test_no_stranger_can_tell_for_certain(tmp_path, person):
    """Against all tables that are possible; other names are other keys."""
    counts = np.array([[4, 0, 0], [2, 1, 2]])
    text = policy().replace("smallest 3", "smallest 2").replace('"people.csv"', '"others.csv"')
    (tmp_path / "others.csv").write_text(people(counts).replace("P", f"Q{person}"))
    found, _ = released(tmp_path, text, counts)
    assert found["exit"] == 0
    tables = consistent(tmp_path / "t.csv", 7)
    assert (tables == counts).all(axis=(1, 2)).any()
    assert told_to_strangers(counts, tables, 1) == []


def test_every_count_by_hand(tmp_path):
    """HMAC, the sum of keys modulo one, and the row of the table of probabilities."""
    _, values = released(tmp_path, policy())
    table = made(5, 3.0, 3)
    rows = list(csv.DictReader((tmp_path / "people.csv").open()))
    for (area, illness), value in values.items():
        inside = [r for r in rows if area in (r["area"], "All") and illness in (r["illness"], "Any")]
        digests = [hmac.new(SECRET.encode(), r["id"].encode(), hashlib.sha256).digest() for r in inside]
        key = sum(int.from_bytes(digest[:8], "big") for digest in digests) / 2**64 % 1
        noise, p = table.rows[min(len(inside), table.last)]
        want = len(inside) + next(v for v, end in zip(noise, np.cumsum(p), strict=True) if key < end or v == noise[-1])
        assert value == want, (area, illness)
        assert value == 0 or value >= 3


def test_the_secret_is_in_no_file(tmp_path, monkeypatch):
    _, values = released(tmp_path, policy())
    secret, digest = SECRET.encode(), hashlib.sha256((SECRET + "\n").encode()).hexdigest()
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "secret.txt":
            content = path.read_bytes()
            assert secret not in content and digest.encode() not in content, path
    monkeypatch.setenv("OFFICE_KEY", SECRET)
    _, same = released(tmp_path, policy(f'{NOISE}\n    secret_variable "OFFICE_KEY"'))
    assert same == values
    monkeypatch.setenv("OFFICE_KEY", "another one that nobody else knows")
    assert released(tmp_path, policy(f'{NOISE}\n    secret_variable "OFFICE_KEY"'))[1] != values
    for wrong in ("", "short"):
        monkeypatch.setenv("OFFICE_KEY", wrong)
        found, _ = released(tmp_path, policy(f'{NOISE}\n    secret_variable "OFFICE_KEY"'))
        assert [d["code"] for d in found["diagnostics"]] == ["SDC339"]


def test_the_same_records_have_the_same_noise_in_every_table(tmp_path):
    """Another table, without the second dimension, and another year with one person more in the other area."""
    _, values = released(tmp_path, policy())
    coarse = policy().replace("  by area, illness\n", "  by illness, area\n").replace("North", "North")
    _, turned = released(tmp_path, coarse)
    assert {(a, i): turned[a, i] for a, i in turned} == values
    more = COUNTS.copy()
    more[1, 2] += 1
    _, later = released(tmp_path, policy(), more)
    same = [("A", i) for i in ("x", "y", "z", "Any")] + [("B", "x"), ("B", "y"), ("All", "x"), ("All", "y")]
    assert all(values[cell] == later[cell] for cell in same)


def test_record_keys_that_are_given(tmp_path):
    text = policy(NOISE).replace('column unit = "id"', 'column key = "rkey"')
    random = np.random.default_rng(5)
    head, *rows = people(COUNTS).split()
    keys = random.random(len(rows))
    (tmp_path / "people.csv").write_text(
        "\n".join([f"{head},rkey", *(f"{r},{k:.10f}" for r, k in zip(rows, keys, strict=True))])
    )
    (tmp_path / "p.sdc").write_text(text)
    assert protect(tmp_path / "p.sdc", *WITHOUT)["exit"] == 0
    values = {(r["area"], r["illness"]): float(r["value"]) for r in csv.DictReader((tmp_path / "t.csv").open())}
    table = made(5, 3.0, 3)
    inside = [round(k, 10) for row, k in zip(rows, keys, strict=True) if row.split(",")[1:] == ["B", "z"]]
    key = sum(int(fixed(np.array([k]))[0]) for k in inside) % 2**64
    drawn = table.noise(np.array([len(inside)]), np.array([key], dtype=np.uint64))
    assert values["B", "z"] == len(inside) + drawn[0]
    (tmp_path / "people.csv").write_text("\n".join([f"{head},rkey", *(f"{r},1.5" for r in rows)]))
    assert [d["code"] for d in protect(tmp_path / "p.sdc", *WITHOUT)["diagnostics"]] == ["SDC339"]


def test_additive(tmp_path):
    _, values = released(tmp_path, policy(f'{NOISE}\n    additive\n    secret_file "secret.txt"'))
    for area in ("A", "B", "All"):
        assert values[area, "Any"] == sum(values[area, i] for i in "xyz")
    for illness in ("x", "y", "z", "Any"):
        assert values["All", illness] == values["A", illness] + values["B", illness]
    found, _ = released(tmp_path, policy(f'{NOISE}\n    additive\n    secret_file "secret.txt"'))
    assert "moved by at most" in str((tmp_path / "t.csv").read_text()) or found["exit"] == 0


def test_the_closest_additive_table_is_the_closest(tmp_path):
    """Against every table of small counts."""
    from sdcdsl.methods.cellkey.adding_up import closest  # noqa: PLC0415
    from sdcdsl.methods.result import SolveContext  # noqa: PLC0415
    from tests.bind.policies import problem_of  # noqa: PLC0415
    from tests.counts.every_table import typed  # noqa: PLC0415

    random = np.random.default_rng(2)
    for seed in range(3):
        text = typed(random.integers(1, 4, (2, 3)), "method csp", 0)
        problem = problem_of(text.replace("  against e\n", "  against e\n  cost 1\n"))
        published = problem.dataset["published"].values
        drawn = np.maximum(problem.dataset["a"].values + random.integers(-2, 3, problem.n), 0.0)
        value, _ = closest(problem, drawn, published, SolveContext({}))
        assert value is not None
        best = min(
            np.abs(_margins(np.array(leaves).reshape(2, 3)) - drawn[:12]).sum()
            for leaves in product(range(6), repeat=6)
        )
        assert np.abs(value - drawn)[published].sum() == best, seed


def _margins(leaves: np.ndarray) -> np.ndarray:
    """In the order of cells: the total of each dimension first."""
    whole = np.zeros((3, 4))
    whole[1:, 1:] = leaves
    whole[0, 1:], whole[1:, 0], whole[0, 0] = leaves.sum(axis=0), leaves.sum(axis=1), leaves.sum()
    return whole.ravel()


def test_keys_are_uniform_and_unrelated():
    """Of names that follow each other, by the statistics of a uniform and independent sequence, with a fixed seed."""
    n = 20_000
    keys = np.array([key_of(SECRET.encode(), f"P{k}") for k in range(n)], dtype=np.uint64)
    share = keys / 2.0**64
    seen = np.histogram(share, bins=20, range=(0, 1))[0]
    assert ((seen - n / 20) ** 2 / (n / 20)).sum() < 60  # χ² of 19: once in 250 000 times
    assert abs(np.corrcoef(share[1:], share[:-1])[0, 1]) < 5 / np.sqrt(n)
    # Cells of overlapping records: noise of a cell says nothing of that of the cell with one record more.
    table = made(5, 3.0)
    cells = np.cumsum(keys)  # one record more each time, modulo 2^64
    noise = table.noise(np.full(n, 20), cells)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 5 / np.sqrt(n)


def test_the_posterior_is_what_frequencies_say():
    """Rows with as many as may be in each leaf, drawn and perturbed: how often everybody is in the first category."""
    table = made(2, 1.0)
    n, most = 400_000, 8
    random = np.random.default_rng(11)
    leaves = random.integers(0, most, (n, 2))
    keys = random.integers(0, 2**64, (n, 2), dtype=np.uint64)
    seen = leaves + np.stack([table.noise(leaves[:, i], keys[:, i]) for i in (0, 1)], axis=1)
    total = leaves.sum(axis=1)
    with np.errstate(over="ignore"):
        key = np.where(leaves[:, 1] > 0, keys.sum(axis=1, dtype=np.uint64), keys[:, 0])
    group = total + table.noise(total, key)
    rows, often = np.unique(np.column_stack([group, seen]), axis=0, return_counts=True)
    frequent = rows[(often > 1000) & (rows[:, 0] >= 2) & (rows[:, 1] >= 2)]
    assert len(frequent) > 20 and any(row.tolist() == [4, 4, 0] for row in frequent)
    for published in frequent[:: len(frequent) // 10]:
        here = (group == published[0]) & (seen[:, 0] == published[1]) & (seen[:, 1] == published[2])
        often = np.bincount(leaves[here, 1], minlength=4) / here.sum()
        p = elsewhere(table, published[0], published[1], np.array([published[2]]))
        for r in range(min(len(p), 4)):
            assert abs(p[r] - often[r]) < 5 * np.sqrt(0.25 / here.sum()), (published, r)
    # Drawn one by one it would be 0.91; with the key of the sum it is nearly sure.
    assert elsewhere(table, 4, 4, np.array([0]))[0] > 0.99
    one = posterior(table, 4)
    often = np.bincount(leaves[seen[:, 0] == 4, 0], minlength=8) / (seen[:, 0] == 4).sum()
    assert np.allclose(often[one.counts], one.probability, atol=0.01)
    assert one.interval(0.95)[0] <= 4 <= one.interval(0.95)[1]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ('secret_file "secret.txt"', "SDC164"),
        ("deviation 5\n    variance 3", "SDC164"),
        ('deviation 5\n    variance 3\n    secret_file "secret.txt"\n    secret_variable "X"', "SDC164"),
        ('ptable "none.csv"\n    secret_file "secret.txt"', "SDC302"),
        ('deviation 5\n    variance 300\n    secret_file "secret.txt"', "SDC339"),
        ('deviation 5\n    variance 3\n    secret_file "../secret.txt"', "SDC339"),
        ('deviation 5\n    ptable "p.csv"\n    secret_file "secret.txt"', "SDC147"),
    ],
)
def test_what_a_policy_has_to_say(tmp_path, options, code):
    found, _ = released(tmp_path, policy(options))
    assert code in {d["code"] for d in found["diagnostics"]} and found["exit"]
