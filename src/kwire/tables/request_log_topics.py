"""What an exchange of a request log did with topics: as `kwire.protocol.topic_use` says it, of messages that a log's bodies are read to.

A log has the sizes of records alone, and every partition has all that was asked for, so this takes less than what reads frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.protocol.events import PartitionUse
from kwire.protocol.topic_use import TOPIC_USERS, Shape

__all__ = ["uses_of"]

_new: Final = tuple.__new__


@lru_cache(maxsize=65_536)
def _text_of(topic_id: bytes) -> str | None:
    return None if topic_id == ZERO_UUID else str(Uuid(topic_id))


def _uses(shape: Shape, message: Any) -> Iterator[PartitionUse]:
    name_of = shape.name
    number = shape.number
    for topic in getattr(message, shape.topics) or ():
        name = (getattr(topic, name_of, None) or None) if name_of else None  # by name or by id, as the version has it
        identifier = getattr(topic, "topic_id", None)
        topic_id = None if identifier is None else _text_of(identifier)
        if name is None and topic_id is None:
            continue
        for partition in getattr(topic, shape.partitions) or ():
            code = partition.error_code if shape.errors else None
            size = partition.records_size if shape.records else 0
            yield _new(PartitionUse, (name, topic_id, getattr(partition, number), code, 0, 0, size, 0, 0, 0, False))


def uses_of(api_key: int, request: Any, response: Any) -> list[PartitionUse]:
    """Request and response together, a partition once, as `used` has it.

    Args:
        api_key: of `TOPIC_USERS`.
        request, response: with every field that was asked for; None for a response that there is not.
    """
    shapes = TOPIC_USERS[api_key]
    if response is None:
        return list(_uses(shapes[0], request))
    found = {use[:3]: use for use in _uses(shapes[0], request)}
    for use in _uses(shapes[1], response):
        place = use[:3]
        known = found.get(place)
        if known is None or use.bytes or not known.bytes:
            found[place] = use
        else:  # a request has records or its response has, never both
            found[place] = known._replace(error_code=use.error_code)
    return list(found.values())
