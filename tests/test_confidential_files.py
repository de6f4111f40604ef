"""The list of files in docs/security.md against what commands write, and where."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdcdsl.cli import cli, exits
from tests.cli.investment import POLICY
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "security.md"


def listed() -> list[tuple[str, str, str]]:
    """The rows of the table of files: what, by which command, and whether it is confidential."""
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("| file | written by | confidential? |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = [tuple(cell.strip() for cell in line.strip("|").split(" | ")) for line in table.splitlines()]
    assert all(len(row) == 3 for row in rows) and len(rows) > 8
    return rows  # type: ignore[return-value]


def confidential(command: str, name: str) -> bool:
    """What the list says of a file that a command wrote."""
    named = {"out.csv": "files that `release` names", "p.cert": "certificate", "p.lp": "model"}
    for what, by, how in listed():
        patterns = [re.escape(p).replace("NAME", "p") for p in re.findall(r"`([^`]+)`", what)]
        fits = named.get(Path(name).name) == what or any(re.fullmatch(pattern, name) for pattern in patterns)
        if fits and f"`{command}" in by:
            return not how.startswith("no")
    raise AssertionError(f"{name}, written by {command}, is not in the list")


def run(folder: Path, *arguments: str) -> set[str]:
    """The files that it wrote, below `folder/out`."""
    text = POLICY.replace("LEVELS", "lpl 5\n  upl 8\n  cost value").replace("csp", 'csp\n  release csv "out.csv"')
    (folder / "p.sdc").write_text(text, encoding="utf-8")
    out = folder / "out"
    result = CliRunner().invoke(cli, [*(a.replace("@", f"{folder}/") for a in arguments)], prog_name="sdcdsl")
    assert result.exit_code in (exits.DONE, exits.EXPOSED), result.output
    return {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        ("protect", "@p.sdc", "--out", "@out", "--certificate", "@out/internal/p.cert"),
        ("protect", "@p.sdc", "--out", "@out", "--public"),
        ("compare", "@p.sdc", "--out", "@out", "--methods", "csp"),
        ("compile", "@p.sdc", "-o", "@out/p.lp"),
        ("audit", "@p.sdc", "--certificate", "@out/p.cert"),
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[4:]),
)
def test_every_file_is_listed_as_it_is(tmp_path: Path, arguments: tuple[str, ...]):
    if arguments[0] in ("compile", "audit"):
        (tmp_path / "out").mkdir()
    written = run(tmp_path, *arguments)
    assert written
    for name in written:
        secret = confidential(arguments[0], name)
        mode = (tmp_path / "out" / name).stat().st_mode & 0o777
        assert (mode == 0o600) == secret, (name, oct(mode))
        if arguments[0] == "protect" and not name.endswith(".gitignore"):
            assert name.startswith("internal/") == secret, name


def test_git_takes_what_may_be_published(tmp_path: Path):
    run(tmp_path, "protect", "@p.sdc", "--out", "@out")
    git = ["git", "-c", "safe.directory=*", "-C", str(tmp_path)]
    if subprocess.run([*git, "init", "-q"], check=False).returncode:
        pytest.skip("needs git")
    subprocess.run([*git, "add", "out"], check=True)
    found = subprocess.run([*git, "ls-files"], check=True, capture_output=True, text=True).stdout.split()
    assert found == ["out/out.csv"]
    (tmp_path / "out" / "internal" / ".gitignore").write_text("*\n!*.lock\n")
    run(tmp_path, "protect", "@p.sdc", "--out", "@out")
    assert (tmp_path / "out" / "internal" / ".gitignore").read_text() == "*\n!*.lock\n"  # whoever knows better


def test_a_certificate_among_files_to_publish(tmp_path: Path):
    run(tmp_path, "new", "@unused.sdc")
    arguments = ["protect", f"{tmp_path}/p.sdc", "--out", f"{tmp_path}/out", "--certificate", f"{tmp_path}/out/p.cert"]
    result = CliRunner().invoke(cli, arguments, prog_name="sdcdsl")
    assert result.exit_code == exits.WRONG_DATA and "SDC519" in result.output
    assert not (tmp_path / "out").exists()
