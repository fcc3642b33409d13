"""Values above an exploded array are repeated in every row: what their copies may take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from kwire.codec.catalog_codec import Codec
from kwire.codec.column_explosion import sizes_of_rows
from kwire.codec.columns import MEMORY_MULTIPLE, REPEATED_BYTES
from kwire.errors import LimitExceeded
from kwire.schema import catalog

FIELDS = ("leader", "members.member_id")


@pytest.fixture(params=["native", "pure"])
def twin_codec(request):
    return Codec(catalog(), request.param)


def joined(leader: int, members: int) -> bytes:
    """JoinGroupResponse v0: error, generation, protocol "p", leader's id of so many letters, member id "", members "m" without metadata."""
    size = leader.to_bytes(2, "big")
    return b"\0\0" + b"\0\0\0\1" + b"\0\1p" + size + b"l" * leader + b"\0\0" + members.to_bytes(4, "big") + members * b"\0\1m\0\0\0\0"


def test_a_long_text_over_a_long_array_is_refused_before_it_is_repeated(twin_codec):
    bomb = joined(30_000, 20_000)  # 170 KB, which would become 600 MB
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceeded) as caught:
            twin_codec.to_arrow("JoinGroupResponse", [joined(1, 1), bomb], 0, FIELDS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert f"more than {REPEATED_BYTES} bytes" in str(caught.value)
    assert caught.value.index == 1
    assert peak < REPEATED_BYTES


def test_with_errors_in_a_column_only_what_does_not_fit_is_refused(twin_codec):
    """A row repeats `message_index`, 4 bytes, and the leader's id with its offset, 4 + 100 bytes: 10 members take 1,080 bytes."""
    messages = [joined(100, 10), joined(100, 13), b"", joined(100, 10), joined(100, 1)]
    made = twin_codec.to_arrow("JoinGroupResponse", messages, 0, FIELDS, errors="column", max_repeated=2400)
    rows = made.to_pylist()
    assert [row["message_index"] for row in rows] == [0] * 10 + [1] + [2] + [3] * 10 + [4]
    assert [(row["message_index"], row["error"], row["error_offset"], row["error_path"]) for row in rows if row["error"]] == [
        (1, "LIMIT_EXCEEDED", 0, ""),
        (2, "TRUNCATED", 0, "error_code"),
    ]
    assert rows[10]["leader"] is rows[10]["members.member_id"] is None
    assert {row["leader"] for row in rows if not row["error"]} == {"l" * 100}
    same = twin_codec.to_arrow("JoinGroupResponse", pa.array(messages), 0, FIELDS, errors="column", max_repeated=2400)
    assert same.equals(made)


def test_the_limit_is_exact(twin_codec):
    for limit, fits in ((1080, True), (1079, False)):
        if fits:
            assert twin_codec.to_arrow("JoinGroupResponse", [joined(100, 10)], 0, FIELDS, max_repeated=limit).num_rows == 10
        else:
            with pytest.raises(LimitExceeded):
                twin_codec.to_arrow("JoinGroupResponse", [joined(100, 10)], 0, FIELDS, max_repeated=limit)


def test_large_input_may_repeat_more_than_the_least_limit(twin_codec):
    """7 bytes of a member become 4 + 4 + 300: 44 for each byte of input."""
    messages = [joined(300, 10_000)] * 25
    assert REPEATED_BYTES < 308 * 10_000 * 25 < MEMORY_MULTIPLE * sum(map(len, messages))
    assert twin_codec.to_arrow("JoinGroupResponse", messages, 0, FIELDS).num_rows == 250_000


def test_nothing_is_limited_where_nothing_is_repeated(twin_codec):
    made = twin_codec.to_arrow("JoinGroupResponse", [joined(30_000, 20_000)], 0, FIELDS, explode=False, max_repeated=0)
    assert len(made.column("members")[0]) == 20_000
    assert twin_codec.to_arrow("JoinGroupResponse", [joined(30_000, 20)], 0, ("leader", "generation_id"), max_repeated=0).num_rows == 1


@pytest.mark.parametrize(
    ("array", "sizes"),
    [
        (pa.array([1, None], pa.int32()), [4, 4]),
        (pa.array([True, False]), [1, 1]),
        (pa.array([1.0]), [8]),
        (pa.array(["", "abc", None]), [4, 7, 4]),
        (pa.array([b"abc"]), [7]),
        (pa.array([[1, 2], [], None], pa.list_(pa.int16())), [8, 4, 4]),
        (pa.array([["a", "bc"], ["d"]]), [15, 9]),
        (pa.array([[{"a": 1, "b": "x"}], []], pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())]))), [17, 4]),
        (pa.array(["a", "bb", "ccc", "dddd"]).slice(1, 2), [6, 7]),
        (pa.array([["a"], ["bb", "c"]]).slice(1), [15]),
        (pa.array([], pa.string()), []),
    ],
)
def test_sizes_of_rows(array, sizes):
    found = sizes_of_rows(array)
    assert found.dtype == np.int64
    assert found.tolist() == sizes
