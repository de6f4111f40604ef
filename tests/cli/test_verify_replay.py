"""What a replay finds that digests do not: a forger who can change files can also seal the lock anew."""

from __future__ import annotations

import hashlib
import shutil
import tomllib
from pathlib import Path

import polars as pl
import pytest

from tests.cli.protecting import run as protect
from tests.cli.test_verify_lock import locked, rewritten, states, verify  # noqa: F401


def forged(lock: Path, path: Path, raw: bytes) -> None:
    """Another content, and a lock that says so."""
    path.write_bytes(raw)
    digest = hashlib.sha256(raw).hexdigest()

    def change(content):
        [entry] = [e for e in content["outputs"] if e["path"] == path.name]
        entry["sha256"] = digest

    rewritten(lock, change)


def test_a_released_file_that_shows_more(locked):  # noqa: F811
    """Two of the four hidden cells are printed: the others follow from the totals."""
    out = locked.parent / "out.csv"
    lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
    hidden = [i for i, line in enumerate(lines) if line.endswith("hidden\n")]
    assert len(hidden) == 4
    for i in hidden[:2]:
        lines[i] = lines[i].replace(",,,,hidden", ",17,,,published")
    forged(locked, out, "".join(lines).encode())
    assert verify(locked).exit_code == 0  # nothing but a replay or a signature can tell
    found = states(locked, "--replay")
    assert (found["release investment", "out.csv"], found["replayed", "out.csv"]) == ("holds", "broken")
    assert verify(locked, "--replay").exit_code == 3


def test_a_released_file_with_a_remark(locked):  # noqa: F811
    """One byte is enough."""
    out = locked.parent / "out.csv"
    forged(locked, out, out.read_bytes() + b"\n")
    assert states(locked, "--replay")["replayed", "out.csv"] == "broken"


def test_a_file_that_the_lock_keeps_silent_about(locked):  # noqa: F811
    rewritten(locked, lambda content: content["outputs"].pop(0))
    assert verify(locked).exit_code == 0
    assert states(locked, "--replay")["replayed", "out.csv"] == "broken"


def test_a_file_that_the_policy_does_not_release(locked):  # noqa: F811
    more = locked.parent / "more.csv"
    more.write_text("II,C,22\n", encoding="utf-8")
    digest = hashlib.sha256(more.read_bytes()).hexdigest()
    entry = {"what": "release investment", "path": "more.csv", "sha256": digest}
    rewritten(locked, lambda content: content["outputs"].append(entry))
    assert states(locked, "--replay")["replayed", "more.csv"] == "broken"


def test_a_released_file_that_is_not_here(locked):  # noqa: F811
    """Its digest can still be compared."""
    (locked.parent / "out.csv").unlink()
    assert states(locked, "--replay")["replayed", "out.csv"] == "absent"
    rewritten(locked, lambda content: content["outputs"][0].update(sha256="0" * 64))
    assert states(locked, "--replay")["replayed", "out.csv"] == "broken"


def test_a_replay_leaves_nothing_behind(locked, tmp_path, monkeypatch):  # noqa: F811
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
    assert verify(locked, "--replay").exit_code == 0
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()} == before
    assert not list(room.iterdir())


@pytest.mark.parametrize(
    "statement",
    [
        'csv "out.csv" {\n    spreadsheet_safe\n  }',
        'parquet "out.parquet"',
        'sdmx "out.csv"',
        'html "out.html"',
        'jj "out.jj"',
        'argus "out.txt"',
    ],
)
def test_every_format_comes_out_again(policy, tmp_path, statement):
    path = policy("method csp", f"release {statement}")
    assert protect(path, "--public").exit_code == 0
    found = states(tmp_path / "investment.sdc.lock", "--replay")
    assert set(found.values()) == {"holds"}, found
    names = {name for what, name in found if what == "replayed"}
    assert "investment.public.html" in names and len(names) >= 2


def test_a_public_report_that_says_more(policy, tmp_path):
    assert protect(policy("method csp", 'release csv "out.csv"'), "--public").exit_code == 0
    page, lock = tmp_path / "investment.public.html", tmp_path / "investment.sdc.lock"
    forged(lock, page, page.read_bytes().replace(b"</body>", b"22</body>"))
    assert states(lock, "--replay")["replayed", "investment.public.html"] == "broken"


