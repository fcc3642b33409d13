"""Callbacks of the native tracker into Python, and names for its numeric codes."""

from __future__ import annotations

import os
from typing import Any, Final

from kwire.errors import WireError
from kwire.protocol.events import Asked, BrokersLearned, Event, RequestCompleted
from kwire.protocol.negotiation import is_valid_software_text
from kwire.protocol.tracking.brokers import nodes_of
from kwire.protocol.tracking.identity import is_broker_client_id
from kwire.protocol.tracking.observation import group_faults, observe
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
    """Callbacks of tracked connections (`kwire.Connection`); `kwire.tables` adds callbacks for rows."""

    observing = True
    asked: Asked | None = None
    seed = int.from_bytes(os.urandom(8), "big")  # of the tables of texts, against made collisions

    @staticmethod
    def text_facts(text: str) -> int:
        return _IS_SOFTWARE * is_valid_software_text(text) | _IS_BROKER_CLIENT * is_broker_client_id(text)

    @staticmethod
    def count_records(records: bytes) -> int:
        return records_in(records)

    @staticmethod
    def observe(row: RequestCompleted, note: Any, payload: bytes | None, damaged: bool) -> list[Event]:
        return observe(row, note, payload, damaged)

    @staticmethod
    def group_fits(api_key: int, api_version: int, request: bytes, response: bytes) -> bool:
        """Return whether a group's request and response, both whole frames, pass the checks of `exchange_checks`."""
        return not group_faults(api_key, api_version, (request, False), response, False)

    @staticmethod
    def nodes(api_key: int, api_version: int, request_index: int, payload: bytes, start: int, time_ns: int) -> BrokersLearned | None:
        """Return the nodes in a valid response whose body begins at `start`."""
        message, _ = response_decoders(api_key, api_version)[1].decode(payload, start, True)
        return nodes_of(catalog().api_name(api_key), request_index, time_ns, message)

    @staticmethod
    def body_of(payload: bytes) -> int:
        """Return the body's offset in a request with a readable header; if unreadable, the end of the frame."""
        try:
            return int(header_reader().read(payload, strict=False)[1])
        except WireError:
            return len(payload)
