"""CSPLIB: the figures of `known-answers.md`, and those that paper 004 prints (Tables 2 and 3)."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l1l2 import mixed
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.numerics.nearest.linf import linf
from sdcdsl.numerics.nearest.solved import Solved
from sdcdsl.status import OPTIMAL
from tests.methods.nearest.boxes import Box, csplib

# L1 objective, L1 mean %, L2 objective, L2 mean %, L2 2-norm
KNOWN = {
    "targus": ("4.66106", "4.053", "1084.09", "4.102", "4963.9"),
    "table7": ("28.4557", "5.879", "59605.1", "7.183", "32984.2"),
    "table8": ("0.341259", "0.027", "1.89572", "0.057", "14.5"),
    "hier13x7x7d": ("4.65907", "0.898", "278.021", "1.038", "1075.2"),
    "hier13": ("16.2828", "0.806", "1033.34", "0.874", "2149.3"),
    "hier13x13x13a": ("15.7745", "0.781", "1028.73", "0.866", "2161.7"),
    "hier16": ("29.6833", "0.833", "1544.98", "0.901", "2706.3"),
    "two5in6": ("83.1397", "1.463", "4593.08", "1.650", "3749.3"),
    "ninenew": ("101.910", "1.557", "5907.42", "1.760", "4444.3"),
    "osorio": ("3.00516", "0.029", "2.04222", "0.055", "2.7"),
    "cbs": ("1167.06", "40.593", "88515.6", "42.942", "55731.8"),
}
ALL, P, OTHERS = "all", "sensitive", "others"
# Table 3, L2: mean, standard deviation and maximum of |z| and of 100 |z| / a, and the 2-norm.
TABLE_3 = {
    "hier13": {
        ALL: ("33.9", "33.7", "313.4", "0.87", "1.95", "45.84", "2149.3"),
        P: ("55.2", "27.8", "97.0", "6.18", "2.19", "9.97", "654.1"),
        OTHERS: ("32.7", "33.6", "313.4", "0.56", "1.42", "45.84", "2047.4"),
    },
    "hier16": {
        ALL: ("33.4", "30.6", "258.3", "0.90", "1.81", "10.00", "2706.3"),
        P: ("48.3", "27.4", "131.0", "6.89", "2.38", "10.00", "830.2"),
        OTHERS: ("32.4", "30.6", "258.3", "0.50", "0.75", "7.59", "2575.9"),
    },
    "ninenew": {
        ALL: ("38.6", "39.0", "522.8", "1.76", "2.44", "22.86", "4444.3"),
        P: ("52.4", "28.3", "192.0", "6.66", "2.36", "10.00", "1744.5"),
        OTHERS: ("36.6", "40.0", "522.8", "1.02", "1.35", "22.86", "4087.6"),
    },
    "two5in6": {
        ALL: ("35.4", "34.9", "340.1", "1.65", "2.40", "17.88", "3749.3"),
        P: ("49.1", "32.0", "169.0", "6.80", "2.42", "10.00", "1572.0"),
        OTHERS: ("33.5", "34.9", "340.1", "0.90", "1.17", "17.88", "3403.8"),
    },
}
# Table 3, L∞: the greatest percentage of sensitive cells and of the others.
MAXIMA = {
    "hier13": ("9.97", "8.28"),
    "hier16": ("10.00", "7.59"),
    "ninenew": ("10.00", "9.93"),
    "two5in6": ("10.00", "8.44"),
}
# Table 2, L1-2: mean % and 2-norm. It prints 1.56 for ninenew, whose solution is unique and has the 2-norm it prints.
TABLE_2 = {
    "hier13": ("0.82", "2306"),
    "hier16": ("0.84", "2845"),
    "ninenew": ("1.59", "4731"),
    "two5in6": ("1.50", "4045"),
}


def printed(value: float, as_there: str) -> bool:
    """Whether the value, in as many digits, is that."""
    digits = len(as_there.partition(".")[2])
    return abs(value - float(as_there)) <= 0.5001 * 10.0**-digits


def mean_percent(box: Box, z: np.ndarray) -> float:
    there = box.a > 0
    return 100 * float((np.abs(z[there]) / box.a[there]).mean())


def adds_up(box: Box, made: Solved) -> np.ndarray:
    assert made.status == OPTIMAL and made.z is not None and made.objective is not None and made.bound is not None
    x = box.a + made.z
    assert (np.abs(box.M @ x) <= 1e-12 * (abs(box.M) @ np.abs(x))).all()
    assert made.objective - made.bound <= 1e-9 * made.objective
    return made.z


def l2(box: Box) -> np.ndarray:
    return adds_up(box, L2(box.M).solve(box.w, box.l, box.u))


@pytest.mark.parametrize("name", KNOWN)
def test_l1(name):
    box = csplib(name)
    made = L1(box.M).solve(box.w, box.w, box.l, box.u)
    z = adds_up(box, made)
    objective, mean, *_ = KNOWN[name]
    assert f"{made.objective:.{_significant(objective)}g}" == f"{float(objective):.{_significant(objective)}g}"
    assert printed(mean_percent(box, z), mean)
    if (box.a == np.rint(box.a)).all() and (z == np.rint(z)).all():
        assert not (box.M @ z).any()


@pytest.mark.parametrize("name", KNOWN)
def test_l2(name):
    box = csplib(name)
    z = l2(box)
    _, _, objective, mean, norm = KNOWN[name]
    assert f"{box.w @ z**2:.6g}" == objective
    assert printed(mean_percent(box, z), mean)
    assert printed(float(np.linalg.norm(z)), norm)


@pytest.mark.parametrize("name", TABLE_3)
def test_table_3(name):
    box = csplib(name)
    far = np.abs(l2(box))
    percent = 100 * far / np.where(box.a > 0, box.a, np.inf)
    groups = {ALL: np.ones(len(far), dtype=bool), P: box.sensitive, OTHERS: ~box.sensitive}
    for group, expected in TABLE_3[name].items():
        d, s = far[groups[group]], percent[groups[group]]
        found = d.mean(), d.std(ddof=1), d.max(), s.mean(), s.std(ddof=1), s.max(), np.linalg.norm(d)
        wrong = [pair for pair in zip(found, expected, strict=True) if not printed(float(pair[0]), pair[1])]
        assert not wrong, (group, wrong)


@pytest.mark.parametrize("name", MAXIMA)
def test_maxima(name):
    box = csplib(name)
    z = adds_up(box, linf(box.M, box.w, box.l, box.u, box.sensitive))
    percent = 100 * np.abs(z) / np.where(box.a > 0, box.a, np.inf)
    assert printed(percent[box.sensitive].max(), MAXIMA[name][0])
    assert printed(percent[~box.sensitive].max(), MAXIMA[name][1])


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2(name):
    box = csplib(name)
    z = adds_up(box, mixed(box.M, 0.99 * box.w, 0.99 * box.w, 0.01 * box.w, box.l, box.u))
    mean, norm = TABLE_2[name]
    assert printed(mean_percent(box, z), mean)
    assert abs(np.linalg.norm(z) - float(norm)) < 1


@pytest.mark.parametrize("k", [1e6, 1e-6, 2e7])
@pytest.mark.parametrize("name", ["targus", "table7", "hier13x7x7d"])
def test_other_units(name, k):
    """The same relative deviations; table7 times 2e7 has values of 1e13."""
    box = csplib(name)
    big = box.times(k)
    one, two = L1(box.M).solve(big.w, big.w, big.l, big.u), L2(box.M).solve(big.w / k, big.l, big.u)
    assert one.objective == pytest.approx(float(KNOWN[name][0]), rel=2e-6)
    adds_up(big, one)
    assert adds_up(big, two) / k == pytest.approx(l2(box), abs=1e-6 * np.abs(l2(box)).max())
    three = linf(box.M, big.w, big.l, big.u, box.sensitive)
    assert three.objective == pytest.approx(linf(box.M, box.w, box.l, box.u, box.sensitive).objective, rel=1e-7)


def _significant(number: str) -> int:
    return len(number.replace(".", "").lstrip("0"))
