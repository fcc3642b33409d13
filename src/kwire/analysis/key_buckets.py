"""Division of sums by key, so that each part can be finished independently.

Facts about a program come from all connections with its client id and principal, and with its address if the id is a library's default
(`kwire.analysis.client_groups`). A client key includes these and the software (`kwire.tables.client_keys`). So all rows with the same
folded client id, principal and such an address belong together, even with several client keys. Steps of groups belong together by group.
The other tables are small: servers, nodes, topic names, captures.

Buckets are numbered by the first bits of a hash, so a bucket of a coarse division consists of neighboring buckets of a finer one.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, flat
from kwire.analysis.partials import Partial
from kwire.analysis.row_sums import codes_of
from kwire.tables.client_keys import fold_client_id, is_default_client_id

__all__ = ["BY_CLIENT", "BY_GROUP", "WHOLE", "bucket_of", "divided", "whole_of"]

BY_CLIENT: Final = (
    "usage", "error_names", "latency", "identities", "refusals", "sources", "openings", "topic_use", "topic_marks", "group_use", "hourly",
    "hourly_latency",
)  # fmt: skip
"""Tables of a partial with client keys."""

BY_GROUP: Final = ("group_steps",)

WHOLE: Final = ("advertised", "members", "nodes", "servers", "streams", "topic_names", "captures")
"""Tables that every bucket may need; they are small even for large inputs."""

_HASH_BITS: Final = 32


def whole_of(partial: Partial) -> Partial:
    return {name: partial[name] for name in WHOLE}


def divided(partial: Partial, bits: int) -> list[Partial]:
    """Divide the other tables into ``1 << bits`` buckets; each has only its non-empty tables."""
    found: list[Partial] = [{} for _ in range(1 << bits)]
    for name, hashes in _hashes(partial).items():
        table = partial[name]
        buckets = hashes >> (_HASH_BITS - bits)
        order = np.argsort(buckets, kind="stable")
        at: Any = pa.array(order)
        in_order = table.take(at).combine_chunks()
        ends = np.cumsum(np.bincount(buckets, minlength=len(found)))
        for bucket, end in enumerate(ends.tolist()):
            start = int(ends[bucket - 1]) if bucket else 0
            if end > start:
                found[bucket][name] = in_order.slice(start, end - start)
    return found


def bucket_of(partial: Partial, bits: int, bucket: int) -> Partial:
    if not bits:
        return partial
    found: Partial = {}
    for name, hashes in _hashes(partial).items():
        mine = partial[name].filter(pa.array(hashes >> (_HASH_BITS - bits) == bucket))
        if len(mine):
            found[name] = mine
    return found


def _hashes(partial: Partial) -> dict[str, Ints]:
    held = {name for name, table in partial.items() if len(table)}
    found = {name: _of_texts(partial[name].column("group_id")) for name in BY_GROUP if name in held}
    of_clients = [name for name in BY_CLIENT if name in held]
    if of_clients:
        keys, hashes = _of_programs(partial["identities"])
        for name in of_clients:
            at: Any = pc.index_in(partial[name].column("client_key"), value_set=keys)
            found[name] = hashes[at.combine_chunks().fill_null(len(hashes) - 1).to_numpy()]
    return found


def _of_programs(identities: pa.Table) -> tuple[Any, Ints]:
    """Return the client keys with their hashes, and one more hash for keys without a connection."""
    keys = flat(identities, "client_key")
    _, first = codes_of(keys)
    at: Any = pa.array(first)
    columns = (identities.column(name).take(at).to_pylist() for name in ("client_id", "principal", "address"))
    hashes = [_hash_of(*program) for program in zip(*columns, strict=True)]
    return keys.take(at), np.array([*hashes, 0], np.int64)


def _hash_of(client_id: str | None, principal: str | None, address: str | None) -> int:
    parts = (fold_client_id(client_id) if client_id else "", principal or "", (address or "") if is_default_client_id(client_id) else "")
    return zlib.crc32("\0".join(parts).encode("utf-8", "surrogateescape"))


def _of_texts(column: Any) -> Ints:
    codes = column.combine_chunks().dictionary_encode(null_encoding="encode")
    hashes = [zlib.crc32((text or "").encode("utf-8", "surrogateescape")) for text in codes.dictionary.to_pylist()]
    found: Ints = np.array(hashes, np.int64)[codes.indices.to_numpy()]
    return found
