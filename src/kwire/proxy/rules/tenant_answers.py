"""Answers for topic ids and Fetch sessions of other clients, as from a broker that does not know the id.

A client with a topic id from before a restart of the proxy then sends Metadata, and the proxy learns the id. A client with a session of an
earlier connection starts a new one (KIP-227).
"""

from __future__ import annotations

from typing import Final

import kwire
from kwire import messages
from kwire.protocol.relay import Held

__all__ = ["refused_fetch", "unknown_ids"]

_PRODUCE, _FETCH = 0, 1
_UNKNOWN_TOPIC_ID: Final = 100
_FETCH_SESSION_ID_NOT_FOUND: Final = 70
# KIP-516: a client drops its fetch session and asks Metadata (`AbstractFetch.handleFetchSuccess`).
_FETCH_SESSION_TOPIC_ID_ERROR: Final = 106


def refused_fetch(held: Held, *, session: bool) -> bytes:
    """Answer a Fetch with another connection's session or another tenant's topic."""
    refused = messages.FetchResponse(error_code=_FETCH_SESSION_ID_NOT_FOUND if session else _FETCH_SESSION_TOPIC_ID_ERROR)
    return kwire.encode_response(held.correlation_id, refused, _FETCH, held.api_version)


def unknown_ids(held: Held, frame: bytes) -> bytes | None:
    """Answer a Produce or Fetch for all its topics; None if no answer is expected."""
    if not held.wants_answer:
        return None
    if held.api_key == _FETCH:
        return refused_fetch(held, session=False)
    if held.api_key != _PRODUCE:
        return None
    answer, partition = messages.ProduceResponse.TopicProduceResponse, messages.ProduceResponse.PartitionProduceResponse
    asked = kwire.decode_request(frame, strict=False, fields=("topic_data.topic_id", "topic_data.partition_data.index")).body
    responses = [
        answer(
            topic_id=topic.topic_id,
            partition_responses=[
                partition(index=each.index, error_code=_UNKNOWN_TOPIC_ID, base_offset=-1) for each in topic.partition_data
            ],
        )
        for topic in asked.topic_data
    ]
    return kwire.encode_response(held.correlation_id, messages.ProduceResponse(responses=responses), _PRODUCE, held.api_version)
