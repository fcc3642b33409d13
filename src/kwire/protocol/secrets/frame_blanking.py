"""Frames without secrets: record contents, SASL tokens, credentials, configuration values, user data.

Lengths never change. All other bytes stay, except unreadable ones: bytes behind a fault, undefined tagged fields, trailing bytes, unknown
APIs.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, NamedTuple, Protocol, TypeVar

from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.field_spans import UNKNOWN_TAG, FieldWalker, marking_of
from kwire.codec.group_definitions import compiled_groups
from kwire.codec.splice_plan import Marking
from kwire.protocol.events import Direction, FrameSeen
from kwire.protocol.groups import PROTOCOL_TYPES
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.nested_rules import RULES, Rule
from kwire.protocol.secrets.record_blanking import blank_records
from kwire.protocol.secrets.secret_texts import SECRET_TEXTS
from kwire.protocol.secrets.token_blanking import FILL, blank_client_token, blank_server_token
from kwire.schema import catalog
from kwire.schema.header_versions import header_version_of

__all__ = ["MOST_REMEMBERED", "FrameBlanker", "FramePlan", "HostPseudonyms", "frame_plan", "may_hold_secrets"]

_UNKNOWN_API_HEADER: Final = 1  # brokers read the header of an api that they do not know so
MOST_REMEMBERED: Final = 16_384  # groups, and requests that wait for their responses
_HEAD: Final = 8  # api key, version, correlation id
_CORRELATION_ID: Final = 4
_MAX_DEPTH: Final = 4
_CONSUMER: Final = "consumer"
_KEPT: Final = frozenset(("principal", "address", "metrics"))  # nested, and part of what the tables say
_BATCHES: Final = "record batches"
# Blanked by more than where they lie: the mechanism, the group's type, or the frame that is inside has a say.
_JUDGED: Final = frozenset(("SASL token of the client", "SASL token of the server"))
# Fields that name machines, whatever the message: listeners, members, ACLs, and the REST address of a Connect worker.
_HOSTS: Final = frozenset(("host", "host_name", "client_host", "url"))
# An entity of a quota may be an address (KIP-612); which kind it is stands in a field of its own.
_QUOTA_ENTITIES: Final = frozenset(("entity_name", "match"))
_GROUP_REQUESTS: Final = frozenset((11, 14))  # JoinGroup and SyncGroup: their older answers do not say the group's type


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _remember(known: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(known) >= MOST_REMEMBERED and key not in known:
        del known[next(iter(known))]  # the oldest: clients choose how many there are
    known[key] = value


class HostPseudonyms(Protocol):
    """Replacement of hosts in messages; lengths stay."""

    def host(self, text: bytes) -> bytes: ...

    def packed(self, address: bytes) -> bytes: ...


def _names_host(name: str, path: tuple[str, ...]) -> bool:
    return path[-1] in _HOSTS or (path[-1] in _QUOTA_ENTITIES and "ClientQuotas" in name)


# What the walk extracts beside secrets: of which group and protocol type a message is.
_DESCRIBING: Final = frozenset(field for rule in RULES.values() for _, field in rule.described_by) | {"group_id", "protocol_type"}


@cache
def _walker(source: CompiledCatalog, name: str, version: int) -> FieldWalker:
    nested = any(key[0] == name and rule.described_by for key, rule in RULES.items()) or "Group" in name

    def wanted(path: tuple[str, ...]) -> bool:
        key = (name, ".".join(path))
        return key in SECRET_TEXTS or key in RULES or (nested and path[-1] in _DESCRIBING) or _names_host(name, path)

    return FieldWalker(source, name, version, wanted)


class FramePlan(NamedTuple):
    """Plan for blanking a message in one version, if the frame alone suffices."""

    header: Marking  # only tagged fields that no version defines
    body: Marking
    records: tuple[bool, ...]  # for each field whether it holds record batches; others are filled


def frame_plan(direction: Direction, api_key: int, version: int) -> FramePlan | None:
    """Return the native backend's plan; None for unknown messages or versions, and for messages that need other frames."""
    message = catalog().request(api_key) if direction == "request" else catalog().response(api_key)
    if message is None or version not in message.valid_versions or (direction == "request" and api_key in _GROUP_REQUESTS):
        return None
    name = message.name
    held = [rule for (owner, _), rule in RULES.items() if owner == name]
    if any(rule.holds in _JUDGED or (rule.kind == "nested" and rule.holds not in _KEPT and rule.holds != _BATCHES) for rule in held):
        return None

    def is_blanked(path: tuple[str, ...]) -> bool:
        key = (name, ".".join(path))
        return key in SECRET_TEXTS or (key in RULES and RULES[key].holds not in _KEPT)

    header = header_version_of(message.header_versions, version)
    body, paths = marking_of(compiled(), name, version, is_blanked)
    return FramePlan(
        marking_of(compiled(), "RequestHeader" if direction == "request" else "ResponseHeader", header, lambda path: False)[0],
        body,
        tuple((name, ".".join(path)) in RULES and RULES[name, ".".join(path)].holds == _BATCHES for path in paths),
    )


