"""Paths that lead elsewhere, and things that are no files: nothing outside a policy's folder is read or written unless
the person who runs it says so, and nothing keeps the program waiting."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli, exits
from sdcdsl.ordinary_files import open_ordinary
from tests.cli.test_limits import POLICY as INLINE
from tests.conftest import ROOT
from tests.waiting import HANGS

POLICY = """sdc 1
policy "Places"
data units {{ csv "{data}" }}
dimension region {{
  hierarchy hrc "{tree}"
  total Total
}}
table t {{ from units; by region; sum turnover }}
sensitive by threshold(3)
attacker external {{ bounds 0 .. inf }}
protect t {{
  lpl 1
  upl 1
  against external
  method csp
  release csv "{release}"
}}
"""
UNITS = "region,turnover\n" + "".join(f"{r},{v}\n" for r in "ABCDA" for v in (5, 6, 7, 9)) + "E,4\n"
SECRET = "top,secret\n"


def world(folder: Path, **paths: str) -> Path:
    (folder / "work").mkdir(exist_ok=True)
    (folder / "outside").mkdir(exist_ok=True)
    (folder / "outside" / "secret.csv").write_text(SECRET)
    (folder / "work" / "units.csv").write_text(UNITS)
    (folder / "work" / "region.hrc").write_text("A\nB\nC\nD\nE\n")
    said = {"data": "units.csv", "tree": "region.hrc", "release": "released.csv", **paths}
    (folder / "work" / "p.sdc").write_text(POLICY.format(**said))
    return folder / "work" / "p.sdc"


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="sdcdsl")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


# ---- reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["data", "tree"])
@pytest.mark.parametrize("path", ["../outside/secret.csv", "x/../../outside/secret.csv", "ABSOLUTE", "..\\\\outside"])
def test_paths_that_climb_or_start_at_the_root(tmp_path: Path, what: str, path: str):
    path = str(tmp_path / "outside" / "secret.csv") if path == "ABSOLUTE" else path
    code, text = run("plan", world(tmp_path, **{what: path}))
    assert code == exits.WRONG_POLICY
    assert "SDC140" in text
    assert "secret\n" not in text


@pytest.mark.parametrize("what", ["data", "tree"])
def test_links_out_of_the_folder(tmp_path: Path, what: str):
    path = world(tmp_path, **{what: "link"})
    (path.parent / "link").symlink_to(tmp_path / "outside" / "secret.csv")
    code, text = run("plan", path)
    assert code == exits.WRONG_DATA
    assert "SDC140" in text and "top" not in text
    (path.parent / "link").unlink()
    (path.parent / "deep").symlink_to(tmp_path / "outside")
    code, text = run("plan", world(tmp_path, **{what: "deep/secret.csv"}))
    assert code == exits.WRONG_DATA
    assert "SDC140" in text and "top" not in text


def test_links_within_the_folder_are_followed(tmp_path: Path):
    path = world(tmp_path, data="link")
    (path.parent / "link").symlink_to("units.csv")
    assert run("plan", path)[0] == exits.DONE


def test_use_through_links(tmp_path: Path):
    path = world(tmp_path)
    (tmp_path / "outside" / "house.sdc").write_text("sdc 1\nsensitive by threshold(5)\n")
    path.write_text(path.read_text().replace("sdc 1\n", 'sdc 1\nuse "deep/house.sdc"\n', 1))
    (path.parent / "deep").symlink_to(tmp_path / "outside")
    code, text = run("check", path)
    assert code == exits.WRONG_POLICY
    assert "SDC052" in text
    assert run("check", path, "--allow-outside")[0] == exits.DONE


# ---- writing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../outside/x.csv", "/tmp/x.csv", "a/../../x.csv", "C:\\\\x.csv"])
def test_releases_that_climb(tmp_path: Path, path: str):
    code, text = run("protect", world(tmp_path, release=path))
    assert code == exits.WRONG_POLICY
    assert "SDC140" in text


def test_a_release_through_a_linked_folder(tmp_path: Path):
    path = world(tmp_path, release="deep/x.csv")
    (path.parent / "deep").symlink_to(tmp_path / "outside")
    code, text = run("protect", path)
    assert code == exits.WRONG_DATA
    assert "SDC503" in text and "--allow-outside" in text
    assert sorted(p.name for p in (tmp_path / "outside").iterdir()) == ["secret.csv"]
    code, text = run("protect", path, "--allow-outside")
    assert code == exits.DONE, text
    assert (tmp_path / "outside" / "x.csv").is_file()


def test_a_link_in_the_place_of_a_release_is_replaced(tmp_path: Path):
    path = world(tmp_path)
    names = ("released.csv", "p.sdc.lock", "internal/p.internal.html")
    for folder in (tmp_path / "outside", path.parent):
        (folder / "internal").mkdir()
    for name in names:
        (tmp_path / "outside" / name).write_text(SECRET)
        (path.parent / name).symlink_to(tmp_path / "outside" / name)
    code, text = run("protect", path)
    assert code == exits.DONE, text
    for name in names:
        assert (tmp_path / "outside" / name).read_text() == SECRET
        assert not (path.parent / name).is_symlink()


def test_a_folder_that_becomes_a_link_while_the_search_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever may write to the folder swaps it between the first look and the writing."""
    from sdcdsl.pipeline import search  # noqa: PLC0415

    path = world(tmp_path, release="deep/x.csv")
    (path.parent / "deep").mkdir()
    real = search.run

    def swapping(*args):
        (path.parent / "deep").rmdir()
        (path.parent / "deep").symlink_to(tmp_path / "outside")
        return real(*args)

    monkeypatch.setattr(search, "run", swapping)
    code, text = run("protect", path)
    assert code == exits.WRONG_DATA, text
    assert "a link leads out" in text
    assert sorted(p.name for p in (tmp_path / "outside").iterdir()) == ["secret.csv"]
    assert not (path.parent / "p.sdc.lock").exists()


