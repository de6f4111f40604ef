"""The distributions of an assessment as one SVG file that needs nothing else: a panel for each experiment and norm.

Text and lines take their colour from the reader's light or dark scheme; bars run from red, where the attacker is right,
to blue, where nothing was learned, and carry their figures, so that nobody has to tell colours apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from sdcdsl.risk.assessment import CLASSES, Assessment, Trial
from sdcdsl.vocabulary.methods import EXPERIMENTS

_WIDTH, _HEIGHT = 440, 210  # of a panel
_LEFT, _TOP, _BOTTOM = 34, 46, 38  # room around its bars
_HEAD = 56  # room above all panels
_BARS = ("#c62f2f", "#d9622b", "#d98e2b", "#b59a2e", "#7f9b4f", "#4f9583", "#3f86a8", "#3a6fb5")
_STYLE = """
    text { font: 11px sans-serif; fill: #1f2328 }
    .title { font-size: 15px; font-weight: bold }
    .name { font-size: 12px; font-weight: bold }
    .about { font-size: 10px; fill: #57606a }
    .middle { text-anchor: middle }
    .end { text-anchor: end }
    .paper { fill: #ffffff }
    .line { stroke: #8c959f; stroke-width: 1 }
    .grid { stroke: #8c959f; stroke-width: 1; opacity: 0.3 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .about { fill: #9da7b3 }
      .paper { fill: #0d1117 }
    }
"""


def drawing(assessments: Sequence[Assessment]) -> str:
    """All blocks below each other, two panels beside each other."""
    parts: list[str] = []
    top, across = 0, 2
    for assessment in assessments:
        parts += _heading(assessment, top)
        top += _HEAD
        for i, trial in enumerate(assessment.trials):
            x, y = (i % across) * _WIDTH, top + i // across * _HEIGHT
            parts.append(f'  <g transform="translate({x},{y})">')
            parts += [f"    {line}" for line in _panel(trial)]
            parts.append("  </g>")
        top += -(-len(assessment.trials) // across) * _HEIGHT
    width, height = across * _WIDTH, max(top, _HEAD)
    verdicts = "; ".join(f"{a.name}: {a.verdict}" for a in assessments)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img">',
            f"  <title>Error of attackers who undo the adjustment: {escape(verdicts)}</title>",
            f"  <style>{_STYLE}  </style>",
            f'  <rect class="paper" width="{width}" height="{height}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _heading(assessment: Assessment, top: int) -> Iterator[str]:
    yield f'  <text class="title" x="{_LEFT}" y="{top + 24}">{escape(assessment.name)}: {assessment.verdict}</text>'
    said = "share of the attackers' guesses, in per cent, by how far they are from the true value, in per cent of it"
    yield f'  <text class="about" x="{_LEFT}" y="{top + 42}">{said}</text>'


def _panel(trial: Trial) -> Iterator[str]:
    wide, high = (_WIDTH - _LEFT - 12) / len(CLASSES), _HEIGHT - _TOP - _BOTTOM
    floor = _TOP + high
    yield f'<text class="name" x="{_LEFT}" y="14">{trial.experiment}, {trial.norm}: {trial.verdict}</text>'
    yield f'<text class="about" x="{_LEFT}" y="28">{escape(EXPERIMENTS[trial.experiment].about)}</text>'
    for share in (0, 50, 100):
        y = floor - high * share / 100
        kind = "grid" if share else "line"
        yield f'<line class="{kind}" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - 12}" y2="{y:.1f}"/>'
        yield f'<text class="about end" x="{_LEFT - 5}" y="{y + 3:.1f}">{share}</text>'
    for i, (name, share) in enumerate(zip(CLASSES, trial.shares.tolist(), strict=True)):
        x, tall = _LEFT + i * wide, high * share / 100
        middle = x + wide / 2
        yield (
            f'<rect x="{x + 3:.1f}" y="{floor - tall:.1f}" width="{wide - 6:.1f}" height="{tall:.1f}"'
            f' fill="{_BARS[i]}"><title>{escape(name)}: {share:.1f} %</title></rect>'
        )
        if share:
            yield f'<text class="middle" x="{middle:.1f}" y="{floor - tall - 4:.1f}">{share:.1f}</text>'
        yield f'<text class="about middle" x="{middle:.1f}" y="{floor + 14}">{escape(name)}</text>'
