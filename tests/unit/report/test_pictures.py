"""Charts and what they show: values, titles and order, by hand; nothing in the SVG that the page's content policy would block."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from xml.etree import ElementTree

import pytest

from kwire.report.burn_down import HistoryPoint, judged_for
from kwire.report.charts import NARROW, WIDE, Dot, Series, draw_columns, draw_dots, draw_rows, draw_strip
from kwire.report.fleet import Fleet, FleetGroup
from kwire.report.pictures import breaks_per_version, burn_down, library_age, traffic_strips
from kwire.report.traffic_times import TrafficTimes

TWO = [Series("breaks", (2.0, 0.0), ("two break", "none")), Series("compatible", (6.0, None), ("six work", ""))]


def marks(svg: str) -> list[tuple[str, str]]:
    """Class of the series and title of each mark, in their order."""
    root = ElementTree.fromstring(svg)
    series = [group for group in root.iter("g") if group.get("class", "").startswith("series ")]
    return [
        (one.get("class", "")[7:], mark.findtext("title") or "") for one in series for mark in one.iter() if mark.get("class") == "mark"
    ]


def heights(svg: str, size: str = "height") -> list[float]:
    return [float(mark.get(size, 0)) for mark in ElementTree.fromstring(svg).iter("rect") if mark.get("class") == "mark"]


def test_a_value_is_a_mark_with_a_title_and_nothing_is_no_mark() -> None:
    svg = draw_columns(["4.0", "4.1"], TWO, width=300, height=200, about="what it shows")
    assert marks(svg) == [("breaks", "two break"), ("compatible", "six work")]
    low, high = heights(svg)
    assert abs(high / low - 3) < 0.02
    assert ElementTree.fromstring(svg).get("aria-label") == "what it shows"


def test_every_text_comes_out_unchanged_and_lengths_are_rounded() -> None:
    """Versions, addresses and names that look like decimals with many digits."""
    names = ["0.10.0", "v1.50.3", "10.20.30.41", "1.23456789", "0"]
    one = [Series("compatible", (1.0, 2.0, 3.0, 4.0, 5.0), tuple(names))]
    dots = [Dot(0.123456, row, 5.123456, "compatible", name) for row, name in enumerate(names)]
    for name in names:
        charts = (
            draw_columns(names, one, width=900, height=200, about=name),
            draw_rows(names, one, width=900, about=name),
            draw_dots(names, dots, width=900, about=name),
            draw_strip(one, about=name),
        )
        for svg in charts:
            root = ElementTree.fromstring(svg)
            assert root.get("aria-label") == name
            assert {title for _, title in marks(svg)} == set(names)
            if svg is not charts[-1]:
                assert {text.text for text in root.iter("text")} >= set(names)
            assert not [value for node in root.iter() for key, value in node.items() if key != "aria-label" and re.search(r"\.\d\d", value)]


def test_rows_begin_at_the_top() -> None:
    svg = draw_rows(["first", "second"], [Series("compatible", (3.0, 1.0), ("three", "one"))], width=600, about="")
    tops = {
        mark.findtext("title"): float(mark.get("y", 0)) for mark in ElementTree.fromstring(svg).iter("rect") if mark.get("class") == "mark"
    }
    assert tops["three"] < tops["one"]


def test_dots_stand_on_their_row() -> None:
    svg = draw_dots(["a", "b"], [Dot(0, 0, 5, "compatible", "left top"), Dot(1, 1, 9, "breaks", "right bottom")], width=600, about="")
    (left, right) = (mark for mark in ElementTree.fromstring(svg).iter("circle"))
    assert float(left.get("cx", 0)) < float(right.get("cx", 0))
    assert float(left.get("cy", 0)) < float(right.get("cy", 0))
    assert (left.get("r"), right.get("r")) == ("5", "9")


def test_nothing_in_a_chart_needs_a_style_or_a_script_of_its_own() -> None:
    bad = '"><script>alert(1)</script>'
    charts = [
        draw_columns([bad], [Series("compatible", (1.0,), (bad,))], width=300, height=100, about=bad),
        draw_dots([bad], [Dot(0.5, 0, 5, "compatible", bad)], width=300, about=bad),
        draw_strip([Series("compatible", (1.0, 2.0), (bad, bad))], about=bad),
    ]
    for svg in charts:
        tags = {one.tag for one in ElementTree.fromstring(svg).iter()}
        assert tags <= {"svg", "g", "path", "rect", "circle", "text", "title"}
        assert not re.search(r"\s(?:style|on\w+|href|id)=", svg)
        assert "pygal" not in svg


def group(library: str, version: str, *verdicts: str, kind: str = "application") -> FleetGroup:
    """Clients with these verdicts on 3.9.2 and 4.0.2, or on the latter alone."""
    by_release = dict(zip(("3.9.2", "4.0.2")[-len(verdicts) :], verdicts, strict=True))
    return FleetGroup(
        kind=kind, role="client", library=library, version=version, guessed=False, identity_source="api_versions", verdicts=by_release,
        clients=1, connections=1, requests=1, errors=0,
    )  # fmt: skip


def test_applications_are_counted_at_each_version_and_others_are_not() -> None:
    groups = (
        group("lib", "1", "deprecated", "breaks"),
        group("lib", "1", "compatible", "compatible"),
        group("lib", "1", "compatible", "breaks", kind="cluster"),
    )
    picture = breaks_per_version(Fleet(targets=("3.9.2", "4.0.2"), groups=groups), [["3.9.2"], ["4.0.2"]], {"3.9.2": "3.9", "4.0.2": "4.0"})
    assert picture is not None
    assert (
        marks(picture.wide)
        == marks(picture.narrow)
        == [
            ("breaks", "Kafka 4.0, breaks: 1 application"),
            ("deprecated", "Kafka 3.9, deprecated: 1 application"),
            ("compatible", "Kafka 3.9, compatible: 1 application"),
            ("compatible", "Kafka 4.0, compatible: 1 application"),
        ]
    )
    assert [name for name, _ in picture.legend] == ["breaks", "deprecated", "compatible"]


def test_versions_that_differ_for_no_client_share_a_column() -> None:
    targets = ("3.8.1", "3.9.2", "4.0.2")
    groups = (replace(group("lib", "1", "compatible"), verdicts=dict(zip(targets, ("compatible", "compatible", "breaks"), strict=True))),)
    names = dict(zip(targets, ("3.8", "3.9", "4.0"), strict=True))
    picture = breaks_per_version(Fleet(targets=targets, groups=groups), [targets[:2], targets[2:]], names)
    assert picture is not None
    wanted = [("breaks", "Kafka 4.0, breaks: 1 application"), ("compatible", "Kafka 3.8 to 3.9, compatible: 1 application")]
    assert marks(picture.wide) == marks(picture.narrow) == wanted


def test_libraries_that_break_are_drawn_first_also_behind_many_that_do_not() -> None:
    groups = [group(f"lib{n:02}", "1.0", "compatible") for n in range(40)] + [
        group("zebra", "0.9", "breaks"),
        group("zebra", "1.0", "compatible"),
    ]
    picture = library_age(Fleet(targets=("4.0.2",), groups=tuple(groups)))
    assert picture is not None
    rows = [text.text for text in ElementTree.fromstring(picture.wide).findall(".//g[@class='axis y always_show']//text")]
    assert len(rows) == 16
    assert "zebra" in rows
    assert ("breaks", "zebra 0.9: 1 application, breaks; release date unknown") in marks(picture.wide)


MONTHS = {
    "minor version released 2019-03": 2019 + 2 / 12,
    "minor version released 2021-09": 2021 + 8 / 12,
    "minor version released after 2015-01 and before 2016-05": 2015 + 8 / 12,
}


def test_library_versions_stand_at_their_release_date() -> None:
    """By the public release history: librdkafka 1.0 March 2019, 1.8 September 2021; Kafka 0.8.2 January 2015, 0.10.0 May 2016."""
    versions = [
        ("librdkafka", "1.0.0"), ("confluent-kafka-python", "1.8.2-rdkafka-1.8.2"), ("apache-kafka-java", "after 0.8.2 and before 0.10.0"),
        ("librdkafka", "99.0"), ("mine", "1.0"),
    ]  # fmt: skip
    picture = library_age(Fleet(targets=("4.0.2",), groups=tuple(group(*one, "compatible") for one in versions)))
    assert picture is not None
    for svg in (picture.wide, picture.middle, picture.narrow):
        root = ElementTree.fromstring(svg)
        at = {circle.findtext("title", ""): float(circle.get("cx", 0)) for circle in root.iter("circle")}
        assert {title.partition("; ")[2]: x for title, x in at.items()}.keys() == {*MONTHS, "release date unknown"}
        ticks = {text.text or "": float(text.get("x", 0)) for text in root.findall(".//g[@class='axis x']//text")}
        (low, left), *_, (high, right) = [(int(label), x) for label, x in ticks.items() if label.isdigit()]
        for title, x in at.items():
            year = MONTHS.get(title.partition("; ")[2])
            assert x == pytest.approx(ticks["no date"] if year is None else left + (right - left) * (year - low) / (high - low), abs=0.2)


def test_labels_of_dots_stand_where_they_have_room() -> None:
    dots = [Dot(x, 0, 5, "compatible", str(x), f"version {x}") for x in (0.0, 0.05, 0.5, 0.95, 1.0)]
    texts = {text.text for text in ElementTree.fromstring(draw_dots(["row"], dots, width=600, about="")).iter("text")}
    assert {text for text in texts if text and text.startswith("version")} == {"version 0.0", "version 0.5", "version 1.0"}


def test_latency_is_drawn_as_median_and_what_is_above_it() -> None:
    times = TrafficTimes(
        start=datetime(2026, 9, 8, tzinfo=timezone.utc), step=timedelta(hours=1), requests=(5, 0), errors=(1, 0), p50=(1_000, None),
        p99=(4_000, None), clients={},
    )  # fmt: skip
    requests, errors, latency = traffic_strips(times)
    assert (requests.most, errors.most, latency.most) == ("5 per hour", "1 per hour", "4.0 ms")
    assert marks(requests.svg) == [("plain", "2026-09-08 00:00:00: 5 requests")]
    said = "2026-09-08 00:00:00: median 1.0 ms, 99th percentile 4.0 ms"
    assert marks(latency.svg) == [("median", said), ("tail", said)]
    low, above = heights(latency.svg)
    assert abs(above / low - 3) < 0.05


def test_the_burn_down_wants_two_reports() -> None:
    points = [
        HistoryPoint(until=f"2026-09-{day:02}T10:00:00+00:00", applications=9, breaks=breaks, unknown=0) for day, breaks in ((1, 5), (8, 2))
    ]
    assert burn_down(points[:1]) is None
    picture = burn_down(points)
    assert picture is not None
    assert marks(picture.wide)[:2] == [
        ("breaks", "2026-09-01: 5 of 9 applications break"),
        ("breaks", "2026-09-08: 2 of 9 applications break"),
    ]
    assert judged_for(points) == ""
    moved = [replace(points[0], to="4.1"), replace(points[1], to="redpanda-24.3.1")]
    picture = burn_down(moved)
    assert picture is not None
    assert [said for _, said in marks(picture.wide)[:2]] == [
        "2026-09-01: 5 of 9 applications break on Kafka 4.1",
        "2026-09-08: 2 of 9 applications break on redpanda-24.3.1",
    ]
    assert judged_for(moved) == ", judged for Kafka 4.1, then redpanda-24.3.1"


WITHOUT_SPEEDUPS = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "markupsafe._speedups" else super().find_spec(name, path, target)

import kwire.report.charts
for name in [name for name in sys.modules if name.startswith(("pygal", "markupsafe", "kwire.report.charts"))]:
    del sys.modules[name]  # what of the page was imported first must not matter
sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
import kwire.report.charts
try:
    import nowhere
except ImportError:
    pass
"""


def test_charts_are_imported_without_a_warning_where_an_optional_module_is_not_there() -> None:
    """pygal leaves a finder of an old kind, of which Python 3.11 warns at each module that no other finder finds."""
    command = [sys.executable, "-W", "error::ImportWarning", "-c", WITHOUT_SPEEDUPS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("count", [1, 8, 31])
def test_labels_of_many_columns_are_whole_and_the_newest_is_there(width: int, count: int) -> None:
    """A cluster of 0.10 has 30 target versions by default; text is about 7 pixels a digit wide."""
    labels = [*(f"0.{minor}" for minor in range(8, 12)), *(f"{minor}.0" for minor in range(1, 27)), "27.0"][-count:]
    svg = draw_columns(labels, [Series("breaks", (3.0,) * count, ("three",) * count)], width=width, height=210, about="")
    drawn = [text for text in re.findall(r">([^<>]+)</text>", svg) if "." in text]
    assert drawn == [label for label in labels if label in drawn]
    assert drawn[-1] == labels[-1]
    assert len(drawn) * 4 * 7 <= width
    assert len(drawn) == count or count == 31