def test_files_that_are_not_released_yet_are_for_nobody_else(tmp_path: Path):
    from sdcdsl.report.release import Staged  # noqa: PLC0415

    staged = Staged()
    part = staged.beside(tmp_path / "x.html")
    assert part.parent.stat().st_mode & 0o077 == 0
    staged.discard()


# ---- what is no file -------------------------------------------------------------------------------------


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def bound_socket(path: Path) -> Path:
    socket.socket(socket.AF_UNIX).bind(str(path))
    return path


NO_FILES: dict[str, Callable[[Path], Path]] = {
    "pipe": lambda folder: fifo(folder / "pipe"),
    "socket": lambda folder: bound_socket(folder / "socket"),
    "zero": lambda folder: Path("/dev/zero"),
    "terminal": lambda folder: Path("/dev/tty"),
    "folder": lambda folder: folder,
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_only_ordinary_files_are_opened(tmp_path: Path, kind: str):
    with pytest.raises(OSError):  # noqa: PT011  several kinds of it
        open_ordinary(NO_FILES[kind](tmp_path))


def test_no_command_waits_for_a_pipe_or_reads_zeros(tmp_path: Path):
    """In one process of its own, which a hang would end."""
    path = world(tmp_path)
    (tmp_path / "work" / "i.sdc").write_text(INLINE)
    fifo(tmp_path / "pipe")
    os.symlink("/dev/zero", path.parent / "zero.csv")
    commands: list[list[str]] = []
    for odd in (str(tmp_path / "pipe"), "/dev/zero"):
        commands += [
            ["check", odd],
            ["plan", str(path), "--data", f"units={odd}"],
            ["plan", str(path), "--data", f"region={odd}"],
            ["audit", str(path), "--released", odd],
            ["verify", odd],
            ["fmt", odd],
            ["compile", str(tmp_path / "work" / "i.sdc"), "--solution", odd],
        ]
    commands += [["plan", str(world(tmp_path, data="zero.csv"))]]
    commands += [["plan", str(tmp_path / "work" / "i.sdc"), "--today", "2026-01-01"]]  # and one that works
    start = (
        "import sys\nfrom click.testing import CliRunner\nfrom sdcdsl.cli import cli\n"
        f"for arguments in {commands!r}:\n"
        "    got = CliRunner().invoke(cli, arguments, prog_name='sdcdsl')\n"
        "    assert got.exception is None or isinstance(got.exception, SystemExit), (arguments, got.exc_info)\n"
        "    print(got.exit_code, flush=True)\n"
    )
    got = subprocess.run(
        [sys.executable, "-c", start],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert got.returncode == 0, got.stderr
    codes = [int(word) for word in got.stdout.split()]
    assert codes[-1] == exits.DONE
    assert set(codes[:-1]) <= {exits.WRONG_POLICY, exits.WRONG_DATA}
    assert len(codes) == len(commands)


def test_a_file_larger_than_memory(tmp_path: Path):
    """Sparse, so that the disk does not mind."""
    path = world(tmp_path)
    with (tmp_path / "work" / "units.csv").open("wb") as file:
        file.truncate(1 << 43)
    got = subprocess.run(
        [sys.executable, "-m", "sdcdsl", "plan", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert got.returncode == exits.LIMIT, got.stdout + got.stderr
    assert "SDC516" in got.stderr
