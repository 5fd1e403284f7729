"""Draws costs over sizes as small charts with logarithmic axes, in SVG without anything else."""

from __future__ import annotations

import math
from pathlib import Path

WIDTH, HEIGHT, ACROSS = 300, 200, 3
LEFT, TOP, RIGHT, BOTTOM = 62, 34, 16, 28
COLOURS = {"ours": "#1f6feb", "raw": "#8b949e"}
NAMES = {"ours": "libkvstore", "raw": "by hand"}

Points = list[tuple[int, float]]


def draw(path: Path, panels: dict[str, dict[str, Points]]) -> None:
    """Writes one chart for each panel: lines of points, named by their side."""
    down = math.ceil(len(panels) / ACROSS)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11" '
        f'viewBox="0 0 {WIDTH * ACROSS} {HEIGHT * down + 24}">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for place, (title, lines) in enumerate(panels.items()):
        x, y = place % ACROSS * WIDTH, place // ACROSS * HEIGHT
        unit = "memory" if "memory" in title else "time"
        parts.append(f'<g transform="translate({x},{y})">{panel(title, unit, lines)}</g>')
    for number, (side, name) in enumerate(NAMES.items()):
        x, y = LEFT + number * 120, HEIGHT * down + 12
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{COLOURS[side]}"/>')
        parts.append(f'<text x="{x + 10}" y="{y + 4}">{name}</text>')
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")


def panel(title: str, unit: str, lines: dict[str, Points]) -> str:
    """One chart."""
    points = [point for line in lines.values() for point in line]
    sizes = sorted({size for size, _ in points})
    low = math.floor(math.log10(min(value for _, value in points)))
    high = max(low + 1, math.ceil(math.log10(max(value for _, value in points))))
    first, last = math.log10(sizes[0]), math.log10(max(sizes[-1], sizes[0] * 10))

    def place(size: float, value: float) -> tuple[float, float]:
        x = LEFT + (math.log10(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)
        y = TOP + (high - math.log10(value)) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{title}</text>']
    for power in range(low, high + 1):
        x, y = place(sizes[0], 10.0**power)
        parts.append(f'<path d="M{x} {y}H{WIDTH - RIGHT}" stroke="#d0d7de"/>')
        label = amount(10.0**power, unit)
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{label}</text>')
    for size in sizes:
        x, _ = place(size, 10.0**low)
        parts.append(f'<text x="{x}" y="{HEIGHT - 10}" text-anchor="middle">{short(size)}</text>')
    for side, line in lines.items():
        at = [place(size, value) for size, value in line]
        path = " ".join(f"{x},{y}" for x, y in at)
        colour = COLOURS[side]
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in at]
    return "".join(parts)


def amount(value: float, unit: str) -> str:
    """Microseconds or KiB, with the usual unit of their size."""
    names = ("KiB", "MiB", "GiB") if unit == "memory" else ("µs", "ms", "s")
    step = 1024 if unit == "memory" else 1000
    for name in names[:-1]:
        if value < step:
            return f"{value:.3g} {name}"
        value /= step
    return f"{value:.3g} {names[-1]}"


def short(size: int) -> str:
    """A number of entities: 10 k, 1 M."""
    return f"{size // 10**6} M" if size >= 10**6 else f"{size // 10**3} k"
