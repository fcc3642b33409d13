"""Offsets of a stream in Spark's checkpoint (kwire.spark.source.stream_offsets)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwire.errors import InputError
from kwire.spark.source.stream_offsets import LastFile, LogPlace, Piece, SeriesOffset, StreamOffset

ASKED = {"table": "requests", "logZone": ""}
SERIES = SeriesOffset(
    done=frozenset({"b", "a"}), last=LastFile("x.pcap", 3, "m", None, 5), log=LogPlace("x.log", 2, "n", 7),
    again=((Piece("x.log", "log", stop=4),),), read=(Piece("y.pcap", "capture"),), over=True,
)  # fmt: skip


def test_an_offset_comes_back_from_its_json() -> None:
    offset = StreamOffset("stream", ASKED, 3, {"x": SERIES})
    stored = json.dumps(offset.to_json())
    assert json.loads(stored)["series"]["x"]["done"] == ["a", "b"]  # equal offsets are equal texts
    assert StreamOffset.from_json(json.loads(stored), ASKED) == offset


@pytest.mark.parametrize("other", [{"v": 0}, {"batch": "3"}, {"series": {"x": {"read": [{"location": 1}]}}}, {"stream": None}])
def test_what_is_no_offset_is_refused(other: dict[str, Any]) -> None:
    stored = StreamOffset("stream", ASKED, 3, {"x": SERIES}).to_json() | other
    with pytest.raises(InputError, match="this version of kwire cannot read the checkpoint's offset; start with a new checkpoint"):
        StreamOffset.from_json(stored, ASKED)


def test_a_query_with_other_options_is_refused() -> None:
    stored = StreamOffset("stream", ASKED).to_json()
    with pytest.raises(InputError, match="with logZone=left out, but it is Europe/Berlin now"):
        StreamOffset.from_json(stored, ASKED | {"logZone": "Europe/Berlin"})
