"""The drawing is a file of its own, with a panel for each experiment and the figures in it."""

from __future__ import annotations

from xml.etree import ElementTree

from sdcdsl.risk import CLASSES, assess, drawing
from tests.risk.tables import RELEASED, line

SVG = "{http://www.w3.org/2000/svg}"


def test_a_panel_for_each_experiment():
    made = assess(line(), RELEASED, ("B1", "B3"), {"norm": ("L1", "L2")}, seed=1)
    text = drawing([made])
    root = ElementTree.fromstring(text)
    panels = root.findall(f"{SVG}g")
    assert len(panels) == 4
    heads = [panel.findtext(f"{SVG}text") for panel in panels]
    assert [head.split(":")[0] for head in heads if head] == ["B1, L1", "B3, L1", "B1, L2", "B3, L2"]
    for panel, trial in zip(panels, made.trials, strict=True):
        bars = panel.findall(f"{SVG}rect")
        assert len(bars) == len(CLASSES)
        heights = [float(bar.attrib["height"]) for bar in bars]
        assert sum(heights) == max(sum(heights), 0.0) and abs(sum(heights) / 126 - 1) < 0.01  # shares add up to 100 %
        assert heights.index(max(heights)) == int(trial.shares.argmax())
    assert "prefers-color-scheme: dark" in text
    assert "href" not in text and "url(" not in text  # nothing from elsewhere
