"""Table of a relay's actions by direction, API key and version, built from rules and the schema.

The table holds plain integers, so the native backend reads it without the GIL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from kwire.protocol.events import Direction
from kwire.schema import Catalog, catalog
from kwire.schema.header_versions import header_version_of

__all__ = ["CALL", "CLOSE", "MOST_KEYS", "MOST_VERSIONS", "PASS", "REFUSE", "FrameEdit", "RelayPlan", "RelayRule", "Unknown"]

# What is done with a frame. A positive number n is the program `RelayPlan.programs[n - 1]`.
PASS: Final = 0
CALL: Final = -1
CLOSE: Final = -2
REFUSE: Final = -3

# Size of the table; Kafka has used 93 api keys and 19 versions of one of them.
MOST_KEYS: Final = 128
MOST_VERSIONS: Final = 32

Unknown = Literal["pass", "refuse", "close"]
_OF_UNKNOWN: Final[dict[str, int]] = {"pass": PASS, "refuse": REFUSE, "close": CLOSE}
_STRENGTH: Final = {PASS: 0, CALL: 2, REFUSE: 3, CLOSE: 4}  # of two rules for one frame the stronger holds; a program is 1
_PROGRAM_STRENGTH: Final = 1


class FrameEdit(Protocol):
    """Program that edits a frame, such as the edits of the codec."""

    def pieces(self, frame: bytes | memoryview, /) -> Iterable[bytes | bytearray | memoryview]:
        """Return the edited frame without its length; after a `WireError` or `EncodeError` the relay closes with `program_failed`."""


@dataclass(frozen=True, slots=True)
class RelayRule:
    """Rule of a plan. For a response `versions` are those of its body: error 35 of ApiVersions is always version 0 (KIP-511)."""

    direction: Direction
    api_key: int
    versions: Collection[int] | None  # None for all known ones
    action: int | FrameEdit  # CALL holds the whole frame until `Relay.release` or `Relay.answer`; REFUSE is for requests only


class RelayPlan:
    """Immutable table, shared by relays. If two rules match a frame, the stronger action applies: CLOSE, REFUSE, CALL, program, PASS.

    Arguments:
        unknown: action for requests of an unknown API or version. `pass`: forward them and pair them by correlation id. `refuse`: answer
            error 35 (UNSUPPORTED_VERSION) in the form of ApiVersions v0 and keep the connection; KIP-511 defines this for ApiVersions only.
            `close`: close the connection, as brokers do (`RequestContext.parseRequest`).
        raw_gssapi: pass GSSAPI tokens without SaslHandshake; False closes the connection, as brokers do from 4.0 on (KAFKA-18339).
    """

    __slots__ = ("_table", "native", "programs", "raw_gssapi", "source", "unknown")

    def __init__(
        self, rules: Iterable[RelayRule] = (), *, unknown: Unknown = "pass", raw_gssapi: bool = True, source: Catalog | None = None
    ) -> None:
        if unknown not in _OF_UNKNOWN:
            raise ValueError(f"unknown must be one of {', '.join(_OF_UNKNOWN)}, not {unknown!r}")
        self.source = catalog() if source is None else source
        self.unknown: Unknown = unknown
        self.raw_gssapi = raw_gssapi
        self.programs: list[FrameEdit] = []
        self._table: dict[tuple[Direction, int, int], int] = {}
        self.native: Any = None  # the native twin's copy of this table, made with the first relay
        for rule in rules:
            self._add(rule)

    def action(self, direction: Direction, api_key: int, version: int) -> int:
        """Return the action: `PASS`, `CALL`, `CLOSE`, `REFUSE`, or the number of a program, counted from 1."""
        found = self._table.get((direction, api_key, version))
        if found is not None:
            return found
        if direction == "response" or self.is_known(api_key, version):
            return PASS  # the answer to a request that was let through
        return _OF_UNKNOWN[self.unknown]

    def is_known(self, api_key: int, version: int) -> bool:
        message = self.source.request(api_key)
        return message is not None and version in message.valid_versions

    def header_version(self, api_key: int, version: int) -> int | None:
        """Return a request's header version, also for unknown API versions (KIP-511); None for an unknown API."""
        message = self.source.request(api_key)
        return None if message is None or version < 0 else header_version_of(message.header_versions, version)

    def versions_of(self, api_key: int) -> tuple[int, int] | None:
        message = self.source.request(api_key)
        return None if message is None else (message.valid_versions.lowest, message.valid_versions.highest)

    def _add(self, rule: RelayRule) -> None:
        message = self.source.request(rule.api_key) if rule.direction == "request" else self.source.response(rule.api_key)
        if message is None or not 0 <= rule.api_key < MOST_KEYS:
            raise ValueError(f"a rule for api key {rule.api_key}, which the catalog does not have")
        versions = list(message.valid_versions) if rule.versions is None else list(rule.versions)
        unknown = [version for version in versions if version not in message.valid_versions or version >= MOST_VERSIONS]
        if unknown:
            raise ValueError(f"a rule for {message.name} v{unknown[0]}; known versions are {message.valid_versions}")
        action = self._number(rule)
        for version in versions:
            place = rule.direction, rule.api_key, version
            before = self._table.get(place, PASS)
            if before > 0 and action > 0 and before != action:
                raise ValueError(f"two programs for {message.name} v{version}")
            if _STRENGTH.get(action, _PROGRAM_STRENGTH) >= _STRENGTH.get(before, _PROGRAM_STRENGTH):
                self._table[place] = action

    def _number(self, rule: RelayRule) -> int:
        if isinstance(rule.action, int):
            if rule.action not in _STRENGTH:
                raise ValueError(f"no action has the number {rule.action}")
            if rule.action == REFUSE and rule.direction == "response":
                raise ValueError("only a request can be refused")
            return rule.action
        for number, each in enumerate(self.programs, 1):
            if each is rule.action:
                return number
        self.programs.append(rule.action)
        return len(self.programs)
