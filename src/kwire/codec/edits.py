"""Edit of one kind of frame, compiled once and applied to many: the changes that a proxy makes in requests and responses.

    names topics, groups and transactional ids: by a mapping, or a prefix added or removed
    addresses   of brokers, by node id and listener
    elements    of arrays that are dropped: other tenants' topics, apis and features that a release lacks
    ranges      of ApiVersions, cut to a release
    texts of errors, from which a prefix is removed
    header      the correlation id, 4 bytes in place

All other bytes stay: unknown tagged fields, lengths in more bytes than they need, and bytes behind the message, which Kafka ignores
(librdkafka's list_topics() sends three).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.edit_fields import message_of
from kwire.codec.edit_plan import EditChanges, edit_plan
from kwire.codec.impl import load_twin
from kwire.codec.splicers import Splicers
from kwire.codec.topic_renaming import TopicRenaming
from kwire.errors import Fault, wire_error
from kwire.schema.header_versions import header_version_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Edit", "EditChanges"]

_REQUEST_ID_AT: Final = 4  # behind api key and version
_SHORTEST: Final = {"request": 8, "response": 4}


@cache
def _renaming(source: CompiledCatalog) -> TopicRenaming:
    return TopicRenaming(Splicers(source))


class Edit:
    """Edit of frames of one api at one version in one direction.

    Arguments:
        direction: `request` or `response`.
        api_key, api_version: API key and version of the body; error 35 of ApiVersions is always version 0 (KIP-511).
        changes: what is changed.
        source: the compiled catalog, by default Kafka's own.

    Attributes:
        direction, api_key, api_version, changes: as given.
        is_empty: True if nothing in the message changes; `pieces` then returns the frame.
        program: the backend's program, None if `is_empty`.

    Raises:
        UnknownApi, UnsupportedVersion: the catalog lacks the API or version.
    """

    __slots__ = ("_id_at", "_source", "api_key", "api_version", "changes", "direction", "program")

    def __init__(
        self, direction: str, api_key: int, api_version: int, changes: EditChanges, *, source: CompiledCatalog | None = None
    ) -> None:
        self._source = compiled() if source is None else source
        message = message_of(direction, api_key, api_version, self._source.catalog)
        self.direction = direction
        self.api_key = api_key
        self.api_version = api_version
        self.changes = changes
        self._id_at = _REQUEST_ID_AT if direction == "request" else 0
        self.program: Any = None
        names: Any = changes.topics
        group_change = _renaming(self._source).group_change(names, changes.protocol_type, changes.uncovered)
        plan = edit_plan(self._source, message, api_version, changes, group_change)
        if plan is not None:
            header = "RequestHeader" if direction == "request" else "ResponseHeader"
            decoder = self._source.decoder(header, header_version_of(message.header_versions, api_version))
            self.program = load_twin("codec", "edits", self._source.twin).EditProgram(plan, decoder)

    @property
    def is_empty(self) -> bool:
        return self.program is None

    def pieces(self, frame: Buffer, /, *, correlation_id: int | None = None, framed: bool = False) -> list[bytes | memoryview]:
        """Edit a frame, for `writev`.

        Arguments:
            frame: header and body, without the 4-byte length. Any contiguous buffer.
            correlation_id: new correlation id, None to keep the old one.
            framed: whether the result begins with the 4-byte length.

        Returns:
            The new bytes in order: views of long unchanged parts of `frame`, and new bytes.

        Raises:
            WireError: the frame cannot be read up to the end of its message, or is of another api or version.
            EncodeError: a new value does not fit, or the frame has a name that is refused.
        """
        self._check(frame)
        number = None if correlation_id is None else correlation_id.to_bytes(4, "big", signed=True)
        if self.program is not None:
            found: list[bytes | memoryview] = self.program.pieces(frame, self._id_at, number, framed)
            return found
        view = memoryview(frame).cast("B")
        pieces: list[bytes | memoryview] = [len(view).to_bytes(4, "big")] if framed else []
        if number is not None:
            pieces += (bytes(view[: self._id_at]) + number, view[self._id_at + 4 :])
        else:
            pieces.append(view)
        return pieces

    def _check(self, frame: Any) -> None:
        head = bytes(memoryview(frame).cast("B")[: _SHORTEST[self.direction]])
        if len(head) < _SHORTEST[self.direction]:
            raise wire_error(Fault.TRUNCATED, len(head), "", "RequestHeader" if self._id_at else "ResponseHeader")
        if self._id_at and head[:4] != self.api_key.to_bytes(2, "big") + self.api_version.to_bytes(2, "big"):
            key, version = int.from_bytes(head[:2], "big", signed=True), int.from_bytes(head[2:4], "big", signed=True)
            reason = f"api {key} v{version} in an edit of api {self.api_key} v{self.api_version}"
            raise wire_error(Fault.UNSUPPORTED_VERSION, 2, "api_version", "RequestHeader", key, version, reason)

    def joined(self, other: Edit) -> Edit | None:
        """Merge two edits into one; None if they conflict or are for different frames."""
        if (self.direction, self.api_key, self.api_version) != (other.direction, other.api_key, other.api_version):
            return None
        changes = self.changes.joined(other.changes)
        return None if changes is None else Edit(self.direction, self.api_key, self.api_version, changes, source=self._source)
