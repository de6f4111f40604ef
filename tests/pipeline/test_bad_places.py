"""Places that cannot be written: said before the search where it can be known, and never half a release.

Tests may run as root, whom permissions do not stop: the obstacles are real ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.release import release
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.report.release import Staged
from tests.cli.protecting import Policies
from tests.conftest import ROOT
from tests.pipeline.others import environment, others  # noqa: F401
from tests.pipeline.test_pipeline import asked

SEARCHED = pytest.mark.usefixtures("others")  # the method is the small one of `others`


@pytest.fixture
def policy(tmp_path: Path) -> Policies:
    folder = tmp_path / "work"
    folder.mkdir()
    return Policies(folder)


def everything(folder: Path) -> dict[str, str | None]:
    """All folders and files with their content; the method's own files aside."""
    return {
        str(p.relative_to(folder)): p.read_text() if p.is_file() and not p.is_symlink() else None
        for p in sorted(folder.rglob("*"))
    }


def refusals(request: ProtectRequest) -> list[str]:
    """What is said before anything is searched."""
    prepared = prepare(request)
    assert not prepared.outcomes
    assert {found.code for found in prepared.found} == {"SDC503"}
    return [found.headline for found in prepared.found]


def one(request: ProtectRequest) -> str:
    [headline] = refusals(request)
    return headline


# ---- beforehand ------------------------------------------------------------------------------------------


@SEARCHED
@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("taken", "a folder has that name"),
        ("plain/out.csv", "plain is not a folder"),
        ("plain/deeper/out.csv", "plain is not a folder"),
        ("n" * 300 + ".csv", "its name is too long"),
        ("deep/" + "n" * 300 + "/out.csv", "its name is too long"),
        ("loop/out.csv", "loop is not a folder"),
        ("pipe", "what is there is no ordinary file"),
    ],
)
def test_obstacles_in_the_way(policy, target, why):
    path = policy(f'method enumeration\n  release csv "{target}"')
    folder = path.parent
    (folder / "taken").mkdir()
    (folder / "plain").write_text("a file")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    before = sorted(map(str, folder.rglob("*")))
    assert one(asked(path)) == f"{Path(target).name} cannot be written: {why}"
    assert sorted(map(str, folder.rglob("*"))) == before


@SEARCHED
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here")
@pytest.mark.parametrize("folder", ["/proc/nope", "/proc", "/proc/self/nope/deeper"])
def test_places_where_nobody_makes_files(policy, folder):
    path = policy('method enumeration\n  release csv "out.csv"')
    request = ProtectRequest(**{**vars(asked(path)), "folder": Path(folder)})
    assert one(request).startswith("out.csv cannot be written: ")


@SEARCHED
@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="no devices here")
def test_devices_are_not_replaced(policy):
    path = policy('method enumeration\n  release csv "null"')
    assert "no ordinary file" in one(ProtectRequest(**{**vars(asked(path)), "folder": Path("/dev")}))
    assert Path("/dev/null").is_char_device()


@SEARCHED
def test_a_probe_leaves_nothing_behind(policy):
    path = policy('method enumeration\n  release csv "new/deep/out.csv"\n  release argus "new/out.tab"')
    before = everything(path.parent)
    prepared = prepare(asked(path))
    assert not prepared.found
    assert everything(path.parent) == before


@SEARCHED
def test_two_files_into_one(policy):
    path = policy('method enumeration\n  release csv "a/out.csv"\n  release csv "b/out.csv"')
    (path.parent / "a").mkdir()
    (path.parent / "b").symlink_to("a")
    assert one(asked(path)) == "out.csv cannot be written: this run writes out.csv there as well"


@SEARCHED
@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ('argus "out.tab"', 'csv "out.rda"', "out.rda cannot be written: this run writes out.rda there as well"),
        ('csv "out"', 'csv "out/more.csv"', "out cannot be written: a folder must have that name, for more.csv"),
    ],
)
def test_files_in_each_others_way(policy, first, second, why):
    path = policy(f"method enumeration\n  release {first}\n  release {second}")
    assert one(asked(path)) == why


@SEARCHED
def test_a_certificate_in_the_place_of_a_release(policy):
    request = asked(policy('method enumeration\n  release csv "out.csv"'))
    request = ProtectRequest(**{**vars(request), "certificate": request.folder / "out.csv"})
    assert one(request) == "out.csv cannot be written: this run writes out.csv there as well"


@SEARCHED
@pytest.mark.parametrize("name", ["house.sdc", "investment.sdc", "linked.csv"])
def test_what_is_read_is_not_written(policy, name):
    path = policy(f'method enumeration\n  release csv "{name}"')
    (path.parent / "house.sdc").write_text("sdc 1\nsensitive investment at (activity: I, region: C)\n")
    path.write_text(path.read_text().replace("sdc 1\n", 'sdc 1\nuse "house.sdc"\n', 1))
    (path.parent / "linked.csv").symlink_to("investment.sdc")
    assert one(asked(path)) == f"{name} cannot be written: it holds what is to be protected"


def test_metadata_beside_a_release_does_not_replace_that_of_the_data(policy):
    path = policy.folder / "energy.sdc"
    path.write_text(
        """sdc 1
policy "Energy"

data energy {
  argus "energy.tab" {
    metadata "out.rda"
  }
}

dimension fuel {
  codes coal, gas
  total Total
}

table use {
  from energy
  by fuel
  value use
}

sensitive use at (fuel: gas)

attacker external {
  bounds 0 .. inf
}

protect use {
  lpl 1
  upl 1
  against external
  method csp
  release argus "out.tab"
}
"""
    )
    (policy.folder / "energy.tab").write_text("coal;3\ngas;4\n")
    (policy.folder / "out.rda").write_text('<SEPARATOR> ";"\nfuel\n  <RECODEABLE>\nuse\n  <NUMERIC>\n')
    assert one(asked(path)) == "out.rda cannot be written: it holds what is to be protected"


