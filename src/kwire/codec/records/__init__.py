"""Reading and writing of record batches of magic 0, 1 and 2, as objects and as columns. Submodules are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.codec._pure.records import Record
    from kwire.codec.records.batch import RecordBatches, StoredBatch
    from kwire.codec.records.compression import MAX_DECOMPRESSED, UNPACKED_BYTES, UNPACKED_MULTIPLE
    from kwire.codec.records.control import Control, control_record, read_control
    from kwire.codec.records.drafts import RecordBatch
    from kwire.codec.records.reading import MEMORY_MULTIPLE, RecordReader, decode, record_reader, scan, to_arrow
    from kwire.codec.records.writing import RecordWriter, encode, record_writer

__all__ = [
    "MAX_DECOMPRESSED", "MEMORY_MULTIPLE", "UNPACKED_BYTES", "UNPACKED_MULTIPLE", "Control", "Record", "RecordBatch", "RecordBatches",
    "RecordReader", "RecordWriter", "StoredBatch", "control_record", "decode", "encode", "read_control", "record_reader", "record_writer",
    "scan", "to_arrow",
]  # fmt: skip

if not TYPE_CHECKING:
    _find = lazy_getattr(
        globals(),
        batch="RecordBatches StoredBatch",
        compression="MAX_DECOMPRESSED UNPACKED_BYTES UNPACKED_MULTIPLE",
        control="Control control_record read_control",
        drafts="RecordBatch",
        reading="MEMORY_MULTIPLE RecordReader decode record_reader scan to_arrow",
        writing="RecordWriter encode record_writer",
    )

    def __getattr__(name):
        if name == "Record":  # the class of the twin that runs
            return globals().setdefault(name, _find("record_reader")().Record)
        return _find(name)
