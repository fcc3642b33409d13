"""Readable forms of wire values: names of errors and apis, times, UUIDs, versions by api key."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from kwire.codec.uuids import Uuid
from kwire.schema import Versions, catalog
from kwire.schema.error_codes import error_name

__all__ = ["api_name", "api_versions", "error_name", "same_uuid", "timestamp", "uuid_of"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST: Final = datetime.max.replace(tzinfo=timezone.utc)


def timestamp(milliseconds: int) -> datetime | None:
    """Return milliseconds since 1970 as a UTC datetime; None for -1 (none) and for times beyond the calendar."""
    if not 0 <= milliseconds <= (_LAST - _EPOCH) // timedelta(milliseconds=1):
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def api_name(api_key: int) -> str:
    """Return Kafka's name of an api, such as `Metadata`; the digits of an unknown key."""
    return catalog().api_name(api_key) or str(api_key)


def uuid_of(value: bytes | str | uuid.UUID) -> Uuid:
    """Read a UUID in any spelling: Kafka's base64url, standard base64, hex digits with or without hyphens, 16 bytes, `uuid.UUID`. Raises
    ValueError: the value has another form."""
    if isinstance(value, str):
        return Uuid.parse(value)
    content = value.bytes if isinstance(value, uuid.UUID) else bytes(value)
    if len(content) != 16:
        raise ValueError(f"a UUID has 16 bytes, not {len(content)}")
    return Uuid(content)


def same_uuid(one: bytes | str | uuid.UUID, other: bytes | str | uuid.UUID) -> bool:
    """Return whether two forms mean the same UUID (`==` of a `Uuid` and a text is False, because their hashes differ). Raises ValueError:
    one of them is not a UUID."""
    return uuid_of(one) == uuid_of(other)


def api_versions(response: Any) -> dict[int, Versions]:
    """Return the version ranges of an ApiVersionsResponse by api key.

    For a repeated key the last range is used, as in Kafka's `NodeApiVersions`; a truncated response (`decode_prefix`) gives its whole
    entries.
    """
    found: dict[int, Versions] = {}
    for each in getattr(response, "api_keys", None) or ():
        low, high = getattr(each, "min_version", None), getattr(each, "max_version", None)
        if low is not None and high is not None:
            found[each.api_key] = Versions(low, high)
    return found
