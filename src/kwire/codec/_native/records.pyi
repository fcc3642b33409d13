from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from kwire.codec.records.places import Flaw

Header = TypeVar("Header", bound=BatchHeader)

class Record:
    offset: int
    timestamp: int
    sequence: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    __hash__: None  # type: ignore[assignment]

    def __init__(
        self,
        offset: int = -1,
        timestamp: int = -1,
        sequence: int = -1,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

class BatchHeader:
    data: Any
    index: int
    flaw: Flaw | None
    position: int
    size: int
    payload_start: int
    payload_end: int
    magic: int
    crc: int
    attributes: int
    stored_offset: int
    stored_count: int
    last_offset_delta: int
    partition_leader_epoch: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int

def crc32c(data: Any) -> int: ...
def crc32c_by_tables(data: Any) -> int: ...
def read_records(
    header: BatchHeader, data: Any, start: int, end: int, check_crc: bool, strict: bool
) -> tuple[list[Record], Flaw | None]: ...
def scan(data: Any, kind: type[Header], check_crc: bool, strict: bool) -> tuple[list[Header], int, Flaw | None]: ...
def write_batch(
    records: list[Any],
    base_offset: int | None,
    partition_leader_epoch: int,
    attributes: int,
    last_offset: int | None,
    base_timestamp: int | None,
    max_timestamp: int | None,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    pack: Callable[[bytes], bytes] | None,
) -> bytes | None: ...
def write_messages(
    records: list[Any], magic: int, attributes: int, base_offset: int | None, relative: bool
) -> tuple[bytes, int, int] | None: ...
