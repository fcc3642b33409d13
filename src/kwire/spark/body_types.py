"""Type of a `body` column: Kafka's JSON, or the struct of one message at one version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kwire.codec.arrow_types import spark_ddl
from kwire.codec.binary_chunks import BinaryChunk
from kwire.codec.column_layout import MESSAGE_INDEX
from kwire.codec.columns import arrow_schema, to_arrow
from kwire.errors import InputError
from kwire.schema import catalog
from kwire.spark.reading_options import paths_of

__all__ = ["JSON_BODY", "BodyType", "body_type", "ddl"]


class BodyType(NamedTuple):
    """Type of a `body` column; without a message, it is JSON and the version is -1."""

    message: str | None = None
    version: int = -1
    fields: tuple[str, ...] | None = None

    @property
    def schema(self) -> pa.Schema:
        assert self.message is not None
        return arrow_schema(self.message, self.version, self.fields, explode=False)

    @property
    def rows_schema(self) -> pa.Schema:
        """Type with one row for each element of the arrays in the fields' paths (`kwire.to_arrow`)."""
        assert self.message is not None
        found = arrow_schema(self.message, self.version, self.fields)
        return pa.schema([field for field in found if field.name != MESSAGE_INDEX])

    @property
    def arrow(self) -> Any:
        return pa.string() if self.message is None else pa.struct(list(self.schema))

    @property
    def api_key(self) -> int:
        found = -1 if self.message is None else catalog()[self.message].api_key
        return -1 if found is None else found

    def read(self, bodies: BinaryChunk, absent: Any) -> tuple[Any, pa.RecordBatch]:
        """Convert messages to structs, and to the columns `error`, `error_offset` and `error_path`; `absent` marks nulls."""
        assert self.message is not None
        batch = to_arrow(self.message, bodies, self.version, self.fields, errors="column", explode=False)
        names = self.schema.names
        bad = pc.or_(pa.array(absent), pc.is_valid(batch.column("error")))
        return (
            pa.StructArray.from_arrays([batch.column(index) for index in range(len(names))], fields=list(self.schema), mask=bad),
            batch.select(["error", "error_offset", "error_path"]),
        )


JSON_BODY: Final = BodyType()


def body_type(
    message: str | None, version: int | None, fields: str | Iterable[str] | None, kind: str | None = None, function: str = "ddl"
) -> BodyType:
    """Return the requested type of a message of a `kind` (``request``, ``response``, None for any); arguments as in `ddl`."""
    if message is None or version is None:
        if message is not None or version is not None or fields is not None:
            raise InputError(f"{function} needs message and version together; fields needs both.")
        return JSON_BODY
    found = BodyType(message, version, paths_of(fields))
    if kind is not None and message in catalog() and catalog()[message].kind != kind:
        raise InputError(f"{function} takes the name of a {kind}, which {message} is not.")
    if not found.schema.names:
        raise InputError(f"{message} has in version {version} no field of {', '.join(found.fields or ('it',))}: its struct would be empty.")
    return found


def ddl(message: str, version: int, fields: str | Iterable[str] | None = None) -> str:
    """Return the columns of a typed `body` as Spark's DDL: ``ddl("MetadataResponse", 12, "topics.name")``.

    Args:
        message: name of the message.
        version: its version.
        fields: paths such as ``topics.partitions.leader_id``, a sequence or one text with commas; None for all. Arrays stay arrays; fields
            that the version lacks are left out.

    Raises:
        InputError: none of the fields is in the version.
        KwireError: unknown message or field.
        UnsupportedVersion: the message has no such version.
    """
    return spark_ddl(body_type(message, version, fields).schema)
