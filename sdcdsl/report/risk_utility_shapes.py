"""The marks of a risk–utility map: shapes of about one size, each told from the others without colour."""

from __future__ import annotations

import math

RADIUS = 5.5
SHAPES = ("circle", "square", "up", "diamond", "down", "hexagon", "pentagon", "star")


def outline(kind: str, x: float, y: float) -> str:
    """The way around a shape with its middle at x, y."""
    r = RADIUS
    if kind == "circle":
        return f"M{x - r:.1f} {y:.1f} a{r} {r} 0 1 0 {2 * r} 0 a{r} {r} 0 1 0 {-2 * r} 0 Z"
    corners, turn, size = {
        "square": (4, 45, 1.25),
        "up": (3, -90, 1.3),
        "diamond": (4, 0, 1.25),
        "down": (3, 90, 1.3),
        "hexagon": (6, 0, 1.1),
        "pentagon": (5, -90, 1.15),
        "star": (10, -90, 1.35),
    }[kind]
    at = []
    for i in range(corners):
        angle = math.radians(turn + 360 * i / corners)
        far = r * size * (0.5 if kind == "star" and i % 2 else 1.0)
        at.append(f"{x + far * math.cos(angle):.1f} {y + far * math.sin(angle):.1f}")
    return f"M{' L'.join(at)} Z"