@lru_cache(4096)
def may_hold_secrets(direction: Direction, api_key: int, version: int) -> bool:
    """Return whether a message may hold secrets outside its records; JSON has only the sizes of records."""
    plan = frame_plan(direction, api_key, version)
    return plan is None or not all(plan.records)


class FrameBlanker:
    """Blanker of the frames of one connection; it remembers parts of a request that the response lacks.

    `group_types` are the protocol types of groups, shared by the connections of a cluster: a member's SyncGroup may lack the type.
    """

    def __init__(
        self, group_types: dict[str, str] | None = None, hosts: HostPseudonyms | None = None, source: CompiledCatalog | None = None
    ) -> None:
        self._hosts = hosts
        self._source = compiled() if source is None else source
        self._group_types = {} if group_types is None else group_types
        self._carried: dict[int, tuple[int, int]] = {}
        self._groups: dict[int, str] = {}

    def request(self, frame: bytes, *, index: int = -1, mechanism: str | None = None, whole: bool = True) -> bytes:
        """Blank the secrets of a request frame, or of its bytes before a loss; `index` connects it with its response."""
        blanking = _Blanking(self, frame, mechanism, whole)
        blanking.request(index)
        return bytes(blanking.out)

    def response(
        self,
        frame: bytes,
        api_key: int | None,
        api_version: int | None,
        *,
        index: int = -1,
        mechanism: str | None = None,
        whole: bool = True,
    ) -> bytes:
        """Blank the secrets of a response frame, as in `request`; API and version are None if its request is unknown."""
        blanking = _Blanking(self, frame, mechanism, whole)
        blanking.group_id = self._groups.pop(index, None)
        blanking.carried = self._carried.pop(index, None)
        blanking.response(api_key, api_version)
        return bytes(blanking.out)

    def seen(self, event: FrameSeen, frame: bytes) -> bytes:
        whole, mechanism = len(frame) == event.length, event.sasl_mechanism
        if event.kind == "token":
            if not whole:
                return bytes((FILL,)) * len(frame)
            return blank_client_token(mechanism, frame) if event.direction == "request" else blank_server_token(mechanism, frame)
        index = -1 if event.request_index is None else event.request_index
        if event.direction == "request":
            return self.request(frame, index=index, mechanism=mechanism, whole=whole)
        return self.response(frame, event.api_key, event.api_version, index=index, mechanism=mechanism, whole=whole)


