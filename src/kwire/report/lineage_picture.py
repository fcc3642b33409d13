"""The busiest topics with their writers and readers as a picture: where the boxes stand and how the bands between them run.

Three columns: who writes, topics, who reads. A band is as wide as the square root of its records, so that a small flow beside a big one
is still seen. The table of topics has all of them, in words.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kwire.report.amounts import plural
from kwire.report.lineage import Topic, TopicUse

__all__ = ["CLIENTS_DRAWN", "TOPICS_DRAWN", "Band", "Box", "LineagePicture", "draw_lineage"]

TOPICS_DRAWN: Final = 12
CLIENTS_DRAWN: Final = 14
"""Clients on either side that have a box of their own; the rest share one."""

WIDTH: Final = 1000
_TOP: Final = 34
_OTHERS: Final = " other clients"
_LEAST_BOX, _GAP, _WIDEST_BAND = 18.0, 9.0, 16.0
# left edge and width of each column's boxes; names of clients stand outside of theirs
_COLUMNS: Final = {"writer": (220.0, 8.0), "topic": (405.0, 190.0), "reader": (772.0, 8.0)}

Side = Literal["writer", "topic", "reader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A client or a topic; `text_x` and `anchor` say where its name stands, `note` what it does in all."""

    side: Side
    name: str
    x: float
    y: float
    width: float
    height: float
    text_x: float
    anchor: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A flow of records, drawn as the SVG path `path` with a stroke of `width`."""

    side: Side
    path: str
    width: float
    source: str
    target: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LineagePicture:
    """Boxes over bands, in units of which the picture is `width` wide and `height` high."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    bands: tuple[Band, ...]
    topics: int


_Flows = dict[tuple[str, str], int]  # (client, topic) -> records


def draw_lineage(topics: tuple[Topic, ...]) -> LineagePicture | None:
    """Lay out the busiest topics; None where there is none."""
    drawn = topics[:TOPICS_DRAWN]
    if not drawn:
        return None
    place = {topic.name: number for number, topic in enumerate(drawn)}
    flows: dict[Side, _Flows] = {
        "writer": _flows(drawn, lambda topic: topic.writers),
        "reader": _flows(drawn, lambda topic: topic.readers),
    }
    most = max((records for of_side in flows.values() for records in of_side.values()), default=0)
    heights = _heights(flows, most)
    columns: dict[Side, list[str]] = {
        "writer": _ordered(flows["writer"], place),
        "topic": list(place),
        "reader": _ordered(flows["reader"], place),
    }
    tall = {side: sum(max(_LEAST_BOX, heights[side, name]) + _GAP for name in names) for side, names in columns.items()}
    height = max(tall.values())
    notes = _client_notes(flows)
    notes.update({("topic", topic.name): _note(topic) for topic in drawn})
    boxes: list[Box] = []
    for side, names in columns.items():
        y = _TOP + (height - tall[side]) / 2
        for name in names:
            boxes.append(_box(side, name, y, max(_LEAST_BOX, heights[side, name]), notes[side, name]))
            y += boxes[-1].height + _GAP
    tops = {(box.side, box.name): box.y for box in boxes}
    bands = tuple(band for side, of_side in flows.items() for band in _bands(side, of_side, columns, tops, heights, most))
    return LineagePicture(width=WIDTH, height=math.ceil(height + _TOP), boxes=tuple(boxes), bands=bands, topics=len(drawn))


def _heights(flows: Mapping[Side, _Flows], most: int) -> dict[tuple[Side, str], float]:
    """How much room the bands of each box take; those of a topic stand on both of its sides."""
    heights: dict[tuple[Side, str], float] = defaultdict(float)
    for side, of_side in flows.items():
        through: dict[str, float] = defaultdict(float)
        for (client, topic), records in of_side.items():
            heights[side, client] += _wide(records, most)
            through[topic] += _wide(records, most)
        for topic, wide in through.items():
            heights["topic", topic] = max(heights["topic", topic], wide)
    return heights


def _client_notes(flows: Mapping[Side, _Flows]) -> dict[tuple[Side, str], str]:
    sums: dict[tuple[Side, str], int] = defaultdict(int)
    for side, of_side in flows.items():
        for (client, _), records in of_side.items():
            sums[side, client] += records
    return {box: plural(records, "record") for box, records in sums.items()}


