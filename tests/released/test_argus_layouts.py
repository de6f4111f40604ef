"""The layouts of τ-ARGUS, written out by hand after what its source prints: cross table, pivot and code–value."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sdcdsl.pattern import hidden
from sdcdsl.policy import document as d
from sdcdsl.report.release import write_table
from tests.bind.policies import problem_of

THREE = """sdc 1
policy "x"
data cells { csv "cells.csv" }
dimension year { codes "2024", "2025"; total all }
dimension sex { codes m, f; total T }
dimension age { codes young, old; total Total }
table t { from cells; by year, sex, age; value value }
sensitive at (year: "2024", sex: m, age: young)
attacker external { bounds 0 .. inf }
protect t { lpl 1; upl 1; against external; method suppression }
"""
CELLS = """year,sex,age,value
2024,m,young,1.5
2024,m,old,2
2024,f,young,3
2024,f,old,4.25
2025,m,young,5
2025,m,old,6
2025,f,young,7
2025,f,old,8
"""
CROSS = """Var 1,"all"
,"Total","young","old"
"T",36.75,16.50,20.25
"m",14.50,6.50,8.00
"f",22.25,10.00,12.25

Var 1,"2024"
,"Total","young","old"
"T",10.75,4.50,6.25
"m",3.50,x,x
"f",7.25,x,x

Var 1,"2025"
,"Total","young","old"
"T",26.00,12.00,14.00
"m",11.00,5.00,6.00
"f",15.00,7.00,8.00

"""
CODE_VALUE = """"all","T","Total",36.75,S
"all","T","young",16.50,S
"all","T","old",20.25,S
"all","m","Total",14.50,S
"all","m","young",6.50,S
"all","m","old",8.00,S
"all","f","Total",22.25,S
"all","f","young",10.00,S
"all","f","old",12.25,S
"2024","T","Total",10.75,S
"2024","T","young",4.50,S
"2024","T","old",6.25,S
"2024","m","Total",3.50,S
"2024","m","young",x,U
"2024","m","old",x,U
"""


def written(folder: Path, format: str, *options: d.Option) -> str:
    (folder / "cells.csv").write_text(CELLS)
    problem = problem_of(THREE, folder)
    labels = {problem.label(i): i for i in range(problem.n)}
    mask = np.zeros(problem.n, dtype=bool)
    for sex in "mf":
        for age in ("young", "old"):
            mask[labels[f"year = 2024, sex = {sex}, age = {age}"]] = True
    pattern = hidden(problem.dataset["a"].values, mask)
    write_table(problem, pattern, "t", d.FileReference(format, "x", options), folder / "x")
    return (folder / "x").read_text()


def test_cross_table(tmp_path: Path):
    assert written(tmp_path, "cross_table") == CROSS


def test_code_value(tmp_path: Path):
    assert written(tmp_path, "code_value", d.Option("status")).startswith(CODE_VALUE)


def test_pivot_has_a_header_and_the_same_lines(tmp_path: Path):
    text = written(tmp_path, "pivot", d.Option("status"))
    assert text.startswith('"year","sex","age","value","status"\n' + CODE_VALUE)
    plain = written(tmp_path, "pivot")
    assert plain.startswith('"year","sex","age","value"\n"all","T","Total",36.75\n')
