"""The drawing of a comparison: well formed, every run in it, no text over another, whatever the figures are."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcdsl.report.risk_utility import ReleasePoint, risk_utility_map
from sdcdsl.report.risk_utility_labels import Box, box_of, placed

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"title": 16, "axis": 12}  # else 11, as the style says
NARROWEST = 0.5  # of the size of a letter: less than the drawing reckons with, so that touching is not overlapping


def parsed(points: list[ReleasePoint], title: str = "Investment") -> ElementTree.Element:
    return ElementTree.fromstring(risk_utility_map(title, points))


def marks(root: ElementTree.Element) -> list[str]:
    return [one.get("data-run", "") for one in root.iter(f"{SVG}path") if one.get("data-run")]


def boxes(root: ElementTree.Element) -> list[tuple[str, Box]]:
    out = []
    for text in root.iter(f"{SVG}text"):
        if text.get("transform"):
            continue  # the two upright ones, which have a margin of their own
        kinds = (text.get("class") or "").split()
        size = next((SIZES[kind] for kind in kinds if kind in SIZES), 11)
        said = text.text or ""
        x, y, wide = float(text.get("x", 0)), float(text.get("y", 0)), NARROWEST * size * len(said)
        left = x - wide if "end" in kinds else x - wide / 2 if "middle" in kinds else x
        out.append((said, Box(left, y - 0.75 * size, left + wide, y + 0.2 * size)))
    return out


def check(points: list[ReleasePoint]) -> ElementTree.Element:
    root = parsed(points)
    assert sorted(marks(root)) == sorted(f"{p.series} ×{p.level:g}" for p in points)
    texts = boxes(root)
    for i, (one, box) in enumerate(texts):
        for other, second in texts[i + 1 :]:
            assert not box.overlaps(second), (one, other)
    width, height = (float(x) for x in root.get("viewBox", "").split()[2:])
    assert all(box.within(Box(0, 0, width, height)) for _, box in texts)
    assert all("nan" not in (one.get("d") or "") for one in root.iter(f"{SVG}path"))
    return root


USUAL = [
    *(
        ReleasePoint("csp", level, loss, risk, worst)
        for level, loss, risk, worst in ((0.5, 7.8, 34, 50), (1, 16, 24, 60))
    ),
    *(ReleasePoint("ip", level, loss, risk) for level, loss, risk in ((0.5, 0.9, 66.7), (1, 1.7, 50), (2, 3.4, 33.3))),
    *(ReleasePoint("cta(norm: L2)", level, loss, None) for level, loss in ((0.5, 1.3), (1, 1.31))),
    ReleasePoint("cta(norm: L2)", 2, None, None, note="infeasible"),
]


@pytest.mark.parametrize(
    "points",
    [
        USUAL,
        [],
        [ReleasePoint("csp", 1, 0.0, 0.0)],
        [ReleasePoint("csp", 1, 7.8, 34.0)] * 1
        + [ReleasePoint("ip", 1, 7.8, 34.0), ReleasePoint("rounding", 1, 7.8, 34.0)],
        [ReleasePoint("csp", level, 5.0, 40.0) for level in (0.5, 1, 2)],
        [ReleasePoint("csp", 1, math.inf, 0.0), ReleasePoint("ip", 1, 1e-12, 100.0), ReleasePoint("cta", 1, 1e9, None)],
        [ReleasePoint("csp", 1, math.nan, math.nan), ReleasePoint("ip", 1, 2.0, math.nan)],
        [ReleasePoint(f"method {i}", 1, None, None, note="limit " * 40) for i in range(9)],
        [ReleasePoint(f"cta(sense: {i})", 1, 1.0 + i / 100, 30.0 + i / 50) for i in range(20)],
    ],
    ids=["usual", "none", "one at zero", "equal", "equal levels", "extremes", "no figures", "no release", "crowd"],
)
def test_every_run_has_a_mark_and_no_text_covers_another(points: list[ReleasePoint]) -> None:
    check(points)


figures = st.floats(0, 100) | st.sampled_from([0.0, 100.0, 50.0])
runs = st.builds(
    ReleasePoint,
    series=st.sampled_from(["csp", "ip", "cta(norm: L2)", "rounding(base: 5)"]),
    level=st.sampled_from([0.5, 1.0, 2.0, 4.0]),
    loss=st.none() | figures,
    risk=st.none() | figures,
    worst=st.none() | figures,
    note=st.sampled_from(["", "infeasible"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(runs, max_size=14, unique_by=lambda p: (p.series, p.level)))
def test_any_points(points: list[ReleasePoint]) -> None:
    check(points)
    assert risk_utility_map("a", points) == risk_utility_map("a", points)


def test_less_risk_is_lower_and_less_loss_is_further_left() -> None:
    root = parsed([ReleasePoint("csp", 1, 10.0, 80.0), ReleasePoint("csp", 2, 20.0, 20.0)])
    starts = [one.get("d", "") for one in root.iter(f"{SVG}path") if one.get("data-run")]
    (x, y), (to_x, to_y) = [tuple(map(float, d[1:].split(" a")[0].split())) for d in starts]
    assert to_x > x and to_y > y
    joined = [one for one in root.iter(f"{SVG}path") if "path" in (one.get("class") or "").split()]
    assert len(joined) == 1


def test_losses_that_differ_a_thousandfold_are_told_apart() -> None:
    losses = (0.0, 0.01, 0.02, 10.0)
    root = check([ReleasePoint("csp", i + 1, loss, 50.0) for i, loss in enumerate(losses)])
    starts = [one.get("d", "") for one in root.iter(f"{SVG}path") if one.get("data-run")]
    x = [float(d[1:].split()[0]) for d in starts]
    assert x[0] < x[1] and 20 < x[2] - x[1] < x[3] - x[2]
    assert any("logarithmic" in (text.text or "") for text in root.iter(f"{SVG}text"))
    assert any(text.text == "×1 (no loss)" for text in root.iter(f"{SVG}text"))


def test_names_are_text_and_not_markup() -> None:
    root = parsed([ReleasePoint('a<b & "c"', 1, 1.0, 50.0)], title="<script>&")
    assert marks(root) == ['a<b & "c" ×1']
    assert root.find(f"{SVG}script") is None
    assert (root.findtext(f"{SVG}title") or "").startswith("<script>&")
    assert 'a<b & "c" ×1: loss 1 %, risk 50 %' in (root.findtext(f"{SVG}desc") or "")


def test_marks_of_two_methods_in_one_place_are_both_seen() -> None:
    root = parsed([ReleasePoint("csp", 1, 10.0, 50.0), ReleasePoint("ip", 1, 10.0, 50.0)])
    ways = [one.get("d") for one in root.iter(f"{SVG}path") if one.get("data-run")]
    assert ways[0] != ways[1]
    classes = {one.get("class") for one in root.iter(f"{SVG}path") if one.get("data-run")}
    assert len(classes) == 2


def test_a_label_that_has_no_room_is_left_out() -> None:
    frame = Box(0, 0, 60, 16)
    labels = placed([("one", 10, 8), ("two", 10, 8), ("three", 10, 8), ("four", 10, 8)], 11, 5, frame, [])
    there = [label for label in labels if label is not None]
    assert 0 < len(there) < 4
    assert all(label.box.within(frame) for label in there)


def test_lines_through_boxes() -> None:
    box = box_of("label", 10, 20, 11)
    assert box.crosses((0, 15, 100, 15))
    assert box.crosses((20, 0, 20, 100))
    assert not box.crosses((0, 40, 100, 40))
    assert not box.crosses((0, 0, 9, 9))
