"""The program from Python, on the table by hand (paper 003): levels 5 and 8 cost 59, hiding a square of four cells."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import sdcdsl
from sdcdsl.notebook.html import figure
from tests.cli.investment import FOUR, World
from tests.cli.protecting import Policies

LEVELS = ("lpl 5", "upl 8")


@pytest.fixture
def loaded(tmp_path: Path):
    return sdcdsl.load(Policies(tmp_path)("method csp", 'release csv "out.csv"'))


class Checked(HTMLParser):
    """Well-formed pieces: what is opened is closed, and nothing runs."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag not in ("script", "img", "link", "iframe")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data}\n"


def test_the_model_has_the_codes_of_its_cells(loaded):
    model = loaded.model("investment")
    problem = loaded.problems["investment"].bound
    last = problem.label(problem.n - 1).rpartition(", ")[2]
    dimension, code = last.split(" = ")
    here = [cell for cell in range(problem.n) if problem.label(cell).endswith(last)]
    assert 1 < len(here) < problem.n
    assert model.variables["x"].sel({dimension: code}).indexes["cell"].tolist() == here
    with pytest.raises(KeyError, match="no protect block"):
        loaded.model("investments")


def test_from_a_file_to_a_release(loaded, tmp_path):
    run = loaded.protect()
    assert list(run) == ["investment"]
    made = run["investment"]
    assert (made.method, made.result.status) == ("csp", "optimal")
    assert made.result.objective == pytest.approx(59)
    assert made.verdict and made.verdict.word == "protected" and made.verdict.attacked
    assert made.pattern.counts == {"published": 12, "hidden": 4}
    assert made.measures.hidden == 4
    assert not list(tmp_path.glob("*.csv"))  # until somebody asks for it
    paths = run.release(tmp_path / "release")
    assert [path.name for path in paths] == ["out.csv", "investment.internal.html", "investment.sdc.lock"]
    assert all(path.is_file() for path in paths)
    assert loaded.audit(tmp_path / "release" / "out.csv").word == "protected"


def test_tables_are_frames(loaded):
    run = loaded.protect()
    frame = run["investment"].table()
    hidden = frame.filter(frame["status"] == "hidden")
    assert frame.columns == ["activity", "region", "value", "low", "high", "status"]
    assert len(frame) == 16 and len(hidden) == 4
    assert hidden["value"].null_count() == 4
    cells = loaded.problems["investment"].cells()
    [secret] = cells.filter(cells["status"] == "sensitive").rows(named=True)
    assert secret == {
        "activity": "II",
        "region": "C",
        "value": 22.0,
        "status": "sensitive",
        "lpl": 5.0,
        "upl": 8.0,
        "spl": 0.0,
    }
    with pytest.raises(KeyError, match="no table turnover in investment; there are investment"):
        run["investment"].table("turnover")


def test_pairs_of_an_audit(loaded, tmp_path):
    """II·C lies in [5, 30] if II·A, II·C, III·A and III·C are hidden."""
    released = World(tmp_path).hidden(*FOUR)
    [pair] = loaded.audit(released).pairs().rows(named=True)
    assert (pair["value"], pair["low"], pair["high"]) == (22, 5, 30)
    assert (pair["needed_low"], pair["needed_high"], pair["verdict"]) == (17, 30, "protected")
    weak = loaded.audit(World(tmp_path).hidden("II·C"))
    assert not weak and weak.word == "exposed" and weak.counts == {"protected": 0, "exposed": 1, "not proven": 0}


def test_what_is_wrong_is_raised(tmp_path):
    with pytest.raises(sdcdsl.Refused, match=r"error\[SDC102\]: there is no table `x`") as wrong:
        sdcdsl.load("sdc 1\nprotect x {\n  method csp\n}\n")
    assert "SDC102" in [found.code for found in wrong.value.diagnostics]
    policy = Policies(tmp_path)
    with pytest.raises(sdcdsl.Refused, match="no release can satisfy the policy"):
        sdcdsl.load(policy("method csp {\n    cap_hidden 1\n  }")).protect()
    fine = sdcdsl.load(policy("method csp", 'release csv "out.csv"'))
    with pytest.raises(KeyError, match="did you mean `investment`"):
        fine.protect("investmen")
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(sdcdsl.Refused, match="nothing was released"):
        fine.protect().release(tmp_path / "file")
    with pytest.raises(KeyError, match="no data, dimension or table enterprises"):
        sdcdsl.load(tmp_path / "investment.sdc", data={"enterprises": "x.csv"})


def test_they_show_themselves(loaded):
    run = loaded.protect()
    made = run["investment"]
    shown = (loaded, loaded.problems["investment"], run, made, made.pattern, made.verdict)
    texts = [Checked(one._repr_html_()).text for one in shown]
    assert all("investment" in text.casefold() for text in texts)
    for text, word in zip(texts, ("csp", "sensitive", "59", "optimal", "4 hidden", "protected"), strict=True):
        assert word in text
    assert all(repr(one).startswith("<") for one in shown)


def test_codes_are_text_and_nothing_else(tmp_path):
    path = Policies(tmp_path)("method csp")
    text = path.read_text(encoding="utf-8").replace("codes A, B", 'codes "<script>alert(1)</script>", B')
    text = text.replace("|  A |", '| "<script>alert(1)</script>" |')
    path.write_text(text, encoding="utf-8")
    run = sdcdsl.load(path).protect()
    assert "<script>" in Checked(run["investment"]._repr_html_()).text  # as text


def test_progress_is_told(tmp_path):
    told = []
    loaded = sdcdsl.load(Policies(tmp_path)("method csp"))
    loaded.protect(progress=lambda block, progress: told.append((block, progress.phase)))
    assert told and {block for block, _ in told} == {"investment"}


def test_the_package_itself_is_light():
    code = "import sdcdsl, sys; assert 'numpy' not in sys.modules and sdcdsl.__version__; sdcdsl.load; sdcdsl.Refused"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="loda"):
        sdcdsl.loda  # noqa: B018


def test_figures_keep_their_digits():
    assert figure(5312345.75) == "5\u202f312\u202f345.75"
    assert figure(14510806.0) == "14\u202f510\u202f806"
    assert (figure(float("nan")), figure(float("inf"))) == ("", "∞")


def test_the_package_shows_its_names():
    assert dir(sdcdsl) == sorted(["__version__", *sdcdsl.notebook.__all__])
    assert all(hasattr(sdcdsl, name) for name in dir(sdcdsl))
