"""Topics with their writers and readers, and the picture of them, worked out by hand from a few rows."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.lineage import ClientTopics, Topic, read_lineage, topics_by_client
from kwire.report.lineage_picture import CLIENTS_DRAWN, TOPICS_DRAWN, WIDTH, draw_lineage


@pytest.fixture
def topics_of(tmp_path: Path, analysis_tables: ModuleType) -> Any:
    def make(rows: list[dict[str, Any]]) -> tuple[Topic, ...]:
        return read_lineage(AnalysisFolder(analysis_tables.write_tables(tmp_path / "out", {"topic_access": rows})))

    return make


def access(client: str, topic: str | None, direction: str, records: int, **more: Any) -> dict[str, Any]:
    whole = {"client_key": f"key-{client}", "client_id": client, "topic": topic, "direction": direction, "records": records}
    return {**whole, "bytes": records * 10, **more}


ROWS = [
    access("writer", "orders", "produce", 5, compression=["zstd", "none"], magic=[1, 2]),
    access("other", "orders", "produce", 9),
    access("reader", "orders", "fetch", 7, group_ids=["g", "h"]),
    access("reader", "quiet", "fetch", 0, group_ids=["h"]),
    access("", None, "fetch", 1, topic_id="AAAAAAAAAAAAAAAAAAAAAQ"),
]


def test_a_topic_has_its_writers_and_readers_the_busiest_first(topics_of: Any) -> None:
    orders, nameless, quiet = topics_of(ROWS)
    assert (orders.name, orders.records_written, orders.bytes_written, orders.records_read) == ("orders", 14, 140, 7)
    assert [use.client for use in orders.writers] == ["other", "writer"]
    assert [(use.client, use.groups) for use in orders.readers] == [("reader", ("g", "h"))]
    assert orders.formats == ("message format v1", "uncompressed", "zstd")
    assert (nameless.name, nameless.resolved, nameless.readers[0].client) == ("id AAAAAAAAAAAAAAAAAAAAAQ", False, "without a name")
    assert (quiet.name, quiet.writers, quiet.resolved) == ("quiet", (), True)


def test_a_client_has_its_topics_and_groups_each_once(topics_of: Any) -> None:
    found = topics_by_client(topics_of(ROWS))
    assert found["key-reader"] == ClientTopics(reads=("orders", "quiet"), groups=("g", "h"))
    assert found["key-writer"] == ClientTopics(writes=("orders",))


def test_the_picture_has_a_box_for_everyone_and_a_band_for_every_use(topics_of: Any) -> None:
    picture = draw_lineage(topics_of(ROWS))
    assert picture is not None
    assert {(box.side, box.name) for box in picture.boxes} == {
        ("writer", "writer"), ("writer", "other"), ("topic", "orders"), ("topic", "quiet"), ("topic", "id AAAAAAAAAAAAAAAAAAAAAQ"),
        ("reader", "reader"), ("reader", "without a name"),
    }  # fmt: skip
    assert {(band.source, band.target, band.records) for band in picture.bands} == {
        ("writer", "orders", 5), ("other", "orders", 9), ("orders", "reader", 7), ("quiet", "reader", 0),
        ("id AAAAAAAAAAAAAAAAAAAAAQ", "without a name", 1),
    }  # fmt: skip


def test_nothing_in_the_picture_overlaps_or_leaves_it(topics_of: Any) -> None:
    rows = [access(f"c{n % 9}", f"t{n % 7}", ("produce", "fetch")[n % 2], n * n) for n in range(60)]
    picture = draw_lineage(topics_of(rows))
    assert picture is not None
    for side in ("writer", "topic", "reader"):
        column = sorted((box for box in picture.boxes if box.side == side), key=lambda box: box.y)
        assert all(above.y + above.height < below.y for above, below in pairwise(column))
        assert column[0].y >= 0
        assert column[-1].y + column[-1].height <= picture.height
    by_name = {(box.side, box.name): box for box in picture.boxes}
    for band in picture.bands:
        numbers = [float(text) for text in re.findall(r"-?[\d.]+", band.path)]
        client, topic = (band.source, band.target) if band.side == "writer" else (band.target, band.source)
        for name, x, y in ((("topic", topic), numbers[-2], numbers[-1]), ((band.side, client), numbers[0], numbers[1])):
            box = by_name[name]  # type: ignore[index]
            assert box.y - 0.1 <= y - band.width / 2
            assert y + band.width / 2 <= box.y + box.height + 0.1
            assert 0 < x < WIDTH
            assert min(abs(x - box.x), abs(x - box.x - box.width)) < 0.1


def test_a_large_fleet_is_drawn_in_part(topics_of: Any) -> None:
    rows = [access(f"c{n:03}", f"t{n % 40}", "produce", 1000 - n) for n in range(400)]
    topics = topics_of(rows)
    picture = draw_lineage(topics)
    assert picture is not None
    writers = [box.name for box in picture.boxes if box.side == "writer"]
    assert len(writers) == CLIENTS_DRAWN + 1
    assert writers[-1] == f"{TOPICS_DRAWN * 10 - CLIENTS_DRAWN} other clients"  # ten clients a topic
    assert sum(band.records for band in picture.bands) == sum(topic.records_written for topic in topics[:TOPICS_DRAWN])


def test_without_topics_there_is_no_picture() -> None:
    assert draw_lineage(()) is None