class _Blanking:
    def __init__(self, owner: FrameBlanker, data: bytes, mechanism: str | None, whole: bool, depth: int = 0) -> None:
        self.owner = owner
        self.data = data
        self.out = bytearray(data)
        self.mechanism = mechanism
        self.whole = whole
        self.depth = depth
        self.carried: tuple[int, int] | None = None  # of an Envelope: what is inside
        self.group_id: str | None = None
        self.group_type: str | None = None

    def source(self, name: str) -> CompiledCatalog:
        groups = compiled_groups()
        return groups if name in groups.catalog else self.owner._source

    def fill(self, start: int, stop: int) -> None:
        if start < stop:
            self.out[start:stop] = bytes((FILL,)) * (stop - start)

    def fill_rest(self, start: int) -> None:
        """Blank the rest of a frame, unless all bytes are zero: librdkafka 0.11 sends zeros behind a request."""
        if any(self.data[start:]):
            self.fill(start, len(self.data))

    def put(self, start: int, part: bytes | bytearray) -> None:
        self.out[start : start + len(part)] = part

    def request(self, index: int = -1) -> None:
        data = self.data
        if len(data) < _HEAD:
            self.fill(4, len(data))
            return
        key = int.from_bytes(data[:2], "big", signed=True)
        version = int.from_bytes(data[2:4], "big", signed=True)
        message = self.owner._source.catalog.request(key)
        header = _UNKNOWN_API_HEADER if message is None else header_version_of(message.header_versions, max(version, 0))
        end, readable = self.message("RequestHeader", header, 0)
        if message is None or not readable or version not in message.valid_versions:
            self.fill_rest(end)
            return
        self.body(message.name, version, end)
        if index >= 0 and self.carried is not None:
            _remember(self.owner._carried, index, self.carried)
        if index >= 0 and key in _GROUP_REQUESTS and self.group_id is not None:
            _remember(self.owner._groups, index, self.group_id)

    def response(self, api_key: int | None, version: int | None) -> None:
        message = None if api_key is None else self.owner._source.catalog.response(api_key)
        if message is None or version is None or (version not in message.valid_versions and api_key != API_VERSIONS):
            self.fill_rest(_CORRELATION_ID)
            return
        if self.group_id is not None:
            self.group_type = self.owner._group_types.get(self.group_id)
        header = header_version_of(message.header_versions, version)
        if api_key == API_VERSIONS and (self.data[4:6] == b"\0\x23" or version not in message.valid_versions):
            version = 0  # a refusal comes in version 0 form whatever was asked (KIP-511)
        end, _ = self.message("ResponseHeader", header, 0)
        self.body(message.name, version, end)

    def body(self, name: str, version: int, start: int) -> None:
        end, _ = self.message(name, version, start)
        self.fill_rest(end)

    def message(self, name: str, version: int, start: int) -> tuple[int, bool]:
        """Blank one message at `start`; return the end of its readable part, and whether all of it was readable."""
        reading = _walker(self.source(name), name, version).walk(self.data, start, whole=self.whole)
        described: dict[str, tuple[int, int]] = {}
        for path, begin, stop in reading.spans:
            described[path[-1]] = begin, stop
            self.field(name, path, begin, stop, described)
        return reading.end, reading.fault is None

    def field(self, name: str, path: tuple[str, ...], begin: int, stop: int, described: dict[str, tuple[int, int]]) -> None:
        if path[-1] == UNKNOWN_TAG:
            self.fill(begin, stop)
            return
        key = (name, ".".join(path))
        if key in SECRET_TEXTS:
            self.fill(begin, stop)
        elif (rule := RULES.get(key)) is not None:
            self.bytes_field(rule, begin, stop, described)
        elif _names_host(name, path):
            if self.owner._hosts is not None:
                self.put(begin, self.owner._hosts.host(self.data[begin:stop]))
        elif path == ("group_id",):
            self.group_id = self.data[begin:stop].decode("utf-8", "replace")
        elif path == ("protocol_type",) and self.group_id is not None:
            self.group_type = self.data[begin:stop].decode("utf-8", "replace")
            _remember(self.owner._group_types, self.group_id, self.group_type)

    def bytes_field(self, rule: Rule, begin: int, stop: int, described: dict[str, tuple[int, int]]) -> None:
        held = self.data[begin:stop]
        if rule.kind == "nested" and self.depth < _MAX_DEPTH:
            self.put(begin, self.nested(rule, held, described))
        elif rule.holds == "SASL token of the client":
            self.put(begin, blank_client_token(self.mechanism, held))
        elif rule.holds == "SASL token of the server":
            self.put(begin, blank_server_token(self.mechanism, held))
        else:
            self.fill(begin, stop)

    def nested(self, rule: Rule, held: bytes, described: dict[str, tuple[int, int]]) -> bytes | bytearray:
        if rule.holds == "address" and self.owner._hosts is not None and len(held) in (4, 16):
            return self.owner._hosts.packed(held)
        if rule.holds in _KEPT:
            return held
        if rule.holds == _BATCHES:
            return blank_records(held)
        inner = _Blanking(self.owner, held, None, True, self.depth + 1)
        if rule.holds == "request frame":
            inner.request()
            if len(held) >= _HEAD:
                self.carried = (int.from_bytes(held[:2], "big", signed=True), int.from_bytes(held[2:4], "big", signed=True))
        elif rule.holds == "response frame":
            inner.response(*(self.carried or (None, None)))
        elif rule.holds in ("group metadata", "group assignment"):
            inner.group(self.type_of(rule, described), rule.holds == "group assignment")
        elif rule.holds == "consumer metadata":
            inner.group(_CONSUMER, False)
        elif rule.holds == "connect assignment":
            inner.group("connect", True)
        else:
            inner.fill(0, len(held))
        return inner.out

    def type_of(self, rule: Rule, described: dict[str, tuple[int, int]]) -> str | None:
        field = dict(rule.described_by).get("protocol_type")
        if field in described:
            begin, stop = described[field]
            return self.data[begin:stop].decode("utf-8", "replace")
        if self.group_type is None and self.group_id is not None:
            return self.owner._group_types.get(self.group_id)
        return self.group_type

    def group(self, protocol_type: str | None, assignment: bool) -> None:
        names = PROTOCOL_TYPES.get(_CONSUMER if protocol_type is None else protocol_type)
        version = int.from_bytes(self.data[:2], "big", signed=True) if len(self.data) >= 2 else -1
        if names is None or version < 0:
            self.fill(0, len(self.data))
            return
        name = names[assignment]
        known = self.source(name).message(name).valid_versions
        end, readable = self.message(name, min(version, known.highest), 2)
        if protocol_type is None and not readable:
            end = 0  # it was a guess
        self.fill_rest(end)