def test_parquet_is_compared_by_its_table(policy, tmp_path):
    assert protect(policy("method csp", 'release parquet "out.parquet"'), "--no-report").exit_code == 0
    path, lock = tmp_path / "out.parquet", tmp_path / "investment.sdc.lock"
    whole = path.read_bytes()
    table = pl.read_parquet(path)
    table.write_parquet(path, compression="uncompressed")
    assert path.read_bytes() != whole
    forged(lock, path, path.read_bytes())
    result = verify(lock, "--replay")
    assert result.exit_code == 0 and "the table that this run releases; the bytes differ" in result.stdout
    table.with_columns(pl.col("value").fill_null(22)).write_parquet(path)
    forged(lock, path, path.read_bytes())
    assert states(lock, "--replay")["replayed", "out.parquet"] == "broken"
    table.write_parquet(path, metadata={"truth": "22"})
    forged(lock, path, path.read_bytes())
    assert states(lock, "--replay")["replayed", "out.parquet"] == "broken"
    forged(lock, path, whole[:100])
    assert states(lock, "--replay")["replayed", "out.parquet"] == "broken"


# ---- certificates ---------------------------------------------------------------------------------------


def certificate_of(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "investment.sdc").write_text(text, encoding="utf-8")
    cert = folder / "c.cert"
    assert protect(folder / "investment.sdc", "--no-report", "--certificate", cert).exit_code == 0
    return cert


def test_a_certificate_of_another_policy(locked, tmp_path):  # noqa: F811
    """It holds, and proves less: the levels are 1 and 1."""
    text = (tmp_path / "investment.sdc").read_text(encoding="utf-8")
    weaker = certificate_of(tmp_path / "other", text.replace("lpl 5", "lpl 1").replace("upl 8", "upl 1"))
    forged(locked, tmp_path / "c.cert", weaker.read_bytes())
    found = verify(locked)
    assert found.exit_code == 3 and "it was made from other files than the lock names" in found.stdout


def test_a_certificate_with_inputs_that_somebody_wrote_into_it(locked, tmp_path):  # noqa: F811
    """The inputs of a certificate are words; a replay compares what it proves."""
    text = (tmp_path / "investment.sdc").read_text(encoding="utf-8")
    weaker = certificate_of(tmp_path / "other", text.replace("lpl 5", "lpl 1").replace("upl 8", "upl 1"))
    right = hashlib.sha256((tmp_path / "investment.sdc").read_bytes()).hexdigest()
    wrong = hashlib.sha256((tmp_path / "other" / "investment.sdc").read_bytes()).hexdigest()
    *lines, last = weaker.read_bytes().replace(wrong.encode(), right.encode()).splitlines(keepends=True)
    old = last.split(b'"sha256":"')[1][:64]
    last = last.replace(old, hashlib.sha256(b"".join(lines)).hexdigest().encode())
    forged(locked, tmp_path / "c.cert", b"".join([*lines, last]))
    assert verify(locked).exit_code == 0
    found = states(locked, "--replay")
    assert (found["proofs", "c.cert"], found["replayed", "c.cert"]) == ("holds", "broken")


def test_a_certificate_of_another_block(locked, tmp_path):  # noqa: F811
    rewritten(locked, lambda content: content["blocks"][0].update(name="other"))
    assert states(locked)["proofs", "c.cert"] == "broken"


# ---- files that are not here -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "c.cert", "investment.sdc"])
def test_strict_asks_for_every_file(locked, name):  # noqa: F811
    assert verify(locked, "--strict").exit_code == 0
    (locked.parent / name).unlink()
    assert verify(locked).exit_code == 0
    result = verify(locked, "--strict")
    assert result.exit_code == 3
    assert "SDC412" in result.stdout and f"= {name}" in result.stdout


def test_strict_is_for_locks(locked):  # noqa: F811
    assert verify(locked.parent / "c.cert", "--strict").exit_code == 2


def test_a_folder_that_moved_as_a_whole(locked, tmp_path):  # noqa: F811
    there = shutil.copytree(tmp_path, tmp_path.with_name("moved"))
    assert verify(there / locked.name, "--replay", "--strict").exit_code == 0


def test_a_replay_sets_parameters_as_they_were(policy, tmp_path):
    """At levels 10 and 12 the cheapest pattern costs 85, not 59 as at those the file says (paper 003, Figure 1)."""
    path = policy("method csp", 'release csv "out-{edition}.csv"', levels=("lpl low", "upl high"))
    declared = 'param edition = "a"\nparam low = 5\nparam high = 8\n\ndimension'
    path.write_text(path.read_text(encoding="utf-8").replace("dimension", declared, 1), encoding="utf-8")
    settings = ("--set", "low=10", "--set", "high=12", "--set", "edition=b")
    assert protect(path, *settings, "--no-report").exit_code == 0
    lock = tmp_path / "investment.sdc.lock"
    content = tomllib.loads(lock.read_text(encoding="utf-8"))
    assert content["policy"]["parameters"] == {"edition": "b", "low": "10", "high": "12"}
    assert content["blocks"][0]["objective"] == 85
    found = states(lock, "--replay")
    assert (found["policy", "meaning"], found["replayed", "out-b.csv"]) == ("holds", "holds")