@SEARCHED
@pytest.mark.parametrize("option", ['delimiter ";;"', 'delimiter ""', 'delimiter "ß"', 'decimal "x"'])
def test_signs_that_are_none(policy, option):
    path = policy(f'method enumeration\n  release csv "out.csv" {{\n    {option}\n  }}')
    prepared = prepare(asked(path))
    assert [found.code for found in prepared.found] == ["SDC109"]


# ---- file systems ----------------------------------------------------------------------------------------


def mounted(folder: Path, *options: str) -> bool:
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", ",".join(("size=64k", *options)), "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    if not mounted(folder):
        pytest.skip("this test mounts a small file system, which is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=False)


@SEARCHED
def test_a_read_only_file_system(policy, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    path = policy('method enumeration\n  release csv "out.csv"')
    request = ProtectRequest(**{**vars(asked(path)), "folder": small_disk})
    assert one(request) == "out.csv cannot be written: the file system is read-only"
    both = policy('method enumeration\n  release csv "out.csv"\n  release argus "out.tab"')
    found = one(ProtectRequest(**{**vars(asked(both)), "folder": small_disk}))  # one folder, one reason: said once
    assert found == "out.csv and 4 more cannot be written: the file system is read-only"


@SEARCHED
def test_a_full_disk_keeps_what_was_there(policy, small_disk):
    """There is room for a probe and the first file, and none for the second."""
    (small_disk / "old.csv").write_text("last year's")
    path = policy('method enumeration\n  release csv "old.csv"\n  release parquet "new.parquet"')
    request = ProtectRequest(**{**vars(asked(path)), "folder": small_disk})
    prepared = prepare(request)
    assert not prepared.found
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_bsize
    (small_disk / "filler").write_bytes(b"x" * (free - 4096))  # one block left
    before = everything(small_disk)
    _, [found] = release(prepared, request)
    assert found.code == "SDC503" and "No space left" in found.headline
    assert everything(small_disk) == before


@SEARCHED
def test_a_file_too_large(policy, others, tmp_path):  # noqa: F811
    """What a quota or a full disk does in the middle of a file; Python ignores the signal that comes with it."""
    path = policy('method enumeration\n  release csv "out.csv"\n  release sdmx "sdmx.csv"')
    (path.parent / "out.csv").write_text("last year's")
    code = f"""
import resource, datetime
from pathlib import Path
from sdcdsl.pipeline.protect import prepare
from sdcdsl.pipeline.release import release
from tests.pipeline.test_pipeline import asked
request = asked(Path({str(path)!r}))
prepared = prepare(request)
assert not prepared.found, prepared.found
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
_, found = release(prepared, request)
print([f.code for f in found], found[0].headline)
"""
    before = everything(path.parent)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(others), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['SDC503'] a file could not be written: File too large")
    assert everything(path.parent) == before


# ---- all or none -----------------------------------------------------------------------------------------


def staged_three(folder: Path) -> Staged:
    staged = Staged()
    for name in ("a.csv", "b.csv", "c.csv"):
        part = staged.beside(folder / name)
        part.write_text(f"new {name}")
        part.with_suffix(".rda").write_text(f"new {name} metadata")
    return staged


def test_every_file_gets_its_name_with_what_lies_beside_it(tmp_path):
    (tmp_path / "b.csv").write_text("old b")
    staged = staged_three(tmp_path)
    assert len(staged.files()) == 6
    staged.rename()
    staged.discard()
    assert everything(tmp_path) == {
        **{f"{n}.csv": f"new {n}.csv" for n in "abc"},
        **{f"{n}.rda": f"new {n}.csv metadata" for n in "abc"},
    }


@pytest.mark.parametrize("last", ["b.csv", "c.rda", "c.csv", "a.csv"])
def test_if_one_cannot_have_its_name_all_is_as_it_was(tmp_path, last):
    """A folder that appears while the search goes on is in the way of a file."""
    (tmp_path / "a.csv").write_text("old a")
    (tmp_path / "b.rda").write_text("old b metadata")
    (tmp_path / "linked").write_text("elsewhere")
    if last != "a.csv":
        (tmp_path / "a.rda").symlink_to("linked")
    staged = staged_three(tmp_path)
    (tmp_path / last).unlink(missing_ok=True)
    (tmp_path / last).mkdir()
    (tmp_path / last / "inside").write_text("kept")
    before = {name: text for name, text in everything(tmp_path).items() if ".sdcdsl-release" not in name}
    with pytest.raises(IsADirectoryError):
        staged.rename()
    staged.discard()
    assert everything(tmp_path) == before
    assert last == "a.csv" or (tmp_path / "a.rda").is_symlink()


def test_folders_that_were_made_go_with_the_files(tmp_path):
    staged = Staged()
    staged.beside(tmp_path / "new" / "deep" / "out.csv").write_text("new")
    staged.discard()
    assert everything(tmp_path) == {}
    staged = Staged()
    staged.beside(tmp_path / "new" / "deep" / "out.csv").write_text("new")
    staged.rename()
    staged.discard()
    assert everything(tmp_path) == {"new": None, "new/deep": None, "new/deep/out.csv": "new"}


def test_the_longest_name(tmp_path):
    name = "n" * (os.pathconf(tmp_path, "PC_NAME_MAX") - 4) + ".csv"
    staged = Staged()
    staged.beside(tmp_path / name).write_text("new")
    staged.rename()
    assert everything(tmp_path) == {name: "new"}
