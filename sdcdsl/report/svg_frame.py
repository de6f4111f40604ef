"""What every drawing of this program stands in: one SVG file that needs nothing else. Colours follow the reader's light
or dark scheme, and there are as many shapes as colours (`risk_utility_shapes`): nobody has to tell colours apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_COLOURS = (  # light and dark, told apart by most eyes
    ("#0072b2", "#56b4e9"),
    ("#c4510a", "#f28e4b"),
    ("#00785a", "#2fc9a0"),
    ("#a3457f", "#e59bc8"),
    ("#8a6d00", "#e6c229"),
    ("#4b4ba8", "#a5a5ff"),
    ("#a11d2e", "#ff8a8a"),
    ("#3c5a14", "#a8cf6a"),
)
_STYLE = """
    text { font: 11px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #1f2328 }
    .title { font-size: 16px; font-weight: 600 }
    .axis { font-size: 12px }
    .about, .tick { fill: #57606a }
    .middle { text-anchor: middle }
    .end { text-anchor: end }
    .paper { fill: #ffffff }
    .frame { fill: none; stroke: #8c959f }
    .grid { stroke: #8c959f; opacity: 0.25 }
    .reference { stroke: #57606a; stroke-dasharray: 5 4 }
    .leader { stroke: #8c959f; stroke-width: 0.75 }
    .path { fill: none; stroke-width: 1.5; opacity: 0.55 }
    .worst { fill: none; stroke-width: 1.25; opacity: 0.8 }
    .mark { stroke: #ffffff; stroke-width: 1.25 }
    .label { stroke: #ffffff; stroke-width: 2.5; stroke-linejoin: round; paint-order: stroke }
"""
_DARK = """
      text { fill: #e6edf3 }
      .about, .tick { fill: #9da7b3 }
      .paper { fill: #0d1117 }
      .reference { stroke: #9da7b3 }
      .mark, .label { stroke: #0d1117 }
"""


def drawing(title: str, description: str, size: tuple[int, int], body: Iterable[str]) -> str:
    """The file: `body` are its elements, in classes of the style above."""
    width, height = size
    colours = "".join(f"    .c{i} {{ fill: {c[0]}; color: {c[0]} }}\n" for i, c in enumerate(_COLOURS))
    dark = "".join(f"      .c{i} {{ fill: {c[1]}; color: {c[1]} }}\n" for i, c in enumerate(_COLOURS))
    style = f"{_STYLE}{colours}    @media (prefers-color-scheme: dark) {{{_DARK}{dark}    }}\n"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
            f' height="{height}" role="img" aria-labelledby="title desc">',
            f'  <title id="title">{escape(title)}</title>',
            f'  <desc id="desc">{escape(description)}</desc>',
            f"  <style>{style}  </style>",
            f'  <rect class="paper" width="{width}" height="{height}"/>',
            *(f"  {line}" for line in body),
            "</svg>\n",
        ]
    )


def colour(i: int) -> str:
    """The class of the i-th of several colours; beside shapes that repeat too, no two of the first pairs are alike."""
    return f"c{(i + i // len(_COLOURS)) % len(_COLOURS)}"


def upright(text: str, x: float, y: float) -> str:
    return f'<text class="axis middle" transform="translate({x:.1f},{y:.1f}) rotate(-90)">{text}</text>'
