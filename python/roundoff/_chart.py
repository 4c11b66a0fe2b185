"""Charts as SVG, for answers that are figures."""

from __future__ import annotations

import csv
import io
import math
from typing import Any, List, Optional, Tuple
from xml.sax.saxutils import escape

_COLORS = {"black": "#000000", "blue": "#0072B2", "purple": "#CC79A7", "grey": "#808080", "vermilion": "#D55E00"}
_SIZE, _LEFT, _RIGHT, _TOP, _BOTTOM = (640, 400), 70, 150, 40, 50


class Chart:
    """A chart with logarithmic axes, or with an axis y from 0 to 1 if share is true, to which curves are added.

    >>> c = Chart("How fast do they grow?", "n", "error")
    >>> c.line("n", [1, 10, 100], [1, 10, 100], color="blue", dashed=True)
    >>> c.vertical("half", 50)
    >>> c
    Chart 'How fast do they grow?': n (3 points), half (1 point)
    """

    def __init__(self, title: str, x: str, y: str, *, share: bool = False) -> None:
        self.title, self.x, self.y, self.share = title, x, y, share
        self.series: List[Tuple[str, str, str, bool, List[float], List[float]]] = []

    def line(self, label: str, x: Any, y: Any, *, color: str = "black", dashed: bool = False) -> None:
        """Adds a line through points with positive x and, unless the axis is a share, y."""
        self._add("line", label, x, y, color, dashed)

    def vertical(self, label: str, x: float, *, color: str = "black", dashed: bool = False) -> None:
        """Adds a vertical line at x."""
        self._add("vertical", label, [x], [0.0], color, dashed)

    def _add(self, kind: str, label: str, x: Any, y: Any, color: str, dashed: bool) -> None:
        if color not in _COLORS:
            raise ValueError(f"color is {color!r}, want {', '.join(_COLORS)}")
        x, y = [float(v) for v in x], [float(v) for v in y]
        if len(x) != len(y):
            raise ValueError(f"{label!r} has {len(x)} x and {len(y)} y, want as many")
        self.series.append((kind, str(label), color, dashed, x, y))

    def _csv(self) -> str:
        """Returns the numbers as pkg/viz of the Go module writes them."""
        text = io.StringIO()
        rows = csv.writer(text)
        rows.writerow(["panel", "series", "kind", "x", "y", "text"])
        for kind, label, _, _, x, y in self.series:
            rows.writerows(["", label, kind, repr(v), repr(w), ""] for v, w in zip(x, y))
        return text.getvalue()

    def __repr__(self) -> str:
        points = (f"{s[1]} ({len(s[4])} point{'s' * (len(s[4]) != 1)})" for s in self.series)
        return f"Chart {self.title!r}: {', '.join(points)}"

    def _repr_svg_(self) -> str:
        """Returns the chart as SVG, which Jupyter shows. Points that an axis cannot have are left out."""
        width, height = _SIZE
        xs = _Axis([v for s in self.series for v in s[4]], _LEFT, width - _RIGHT)
        ys = _Axis([] if self.share else [w for s in self.series if s[0] == "line" for w in s[5]], height - _BOTTOM, _TOP, self.share)
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" font-family="sans-serif" font-size="12">'
               f'<rect width="{width}" height="{height}" fill="white"/>'
               f'<text x="{_LEFT}" y="22" font-size="15">{escape(self.title)}</text>']  # fmt: skip
        for at, label in xs.ticks():
            out.append(f'<path d="M{at:.1f} {_TOP}V{height - _BOTTOM}" stroke="#e4e4e4"/>'
                       f'<text x="{at:.1f}" y="{height - _BOTTOM + 16}" text-anchor="middle">{label}</text>')  # fmt: skip
        for at, label in ys.ticks():
            out.append(f'<path d="M{_LEFT} {at:.1f}H{width - _RIGHT}" stroke="#e4e4e4"/>'
                       f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')  # fmt: skip
        for i, (kind, label, color, dashed, x, y) in enumerate(self.series):
            stroke = f'stroke="{_COLORS[color]}" stroke-width="1.6"' + ' stroke-dasharray="5 3"' * dashed
            if kind == "vertical":
                at = xs.place(x[0])
                path = "" if at is None else f"M{at:.1f} {_TOP}V{height - _BOTTOM}"
            else:
                places = [(a, b) for a, b in zip(map(xs.place, x), map(ys.place, y)) if a is not None and b is not None]
                path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in places) if places else ""
            below = _TOP + 12 + 18 * i
            out.append(f'<path d="{path}" fill="none" {stroke}/><path d="M{width - _RIGHT + 10} {below - 4}h22" {stroke}/>'
                       f'<text x="{width - _RIGHT + 38}" y="{below}">{escape(label)}</text>')  # fmt: skip
        out.append(f'<text x="{(_LEFT + width - _RIGHT) / 2}" y="{height - 12}" text-anchor="middle">{escape(self.x)}</text>'
                   f'<text transform="translate(16 {(_TOP + height - _BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{escape(self.y)}</text></svg>')  # fmt: skip
        return "".join(out)


class _Axis:
    """An axis from one place on the page to another, logarithmic between powers of ten, or from 0 to 1."""

    def __init__(self, values: List[float], begin: float, end: float, share: bool = False) -> None:
        logs = [math.log10(v) for v in values if 0 < v < math.inf] or [0.0]
        self.begin, self.end, self.share = begin, end, share
        low = math.floor(min(logs))
        self.low, self.high = (0, 1) if share else (low, max(low + 1, math.ceil(max(logs))))

    def place(self, v: float) -> Optional[float]:
        if not math.isfinite(v) or v <= 0 and not self.share:
            return None
        at = v if self.share else math.log10(v)
        return self.begin + (at - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self) -> List[Tuple[float, str]]:
        if self.share:
            return [(self.begin + v * (self.end - self.begin), f"{v:g}") for v in (0, 0.25, 0.5, 0.75, 1)]
        step = max(1, math.ceil((self.high - self.low) / 8))
        places = [(e, self.place(10.0**e)) for e in range(self.low, self.high + 1, step)]
        return [(at, f'10<tspan dy="-5" font-size="9">{e}</tspan>'.replace(">-", ">\u2212")) for e, at in places if at is not None]
