"""What the native tracker asks of Python: what a text is, what an exchange says beyond its row; and the words for its numbers."""

from __future__ import annotations

import os
from typing import Any, Final

from kwire.errors import WireError
from kwire.protocol.events import Asked, BrokersLearned, Event, RequestCompleted
from kwire.protocol.negotiation import is_valid_software_text
from kwire.protocol.tracking.brokers import nodes_of
from kwire.protocol.tracking.identity import is_broker_client_id
from kwire.protocol.tracking.observation import observe
from kwire.protocol.tracking.reading import header_reader, response_decoders
from kwire.protocol.tracking.topic_use import records_in
from kwire.schema import catalog

__all__ = ["CLOSED_BY", "ROLES", "ROW_BODIES", "ROW_STATES", "SOURCES", "TrackerCallbacks"]

# The words for the numbers of the native tracker's enums, in their order.
ROW_STATES: Final = ("answered", "no_response_expected", "unanswered", "orphan_response", "abandoned", "unseen")
ROW_BODIES: Final = ("decoded", "truncated", "malformed", "unsupported", "skipped")
SOURCES: Final = ("not_observed", "not_sent", "api_versions")
ROLES: Final = ("client", "broker", "controller")
CLOSED_BY: Final = ("client", "server")

# The bits of pyx/protocol/text_table.pxd, TextFact
_IS_SOFTWARE: Final = 2
_IS_BROKER_CLIENT: Final = 4


class TrackerCallbacks:
    """The callbacks of tracked connections (`kwire.Connection`); `kwire.tables` has more of them for rows.

    Attributes:
        seed: for the tables of texts, which may be made to collide.
        observing: what exchanges say beyond their rows is wanted.
        asked: always None: who asks for frames of a message gets them from Python's rules.
    """

    observing = True
    asked: Asked | None = None
    seed = int.from_bytes(os.urandom(8), "big")

    @staticmethod
    def text_facts(text: str) -> int:
        """What is known of a text: whether it may name software, whether brokers use it towards each other."""
        return _IS_SOFTWARE * is_valid_software_text(text) | _IS_BROKER_CLIENT * is_broker_client_id(text)

    @staticmethod
    def count_records(records: bytes) -> int:
        """How many records there are in batches of which the headers do not say it."""
        return records_in(records)

    @staticmethod
    def observe(row: RequestCompleted, note: Any, payload: bytes | None, damaged: bool) -> list[Event]:
        """What an exchange says beyond its row."""
        return observe(row, note, payload, damaged)

    @staticmethod
    def nodes(api_key: int, api_version: int, request_index: int, payload: bytes, start: int, time_ns: int) -> BrokersLearned | None:
        """The nodes that a response names whose body begins at `start` and breaks no rule."""
        message, _ = response_decoders(api_key, api_version)[1].decode(payload, start, True)
        return nodes_of(catalog().api_name(api_key), request_index, time_ns, message)

    @staticmethod
    def body_of(payload: bytes) -> int:
        """Where the body of a request begins whose header was read before; the frame's end for one that cannot be read."""
        try:
            return int(header_reader().read(payload, strict=False)[1])
        except WireError:
            return len(payload)
