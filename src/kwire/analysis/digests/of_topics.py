"""Topics in a digest: amounts, clients, and number of breaking clients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from kwire.analysis.digests.tables import Digest, shaped
from kwire.analysis.row_sums import codes_of

__all__ = ["named_topics", "of_topics"]

pc: Any = pyarrow.compute  # its stubs know neither numbers nor texts as arguments

_LARGE_BATCH = 1 << 20
_TOO_LARGE = ("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE")
_REJECTED, _UNDETERMINED = 3, 2


def named_topics(access: pa.Table) -> tuple[Any, Any]:
    """Return topic and topic id of each row; the id is used only if the name is unknown, and both are empty if neither is known."""
    has_name: Any = pc.not_equal(pc.fill_null(access.column("topic"), ""), pa.scalar(""))
    nothing = pa.scalar(None, pa.string())
    return pc.if_else(has_name, access.column("topic"), nothing), pc.if_else(has_name, nothing, pc.fill_null(access.column("topic_id"), ""))


def of_topics(access: pa.Table, judged: tuple[Any, Any]) -> Digest:
    """Digest `topic_access`; `judged` has client keys, and the worst verdict of each."""
    access = access.combine_chunks()
    topic, topic_id = named_topics(access)
    written: Any = pc.fill_null(pc.equal(access.column("direction"), pa.scalar("produce")), False)
    read = pc.invert(written)
    nothing = pa.scalar(None, pa.int64())
    one = pa.scalar(1, pa.int64())
    sums = shaped(
        "topics",
        topic=topic,
        topic_id=topic_id,
        records_written=pc.if_else(written, access.column("records"), nothing),
        bytes_written=pc.if_else(written, access.column("bytes"), nothing),
        records_read=pc.if_else(read, access.column("records"), nothing),
        writing_rows=pc.if_else(written, one, 0),
        reading_rows=pc.if_else(read, one, 0),
        **_sides(access, topic, topic_id, written, judged),
    )
    return {
        "topics": sums,
        "topic_formats": _formats(access.filter(written), topic.filter(written), topic_id.filter(written)),
        "topics_of_clients": shaped("topics_of_clients", access, topic=topic, topic_id=topic_id),
        "oversized": _oversized(access.filter(written)),
    }


def _sides(access: pa.Table, topic: Any, topic_id: Any, written: Any, judged: tuple[Any, Any]) -> dict[str, Any]:
    """Return columns with 1 in the first row of each client per topic and direction, by role (writer or reader) and verdict."""
    numbers, first = codes_of(*(_flat(column) for column in (topic, topic_id, written, access.column("client_key"))))
    is_first = np.zeros(len(numbers), np.bool_)
    is_first[first] = True
    at: Any = pc.fill_null(pc.index_in(access.column("client_key"), value_set=judged[0]), -1).to_numpy().astype(np.int64)
    worst = np.where(at < 0, -1, judged[1][at]) if len(judged[1]) else np.full(len(at), -1)
    is_written = np.asarray(_flat(written).to_numpy(zero_copy_only=False), np.bool_)
    found = {}
    for name, mine in (("writers", is_written), ("readers", ~is_written)):
        for what, chosen in (("", True), ("_break", worst == _REJECTED), ("_unknown", worst == _UNDETERMINED)):
            found[f"{name}{what}"] = pa.array((is_first & mine & chosen).astype(np.int64))
    return found


def _flat(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _formats(written: pa.Table, topic: Any, topic_id: Any) -> pa.Table:
    pieces = []
    codecs: Any = _flat(written.column("compression"))
    parents = pc.list_parent_indices(codecs)
    codec: Any = pc.list_flatten(codecs)
    named = pc.if_else(pc.equal(codec, pa.scalar("none")), pa.scalar("uncompressed"), codec)
    pieces.append(shaped("topic_formats", topic=topic.take(parents), topic_id=topic_id.take(parents), format=named))
    formats: Any = _flat(written.column("magic"))
    parents, magic = pc.list_parent_indices(formats), pc.list_flatten(formats)
    old = pc.less(magic, pa.scalar(2))
    name: Any = pc.binary_join_element_wise(pa.scalar("message format v"), magic.cast(pa.string()), pa.scalar(""))
    pieces.append(shaped("topic_formats", topic=topic.take(parents), topic_id=topic_id.take(parents), format=name).filter(old))
    return pa.concat_tables(pieces)


def _oversized(written: pa.Table) -> pa.Table:
    """Return producers whose largest batch reached the brokers' default limit, or was rejected for its size."""
    names: Any = _flat(written.column("error_names"))
    refused = np.zeros(len(written), np.bool_)
    too_large: Any = pc.is_in(pc.list_flatten(names), value_set=pa.array(_TOO_LARGE))
    refused[pc.list_parent_indices(names).filter(too_large).to_numpy()] = True
    large: Any = pc.greater_equal(pc.fill_null(written.column("max_batch_bytes"), 0), pa.scalar(_LARGE_BATCH))
    return shaped("oversized", written.filter(pa.array(refused | large.to_numpy(zero_copy_only=False).astype(np.bool_))))
