"""Charts as inline SVG, drawn by pygal: marks with their value as a title, colours by class, allowed by a strict content policy.

pygal's own style sheet, script and tooltips are removed: the page's Content-Security-Policy allows only its own, and colours follow light,
dark and print.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final
from xml.etree import ElementTree

from markupsafe import Markup

# pygal leaves a finder for its own plugins in the import system, of a kind that Python 3.11 warns of at every module that is not there: the
# finder goes before anything else is imported.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ImportWarning)
    import pygal
    from pygal.style import Style
sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, pygal.PluginImportFixer)]

__all__ = ["MIDDLE", "NARROW", "WIDE", "Dot", "Series", "draw_columns", "draw_dots", "draw_rows", "draw_strip"]

WIDE: Final = 1100
MIDDLE: Final = 640
NARROW: Final = 360
"""Widths for which each chart is drawn, so that its text has about the size of the page's text."""

_FONT: Final = 12
_LETTER: Final = 7
"""Approximate width of a digit of this font."""
_AXIS: Final = 60
"""Approximate width of the axis beside columns, with the margins."""
_STYLE: Final = Style(label_font_size=_FONT, major_label_font_size=_FONT, value_font_size=_FONT, legend_font_size=_FONT)
_MARK: Final = "tooltip-trigger"
_GEOMETRY: Final = frozenset(("cx", "cy", "d", "height", "points", "r", "transform", "width", "x", "y"))
_LONG_NUMBER: Final = re.compile(r"\d+\.\d{2,}(?:e-?\d+)?")


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: tuple[float | None, ...]
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: int
    radius: float
    name: str
    title: str
    label: str = ""


def draw_columns(labels: Sequence[str], series: Sequence[Series], *, width: int, height: int, about: str) -> Markup:
    """Draw stacked columns, first series at the bottom; zero and None draw nothing. `about` is the text for screen readers."""
    room = max((width - _AXIS) / max(len(labels), 1), 1)  # of a column, with the space beside it
    each = ceil((max(map(len, labels), default=0) + 1) * _LETTER / room)
    options = _options(width, height) | {"print_values": room > 2 * _FONT, "show_minor_x_labels": False, "truncate_label": -1}
    chart = pygal.StackedBar(**options, spacing=min(12, room / 3), show_x_guides=False)
    chart.x_labels_major = list(labels[::-1][::each])  # as many as have room, the last one among them
    chart.x_labels = list(labels)
    chart.y_labels = _ticks(series)
    return _drawn(chart, series, about, "columns")


def draw_rows(labels: Sequence[str], series: Sequence[Series], *, width: int, about: str) -> Markup:
    """Draw stacked bars from left to right, one row per label."""
    chart = pygal.HorizontalStackedBar(**_options(width, 46 + 26 * len(labels)), spacing=6)
    chart.x_labels = _short(labels, width)[::-1]  # pygal begins at the bottom
    chart.y_labels = _ticks(series)
    turned = [Series(one.name, one.values[::-1], one.titles[::-1]) for one in series]
    return _drawn(chart, turned, about, "rows-chart")


def draw_strip(series: Sequence[Series], *, about: str, height: int = 48) -> Markup:
    """Draw columns without axes or text, which can be stretched to any width; each value is one time step."""
    options = {**_options(600, height), "margin": 0, "show_x_labels": False, "show_y_labels": False, "print_values": False}
    kind = pygal.StackedBar if len(series) > 1 else pygal.Bar  # the latter passes over steps without a value
    chart = kind(**options, spacing=1, range=(0, max(_highest(series), 1)))
    svg = _drawn(chart, series, about, "strip")
    return Markup(str(svg).replace("<svg ", '<svg preserveAspectRatio="none" ', 1))


def draw_dots(rows: Sequence[str], dots: Sequence[Dot], *, width: int, about: str, ticks: Mapping[str, float] | None = None) -> Markup:
    """Draw dots on rows, the first row on top; `y` of a dot is its row, `x` of a dot or tick is between 0 and 1.

    The first and last dot of a row have labels, and dots in between if their labels fit.
    """
    chart = pygal.XY(
        **_options(width, 50 + 40 * len(rows)),
        stroke=False,
        xrange=(-0.03, 1.03),
        range=(-0.5, len(rows) - 0.5),
        show_x_guides=False,
        truncate_label=-1,
    )
    chart.x_labels = [{"label": label, "value": x} for label, x in (ticks or {}).items()]
    rows = _short(rows, width)
    labelled = _with_room(dots, width - _AXIS - _LETTER * max(map(len, rows), default=0))
    chart.y_labels = [{"label": label, "value": len(rows) - 1 - place} for place, label in enumerate(rows)]
    names = list(dict.fromkeys(dot.name for dot in dots))
    for name in names:
        chart.add(
            name,
            [
                {
                    "value": (dot.x, len(rows) - 1 - dot.y),
                    "node": {"r": dot.radius},
                    "label": dot.title,
                    "formatter": lambda _, label=dot.label if place in labelled else "": label,
                }
                for place, dot in enumerate(dots)
                if dot.name == name
            ],
        )
    return _clean(chart, names, about, "dots")


