"""What people want to read in place of numbers: names of errors and apis, times, UUIDs in any spelling, versions by api key."""

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
    """A time of Kafka's as a UTC datetime; None for -1, which says that there is none, and for what no calendar holds.

    Arguments:
        milliseconds: since 1970.
    """
    if not 0 <= milliseconds <= (_LAST - _EPOCH) // timedelta(milliseconds=1):
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def api_name(api_key: int) -> str:
    """Kafka's own name of an api, `Metadata`; for a key that the catalog does not know its digits."""
    return catalog().api_name(api_key) or str(api_key)


def uuid_of(value: bytes | str | uuid.UUID) -> Uuid:
    """A UUID in any spelling: Kafka's base64url, standard base64, hex digits with or without hyphens, 16 bytes, `uuid.UUID`.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, str):
        return Uuid.parse(value)
    content = value.bytes if isinstance(value, uuid.UUID) else bytes(value)
    if len(content) != 16:
        raise ValueError(f"a UUID has 16 bytes, not {len(content)}")
    return Uuid(content)


def same_uuid(one: bytes | str | uuid.UUID, other: bytes | str | uuid.UUID) -> bool:
    """Whether two spellings mean one UUID. (`==` of a `Uuid` and a text is False: things that are equal must have equal hashes.)

    Raises:
        ValueError: one of them is no UUID.
    """
    return uuid_of(one) == uuid_of(other)


def api_versions(response: Any) -> dict[int, Versions]:
    """The ranges of versions of an ApiVersionsResponse, by api key.

    A key that comes twice has its last range, as in Kafka's `NodeApiVersions`. Of a response that was cut (`decode_prefix`) the entries
    that are whole count.

    Arguments:
        response: the message, of any version.
    """
    found: dict[int, Versions] = {}
    for each in getattr(response, "api_keys", None) or ():
        low, high = getattr(each, "min_version", None), getattr(each, "max_version", None)
        if low is not None and high is not None:
            found[each.api_key] = Versions(low, high)
    return found
