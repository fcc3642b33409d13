"""Record batches of magic 0, 1 and 2: headers, records as objects, records as columns, and batches to be written. A lazy facade."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    from kwire.codec.records.batch import RecordBatches, StoredBatch
    from kwire.codec.records.compression import MAX_DECOMPRESSED
    from kwire.codec.records.control import Control, read_control
    from kwire.codec.records.drafts import RecordBatch
    from kwire.codec.records.reading import MEMORY_MULTIPLE, RecordReader, decode, record_reader, scan, to_arrow
    from kwire.codec.records.writing import RecordWriter, encode, record_writer

    Record: TypeAlias = Any

_HOME = {
    **dict.fromkeys(("RecordBatches", "StoredBatch"), "batch"),
    "MAX_DECOMPRESSED": "compression",
    **dict.fromkeys(("Control", "read_control"), "control"),
    "RecordBatch": "drafts",
    **dict.fromkeys(("MEMORY_MULTIPLE", "RecordReader", "decode", "record_reader", "scan", "to_arrow"), "reading"),
    **dict.fromkeys(("RecordWriter", "encode", "record_writer"), "writing"),
}

__all__ = [
    "MAX_DECOMPRESSED", "MEMORY_MULTIPLE", "Control", "Record", "RecordBatch", "RecordBatches", "RecordReader", "RecordWriter",
    "StoredBatch", "decode", "encode", "read_control", "record_reader", "record_writer", "scan", "to_arrow",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"kwire.codec.records.{_HOME[name]}"), name)
    elif name == "Record":
        value = importlib.import_module("kwire.codec.records.reading").record_reader().Record
    else:
        raise AttributeError(f"module 'kwire.codec.records' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
