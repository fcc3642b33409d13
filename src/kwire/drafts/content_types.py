"""Content types of KIP-714's draft, `application/x-protobuf+zstd;type=otlp+metrics09`, where the released form has a compression type."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import KwireError

__all__ = ["ACCEPTED_CONTENT_TYPES", "ContentType", "UnsupportedEncoding", "parse_content_type", "to_draft", "to_released"]

_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
_FORM: Final = re.compile(r"(?P<base>[\w.-]+/[\w.-]+?)(?:\+(?P<codec>\w+))?\s*;\s*type=(?P<format>[a-z+]+?)(?P<version>[\d.]+)", re.ASCII)


class UnsupportedEncoding(KwireError):
    """A content type that the receiver does not read: the draft's UnsupportedEncoding, which it also calls UnsupportedFormat."""


class ContentType(NamedTuple):
    """Parts of a content type: `application/x-protobuf`, compression type as released (0: none), `otlp+metrics`, `09`."""

    base: str
    compression_type: int
    format: str
    version: str

    def __str__(self) -> str:
        codec = f"+{_CODECS[self.compression_type]}" if self.compression_type else ""
        return f"{self.base}{codec};type={self.format}{self.version}"


def _otlp(compression_type: int) -> str:
    return str(ContentType("application/x-protobuf", compression_type, "otlp+metrics", "09"))


ACCEPTED_CONTENT_TYPES: Final = tuple(map(_otlp, (4, 3, 1, 2, 0)))
"""Content types that kwire's receiver reads, best first."""


def parse_content_type(text: str) -> ContentType:
    """Parse a content type. Raises UnsupportedEncoding: it has no `type` with a format and a version, or a compression that Kafka does not
    have."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise UnsupportedEncoding(f"{text[:80]!r} is not TYPE[+COMPRESSION];type=FORMATVERSION")
    codec = found["codec"] or "none"
    if codec not in _CODECS:
        raise UnsupportedEncoding(f"compression {codec!r} is unknown")
    return ContentType(found["base"], _CODECS.index(codec), found["format"], found["version"])


def to_released(body: Any, released: Any, subscription_id: int = 0) -> tuple[Any, list[str]]:
    """Return the released form of a draft's PushTelemetryRequest, and in words what it cannot hold.

    Arguments:
        body: request of the dialect `kip-714-draft`.
        released: messages of a catalog with the released form.
        subscription_id: the draft has none.

    Raises:
        UnsupportedEncoding: see `parse_content_type`.
        ValueError: the instance id does not end with a UUID.
    """
    lost = []
    instance_id = ZERO_UUID
    if body.client_instance_id is not None:
        instance_id = Uuid.parse(body.client_instance_id[-36:])
        if prefix := body.client_instance_id[:-37]:
            lost.append(f"the client id {prefix!r} in the instance id")
    kind = parse_content_type(body.content_type) if body.content_type else None
    if kind is not None:
        lost.append(f"the format {kind.format}{kind.version}")
    made = released.PushTelemetryRequest(
        client_instance_id=instance_id,
        subscription_id=subscription_id,
        terminating=body.terminating,
        compression_type=kind.compression_type if kind else 0,
        metrics=body.metrics,
    )
    return made, lost


def to_draft(body: Any, draft: Any, client_id: str) -> tuple[Any, list[str]]:
    """Return the draft's form of a released PushTelemetryRequest, and in words what it cannot hold.

    Arguments:
        draft: messages of the dialect `kip-714-draft`.
        client_id: beginning of the draft's instance id.
    """
    import uuid  # it asks the platform many things when it is loaded

    known = body.client_instance_id != ZERO_UUID
    made = draft.PushTelemetryRequest(
        client_instance_id=f"{client_id}-{uuid.UUID(bytes=bytes(body.client_instance_id))}" if known else None,
        terminating=body.terminating,
        content_type=_otlp(body.compression_type),
        metrics=body.metrics,
    )
    return made, [f"the subscription id {body.subscription_id}"] if body.subscription_id else []
