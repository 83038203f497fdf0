"""Plots as SVG, drawn by hand: lines over two axes, which may be logarithmic, for light and dark pages."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 215, 40, 50
COLOURS = ("#0b7285", "#e8590c", "#5f3dc4", "#2b8a3e", "#c2255c", "#1971c2", "#866118", "#868e96")
STYLE = """\
text { font: 12px sans-serif; fill: #333 } .title { font-size: 14px; font-weight: bold }
.axis { stroke: #868e96; fill: none } .grid { stroke: #868e9640 } .line { fill: none; stroke-width: 2 }
.guide { stroke: #868e96; stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } }"""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axis:
    """A direction of the plot."""

    name: str
    logarithmic: bool = False

    def scale(self, values: Sequence[float], begin: float, end: float) -> tuple[Callable[[float], float], list[float]]:
        """Where a value is drawn, and which values are marked."""
        low, high = min(values), max(values)
        if self.logarithmic:
            first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
            last = max(last, first + 1)
            marks = [10.0**each for each in range(first, last + 1)]
            return (lambda value: begin + (math.log10(value) - first) / (last - first) * (end - begin)), marks
        low = min(low, 0.0)
        step = _round_step((high - low) / 5 or 1.0)
        marks = [step * each for each in range(math.floor(low / step), math.ceil(high / step) + 1)]
        if len(marks) == 1:
            marks.append(marks[0] + step)
        return (lambda value: begin + (value - marks[0]) / (marks[-1] - marks[0]) * (end - begin)), marks


def _round_step(width: float) -> float:
    power = 10.0 ** math.floor(math.log10(width))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= width * 0.999)


def plot(title: str, x: Axis, y: Axis, series: Mapping[str, Points], guides: Mapping[str, float] | None = None) -> str:
    """Lines with their names at the right; `guides` are levels to compare with."""
    guides = guides or {}
    points = [point for line in series.values() for point in line]
    to_x, x_marks = x.scale([each for each, _ in points], LEFT, WIDTH - RIGHT)
    to_y, y_marks = y.scale([*(each for _, each in points), *guides.values()], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        _text(LEFT, 22, title, kind="title"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x.name, anchor="middle"),
    ]
    turned = f"translate(16 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{escape(y.name)}</text>')
    for mark in x_marks:
        parts.append(_line(to_x(mark), TOP, to_x(mark), HEIGHT - BOTTOM, "grid"))
        parts.append(_text(to_x(mark), HEIGHT - BOTTOM + 18, _label(mark), anchor="middle"))
    for mark in y_marks:
        parts.append(_line(LEFT, to_y(mark), WIDTH - RIGHT, to_y(mark), "grid"))
        parts.append(_text(LEFT - 6, to_y(mark) + 4, _label(mark), anchor="end"))
    for name, level in guides.items():
        parts.append(_line(LEFT, to_y(level), WIDTH - RIGHT, to_y(level), "guide"))
        parts.append(_text(LEFT + 6, to_y(level) - 5, name))
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>')
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [f"{to_x(at):.1f} {to_y(value):.1f}" for at, value in line]
        parts.append(f'<path class="line" stroke="{colour}" d="M{" L".join(places)}"/>')
        if len(line) <= 12:  # noqa: PLR2004 # more would be one thick line
            parts += [
                f'<circle cx="{place.split()[0]}" cy="{place.split()[1]}" r="3" fill="{colour}"/>' for place in places
            ]
        height = TOP + 12 + 20 * number
        parts.append(f'<rect x="{WIDTH - RIGHT + 16}" y="{height - 9}" width="12" height="10" fill="{colour}"/>')
        parts.append(_text(WIDTH - RIGHT + 34, height, name))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _label(value: float) -> str:
    if abs(value) >= 10_000:  # noqa: PLR2004 # as people write it
        return f"{value:,.0f}"
    return f"{value:.10g}"


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{named}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'