def _flows(topics: Iterable[Topic], uses: Callable[[Topic], Iterable[TopicUse]]) -> _Flows:
    """Records by client and topic; clients beyond the busiest ones count as one."""
    found: _Flows = defaultdict(int)
    for topic in topics:
        for use in uses(topic):
            found[use.client, topic.name] += use.records or 0
    sums: dict[str, int] = defaultdict(int)
    for (client, _), records in found.items():
        sums[client] += records
    ranked = sorted(sums, key=lambda client: (-sums[client], client))
    # one client too many still has room: "1 other client" would say less than its name
    kept = ranked if len(ranked) <= CLIENTS_DRAWN + 1 else ranked[:CLIENTS_DRAWN]
    others = f"{len(ranked) - len(kept):,}{_OTHERS}"
    merged: _Flows = defaultdict(int)
    for (client, name), records in found.items():
        merged[client if client in kept else others, name] += records
    return merged


def _wide(records: int, most: int) -> float:
    return max(1.5, _WIDEST_BAND * math.sqrt(records / most)) if most else 1.5


def _ordered(flows: _Flows, place: Mapping[str, int]) -> list[str]:
    """Clients in the order of their topics' middle, which keeps bands from crossing; the one that stands for others comes last."""
    topics: dict[str, list[int]] = defaultdict(list)
    for client, topic in flows:
        topics[client].append(place[topic])
    return sorted(topics, key=lambda client: (client.endswith(_OTHERS), sum(topics[client]) / len(topics[client]), client))


def _note(topic: Topic) -> str:
    written, read = topic.records_written, topic.records_read
    seen = "records not seen" if written is None else f"{plural(written, 'record')} written"
    return f"{seen}, {'not seen' if read is None else f'{read:,}'} read"


def _box(side: Side, name: str, y: float, height: float, note: str) -> Box:
    x, width = _COLUMNS[side]
    text_x, anchor = {"writer": (x - 7, "end"), "topic": (x + width / 2, "middle"), "reader": (x + width + 7, "start")}[side]
    return Box(side=side, name=name, x=x, y=y, width=width, height=height, text_x=text_x, anchor=anchor, note=note)


def _bands(
    side: Side, flows: _Flows, columns: Mapping[Side, list[str]], tops: Mapping[tuple[Side, str], float],
    heights: Mapping[tuple[Side, str], float], most: int,
) -> Iterable[Band]:  # fmt: skip
    """Bands leave and reach their boxes one below the other, in the order of what is at their other end."""
    at_client = {client: _start(tops[side, client], heights[side, client]) for client in columns[side]}
    through: dict[str, float] = defaultdict(float)
    for (_, topic), records in flows.items():
        through[topic] += _wide(records, most)
    at_topic = {topic: tops["topic", topic] + (max(_LEAST_BOX, heights["topic", topic]) - wide) / 2 for topic, wide in through.items()}
    client_x = _COLUMNS[side][0] + (_COLUMNS[side][1] if side == "writer" else 0)
    topic_x = _COLUMNS["topic"][0] + (0 if side == "writer" else _COLUMNS["topic"][1])
    ends: dict[tuple[str, str], tuple[float, float]] = {}
    for client, topic in sorted(flows, key=lambda flow: (columns["topic"].index(flow[1]), columns[side].index(flow[0]))):
        wide = _wide(flows[client, topic], most)
        ends[client, topic] = at_client[client] + wide / 2, at_topic[topic] + wide / 2
        at_client[client] += wide
        at_topic[topic] += wide
    middle = (client_x + topic_x) / 2
    for (client, topic), (client_y, topic_y) in ends.items():
        path = f"M{client_x:g} {client_y:.1f}C{middle:g} {client_y:.1f} {middle:g} {topic_y:.1f} {topic_x:g} {topic_y:.1f}"
        source, target = (client, topic) if side == "writer" else (topic, client)
        records = flows[client, topic]
        yield Band(side=side, path=path, width=round(_wide(records, most), 1), source=source, target=target, records=records)


def _start(top: float, height: float) -> float:
    return top + (max(_LEAST_BOX, height) - height) / 2
