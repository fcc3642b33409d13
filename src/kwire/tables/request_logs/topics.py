"""Topic sums of a request log's exchanges, by the rules of `kwire.protocol.tracking.topic_use`.

A log has only the sizes of records, and lists a partition once per message, so the sums need no object for each partition.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.tracking.topic_names import text_of_id
from kwire.protocol.tracking.topic_use import TOPIC_USERS
from kwire.tables.observed_rows import TopicSum, TopicSums

__all__ = ["add_topics"]

_PRODUCE: Final = 0


def add_topics(
    sums: TopicSums, api_key: int, client_id: str | None, acks: int | None, time: int | None, request: Any, response: Any,
    is_request_whole: bool, is_response_whole: bool,
) -> None:  # fmt: skip
    """Add the topics of an exchange to the sums of its connection; a topic in both messages counts once.

    Time is in nanoseconds since 1970. An incomplete message may have had more topics.
    """
    direction = "produce" if api_key == _PRODUCE else "fetch"
    asked, answered = TOPIC_USERS[api_key]
    counted: dict[tuple[str | None, str | None], TopicSum] = {}
    unseen: set[tuple[str | None, str | None]] = set()
    is_whole = is_request_whole if asked.records else is_response_whole
    for shape, topics in ((asked, getattr(request, asked.topics, None)), (answered, getattr(response, answered.topics, None))):
        if not topics:  # of most fetches
            continue
        topics_name, partitions_name, number_name, records, errors = shape[1], shape[2], shape[3], shape.records, shape.errors
        for topic in topics:
            partitions = getattr(topic, partitions_name, None)
            name = (getattr(topic, topics_name, None) or None) if topics_name else None  # by name or by id, as the version has it
            topic_id = getattr(topic, "topic_id", None)
            topic_id = None if topic_id is None else text_of_id(topic_id)
            if not partitions or (name is None and topic_id is None):
                continue
            place = (name, topic_id)
            found = counted.get(place)
            if found is None:
                found = counted[place] = sums.request((direction, name, topic_id, client_id), time, acks)
                if not is_whole:
                    unseen.add(place)
            for partition in partitions:
                found.partitions.add(getattr(partition, number_name))
                if records:
                    size = getattr(partition, "records_size", None)
                    found.bytes += size or 0
                    if size is None and not hasattr(partition, "records"):
                        unseen.add(place)
                if errors and partition.error_code:
                    found.errors += 1
                    found.refused.add(partition.error_code)
    for place in unseen:
        counted[place].seen -= 1
        counted[place].unseen += 1