def _with_room(dots: Sequence[Dot], width: int) -> set[int]:
    """Choose dots whose labels do not overlap, the ends of each row first."""
    chosen: set[int] = set()
    rows = [[place for place, dot in enumerate(dots) if dot.y == row] for row in {dot.y for dot in dots}]
    ends = {end(row, key=lambda at: dots[at].x) for row in rows for end in (min, max)}
    for place in sorted(range(len(dots)), key=lambda at: (at not in ends, dots[at].x)):
        dot = dots[place]
        near = (other for other in map(dots.__getitem__, chosen) if other.y == dot.y)
        if dot.label and all(abs(other.x - dot.x) * width > _LETTER * (len(other.label) + len(dot.label) + 1) / 2 for other in near):
            chosen.add(place)
    return chosen


def _highest(series: Sequence[Series]) -> float:
    return max((sum(one.values[place] or 0 for one in series) for place in range(len(series[0].values))), default=0)


def _short(labels: Sequence[str], width: int) -> list[str]:
    """Shorten labels beside rows to a third of the picture, because pygal shortens only labels of columns."""
    longest = max(16, width // 25)
    return [label if len(label) <= longest else f"{label[: longest - 1]}…" for label in labels]


def _ticks(series: Sequence[Series]) -> list[int]:
    """Return whole numbers from zero to the highest stack, six at most: steps are 1, 2 or 5 times a power of ten."""
    most = _highest(series)
    step = next(size for size in (factor * 10**power for power in range(15) for factor in (1, 2, 5)) if most <= 5 * size)
    return [step * number for number in range(int(-(-most // step)) + 1)]


def _options(width: int, height: int) -> dict[str, Any]:
    return {
        "width": width, "height": height, "show_legend": False, "style": _STYLE, "margin": 6, "css": [], "js": [], "no_data_text": "",
        "print_values": True, "max_scale": 6,
        "value_formatter": lambda value: f"{value:,.0f}", "min_scale": 1,
        "explicit_size": False, "show_minor_y_labels": True, "include_x_axis": True,
    }  # fmt: skip


def _drawn(chart: Any, series: Sequence[Series], about: str, kind: str) -> Markup:
    for one in series:
        values = [{"value": value, "label": title} if value else None for value, title in zip(one.values, one.titles, strict=True)]
        chart.add(one.name, values)
    return _clean(chart, [one.name for one in series], about, kind)


def _clean(chart: Any, names: Sequence[str], about: str, kind: str) -> Markup:
    root = chart.render_tree()
    for name in [name for name in root.attrib if name not in ("viewBox",)]:
        del root.attrib[name]
    root.attrib.update({"class": f"chart {kind}", "role": "img", "aria-label": about})
    _prune(root)
    for group in root.iter("g"):
        found = re.search(r"\bserie-(\d+)", group.get("class", ""))
        if found:
            group.set("class", f"series {names[int(found[1])]}")
    for node in list(root.iter()):
        _name_marks(node)
        for name in _GEOMETRY & node.attrib.keys():
            node.set(name, _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), str(node.get(name))))
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=True))


def _prune(node: Any) -> None:
    """Drop definitions, comments, backgrounds, tooltips, empty bars with their labels, and empty groups."""
    for child in list(node):
        if _is_left_out(child):
            node.remove(child)
            continue
        _prune(child)
        if child.tag == "g" and not len(child):
            node.remove(child)


def _is_left_out(node: Any) -> bool:
    if not isinstance(node.tag, str) or node.tag in ("defs", "style", "script"):
        return True
    kind = node.get("class", "")
    if "background" in kind or "tooltip-overlay" in kind:
        return True
    if node.tag == "rect":
        return 0.0 in (float(node.get("width", 1)), float(node.get("height", 1)))
    is_zero = node.get("text-anchor") == "middle" and node.text == "0"
    return node.tag == "text" and "text-overlay" not in kind and (is_zero or not node.text)


def _name_marks(node: Any) -> None:
    """Replace the descriptions beside a mark by its title; drop titles of an axis, which repeat its text."""
    descriptions = [child for child in node if child.tag == "desc"]
    label = next((child.text for child in descriptions if child.get("class") == "label"), None)
    for child in descriptions:
        node.remove(child)
    for child in list(node):
        if child.tag == "title" and node.get("class") != "mark":
            node.remove(child)
        elif _MARK in child.get("class", ""):
            child.attrib.pop("rx", None)
            child.attrib.pop("ry", None)
            child.set("class", "mark")
            ElementTree.SubElement(child, "title").text = label or ""
