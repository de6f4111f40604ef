"""Pages, plots and the tables of the documentation come from the results, always the same ones."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET

import numpy as np
import papers
import plots
import pytest
import registry
import report
import runner

from tests.conftest import ROOT

RESULTS = ROOT / "benchmarks" / "results"
SUITES = registry.suites()


def test_pages_say_what_the_results_say(tmp_path):
    """`python benchmarks/report.py` writes them anew."""
    for file in RESULTS.glob("*.json"):
        shutil.copy(file, tmp_path)
    made = report.all_written(tmp_path, SUITES)
    assert {path.name for path in made} == {path.name for path in RESULTS.iterdir() if path.suffix != ".json"}
    for path in made:
        assert path.read_text() == (RESULTS / path.name).read_text(), f"{path.name}: run python benchmarks/report.py"


@pytest.mark.parametrize("page", papers.PAGES, ids=lambda page: page.name)
def test_the_documentation_says_what_the_results_say(page):
    """`python benchmarks/papers.py` writes its tables anew."""
    text = page.read_text()
    assert set(papers.MARKED.findall(text)), "no table is marked"
    assert papers.filled(text) == text, f"{page.name}: run python benchmarks/papers.py"


def test_every_table_stands_on_a_page():
    marked = [name for page in papers.PAGES for _, name, _ in papers.MARKED.findall(page.read_text())]
    assert sorted(marked) == sorted(papers.TABLES)


def test_rows_of_other_names_stay(tmp_path):
    suite, file = SUITES["startup"], tmp_path / "startup.json"

    def row(name, cpu):
        return {"kind": "Start-up", "instance": name, "method": "startup", "status": "done", "cpu": cpu, "versions": {}}

    runner.keep(file, suite, "cpu", [row("check", 1.0), row("fmt", 2.0)])
    runner.keep(file, suite, "cpu", [row("check", 3.0)])
    kept = json.loads(file.read_text())
    assert [(r["instance"], r["cpu"]) for r in kept["rows"]] == [("check", 3.0), ("fmt", 2.0)]
    assert {"what", "clock", "machine"} < set(kept)
    assert "| check | 3.000 |" in file.with_suffix(".md").read_text()


def test_rows_stand_in_the_order_of_their_suite():
    listed = [{"instance": e.instance, "method": e.method} for e in SUITES["scaling"].entries({})]
    unknown = {"instance": "no such", "method": "row"}
    assert report.in_order([unknown, *reversed(listed)], SUITES["scaling"]) == [*listed, unknown]


def test_rows_of_an_unknown_kind_are_still_shown(tmp_path):
    file = tmp_path / "startup.json"
    runner.keep(file, SUITES["startup"], "cpu", [])
    made = json.loads(file.read_text())
    made["rows"] = [{"kind": "From another version", "instance": "x", "method": "m", "status": "done", "cpu": 1.5}]
    file.write_text(json.dumps(made))
    report.written(file, SUITES["startup"])
    assert "## From another version" in file.with_suffix(".md").read_text()


# ---- plots -----------------------------------------------------------------------------------------------------------


def test_the_exponent_of_a_power_is_found():
    sizes = [100.0, 316.0, 1000.0, 31623.0]
    found = plots.fitted([(n, 3e-6 * n**1.5) for n in sizes])
    assert found is not None
    constant, exponent = found
    assert exponent == pytest.approx(1.5)
    assert constant == pytest.approx(3e-6)
    assert plots.fitted([(1.0, 1.0), (2.0, 2.0)]) is None


def test_curves_are_a_drawing_with_a_mark_for_every_point():
    series = {"a": [(100, 0.01), (1000, 0.2), (10000, 3.0)], "b & c": [(1000, 5.0)]}
    text = plots.curves("Time", "cells", "s", series, {})
    assert text == plots.curves("Time", "cells", "s", series, {})
    marks = [e for e in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}path") if "mark" in e.get("class", "")]
    assert len(marks) == 4 + 2  # points, and the legend
    rate = np.polyfit(np.log([100, 1000, 10000]), np.log([0.01, 0.2, 3.0]), 1)[0]
    assert f"a: n^{rate:.2f}" in text
