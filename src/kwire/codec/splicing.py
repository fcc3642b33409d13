"""Rewriting chosen fields of a frame: `kwire.splice`, `rename_topics` and `rewrite_brokers`.

All other bytes are copied undecoded: unknown tagged fields, lengths in more bytes than they need, text that is not UTF-8. The lengths of
changed values and the sizes of tagged fields around them are rewritten. A splice changes values; it does not add or remove elements or
tags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from kwire.codec._pure.primitives import as_buffer
from kwire.codec.broker_addresses import Addresses, BrokerRewriting
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.decoding import API_VERSIONS, UNKNOWN_API_HEADER, FrameReader
from kwire.codec.edit_actions import ApplyFunction, EditAction, MapValue, SetValue
from kwire.codec.layout import current_path
from kwire.codec.plan import Op, Plan
from kwire.codec.splice_plan import ANY, Path, find_leaf, leaf_of, parse_path
from kwire.codec.splice_values import content_of
from kwire.codec.splicers import MAX_SPLICERS, Splicers, Work, WorkOf
from kwire.codec.topic_renaming import Names, TopicRenaming, Uncovered
from kwire.errors import BadLength, EncodeError, WireError
from kwire.schema.header_versions import header_version_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["FrameSplicer", "rename_topics", "rewrite_brokers", "splice"]

Changes = Mapping[str, Any]
"""New values by path; each is a value, or a mapping or function from the old value to the new one."""

_HEADER: Final = "header."
_TOLD_BY_HEADER: Final = frozenset(("api_key", "api_version"))


class _SplicedField:
    __slots__ = ("code", "fields", "nullable", "pattern", "single")

    def __init__(self, plan: Plan, path: Path, text: str) -> None:
        found = find_leaf(plan, path.fields)
        if found is None:
            raise EncodeError("this version has no such field", path=path.fields, message=plan.message, api_version=plan.version)
        indexes = []
        for (name, index), array in zip(path.steps, found.arrays, strict=True):
            if array:
                indexes.append(index)
            elif index != ANY:
                reason = f"{name} is not an array and has no element {index}"
                raise EncodeError(reason, path=text, message=plan.message, api_version=plan.version)
        leaf = leaf_of(plan, found.operation)
        self.code = leaf.code
        self.nullable = leaf.nullable
        self.fields = path.fields
        self.pattern = tuple(indexes) if any(index != ANY for index in indexes) else None
        self.single = ANY not in indexes


def _meet(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> bool:
    """Tell whether a place can match the indexes of both."""
    if one is None or other is None:
        return True
    return all(ANY in (left, right) or left == right for left, right in zip(one, other, strict=True))


class FrameSplicer:
    """Splicer of the frames and messages of a catalog."""

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source
        self._reader = FrameReader(source)
        self._splicers = Splicers(source)
        self._topics = TopicRenaming(self._splicers)
        self._brokers = BrokerRewriting(self._splicers)
        self._program = lru_cache(MAX_SPLICERS)(self._make_program)
        self._requests = lru_cache(MAX_SPLICERS)(self._find_request)
        self._responses = lru_cache(MAX_SPLICERS)(self._find_response)

    def splice(
        self,
        frame: Buffer,
        changes: Changes,
        api_key: int | None = None,
        api_version: int | None = None,
        *,
        name: str | None = None,
        version: int | None = None,
        strict: bool = True,
    ) -> bytes:
        """Rewrite fields of a frame or message by their paths, and copy all other bytes.

        Arguments:
            frame: a request frame without its 4-byte length; with `api_key` and `api_version` a response frame; with `name` and `version`
                one message of any kind. Any contiguous buffer.
            changes: new values by path; each is a value, or a mapping or function from the old value to the new one. A path is
                ``topics[2].name`` (one place), ``topics.name`` (all of them) or, in frames, ``header.client_id``. Values are those that
                decoding gives. A place of one path must be there when it gets a value; else what is there is rewritten.
            api_key, api_version: of the request that a response answers.
            name, version: of a message.
            strict: trailing bytes are an error; else they are copied, because brokers ignore them: librdkafka's list_topics() sends
                three bytes too many behind Metadata v12.

        Returns:
            The new bytes; where nothing changes, the same ones.

        Raises:
            WireError: the bytes break a rule, before the fields or behind them; as decoding with a projection on the fields says it.
            EncodeError: a path names no field of the version, or no place of the bytes, or a value does not fit its field.
            KwireError: there is no message of this name.
            TypeError: a version without what it is the version of, or the other way round.
        """
        body: dict[str, Any] = {}
        head: dict[str, Any] = {}
        for path, change in changes.items():
            if name is None and path.startswith(_HEADER):
                head[path[len(_HEADER) :]] = change
            else:
                body[path] = change
        work = partial(self._work, changes=body) if body else None
        return self._spliced(frame, api_key, api_version, name, version, work, head, strict)

    def rename_topics(
        self,
        frame: Buffer,
        names: Names,
        api_key: int | None = None,
        api_version: int | None = None,
        *,
        name: str | None = None,
        version: int | None = None,
        protocol_type: str | None = None,
        uncovered: Uncovered = "refuse",
        strict: bool = True,
    ) -> bytes:
        """Rename topics in all places of a frame or message, and copy all other bytes.

        Found by schema in every message and version of the catalog: fields that Kafka types as `topicName`, those that it leaves untyped,
        resources of type topic (configurations, ACLs), subscriptions and assignments of consumers in the bytes of groups, user data of the
        sticky assignor. Contents of records, telemetry and texts of errors are not looked into.

        Arguments:
            frame, api_key, api_version, name, version, strict: as in `splice`.
            names: old name -> new name; names missing from a mapping stay. A function is not called for null and empty names.
            protocol_type: protocol type of the group (`consumer`), for versions without it: JoinGroup responses up to 6, SyncGroup up to 4.
            uncovered: action for non-empty fields that may hold names that cannot be renamed: patterns (regular expressions, ACLs of
                prefixes), the frame in an Envelope, user data of other assignors, groups of other types. `refuse` or `keep`.

        Raises:
            WireError: as in `splice`, also for subscriptions and assignments; an API or version that the catalog does not know.
            EncodeError: what cannot be renamed is there, and is not to be kept; or a new name is none.
            KwireError, TypeError: as in `splice`.
        """
        if uncovered not in ("refuse", "keep"):
            raise ValueError(f"uncovered is 'refuse' or 'keep', not {uncovered!r}")

        work = self._topics.works(names, protocol_type, uncovered)
        return self._spliced(frame, api_key, api_version, name, version, work, {}, strict)

    def rewrite_brokers(
        self,
        frame: Buffer,
        addresses: Addresses,
        api_key: int | None = None,
        api_version: int | None = None,
        *,
        name: str | None = None,
        version: int | None = None,
        strict: bool = True,
    ) -> bytes:
        """Rewrite every address of a broker in a frame or message, and copy all other bytes.

        Found by schema in every message and version of the catalog: Metadata, FindCoordinator, DescribeCluster, the tagged node endpoints
        of Produce, Fetch, ShareFetch and ShareAcknowledge, and those that brokers and controllers exchange.

        Arguments:
            frame, api_key, api_version, name, version, strict: as in `splice`.
            addresses: a function of one argument, a `kwire.codec.broker_addresses.BrokerAddress` with node id, host, port, listener,
                message and path, that gives (host, port); a function of three, (node id, host, port); or a mapping to (host, port). A
                mapping is searched for (host, port), then the node id or, where the message names the listener, for (node id, listener):
                a node that is broker and controller has one id. It must have every address that comes up, so that none slips through. The
                node id is None if the message does not have it (requests to change the leader of a quorum). An answer that names no broker
                (node id -1, empty host) stays.

        Raises:
            WireError: as in `splice`; an API or version that the catalog does not know.
            EncodeError: a mapping lacks a broker, a new address is none, or the message may hold addresses that cannot be rewritten (the
                frame in an Envelope).
            KwireError, TypeError: as in `splice`.
        """

        work = self._brokers.works(addresses)
        return self._spliced(frame, api_key, api_version, name, version, work, {}, strict)

    def _spliced(
        self,
        frame: Buffer,
        api_key: int | None,
        api_version: int | None,
        name: str | None,
        version: int | None,
        work: WorkOf | None,
        head: Changes,
        strict: bool,
    ) -> bytes:
        if name is None and version is None:
            if api_key is None and api_version is None:
                return self._request(frame, work, head, strict)
            if api_key is not None and api_version is not None:
                return self._response(frame, api_key, api_version, work, head, strict)
        elif name is not None and version is not None and api_key is None and api_version is None:
            return _message(name, version, frame, 0, work, strict)
        raise TypeError("give api_key and api_version for a response, name and version for a message, and neither for a request")

    def _request(self, frame: Any, work: WorkOf | None, head: Changes, strict: bool) -> bytes:
        header, offset = self._reader.read_request_header(frame, strict=False)
        api_key, version = header.api_key, header.api_version
        name, header_version = self._requests(api_key, version)
        if not name:
            refusal = self._reader.request_decoder(api_key, version, None, frame)
            if work is not None or isinstance(refusal, BadLength):
                raise refusal
        made = _message(name, version, frame, offset, work, strict)
        return self._header(frame, offset, "RequestHeader", header_version, head) + made[offset:] if head else made

    def _find_request(self, api_key: int, api_version: int) -> tuple[str, int]:
        """Return the name of a request, empty if unknown, and the version of its header."""
        message = self._source.catalog.request(api_key)
        if message is None:
            return "", UNKNOWN_API_HEADER
        name = message.name if api_version in message.valid_versions else ""
        return name, header_version_of(message.header_versions, max(api_version, 0))

    def _response(self, frame: Any, api_key: int, api_version: int, work: WorkOf | None, head: Changes, strict: bool) -> bytes:
        name, header_version, skip = self._responses(api_key, api_version)
        offset = skip(frame)
        before = self._header(frame, offset, "ResponseHeader", header_version, head) if head else None
        try:
            if work is not None and not name:
                raise self._reader.response_decoders(api_key, api_version, None)[1]
            made = _message(name, api_version, frame, offset, work, strict)
        except WireError:
            # a broker that does not know the version answers in version 0 (KIP-511), as decoding has it
            if api_key != API_VERSIONS or not self._reader.is_refusal(frame, offset):
                raise
            made = _message("ApiVersionsResponse", 0, frame, offset, work, strict)
        return made if before is None else before + made[offset:]

    def _find_response(self, api_key: int, api_version: int) -> tuple[str, int, Callable[[Any], int]]:
        """Return the name of a response, empty if unknown, the version of its header, and the reader that skips the header."""
        message = self._source.catalog.response(api_key)
        header_version = 0 if message is None else header_version_of(message.header_versions, api_version)
        known = message is not None and api_version in message.valid_versions
        name = message.name if message is not None and known else ""
        return name, header_version, self._source.decoder("ResponseHeader", header_version).skip

    def _header(self, frame: Any, offset: int, name: str, version: int, changes: Changes) -> bytes:
        for path in changes:
            if path in _TOLD_BY_HEADER:
                raise EncodeError("it says how the rest is read, a splice cannot change it", path=_HEADER + path)
        return _message(name, version, bytes(as_buffer(frame)[:offset]), 0, partial(self._work, changes=changes), True)

    def _make_program(self, name: str, version: int, *paths: str) -> tuple[Any, tuple[tuple[str, _SplicedField], ...]]:
        """Create the program for some paths, and return the place of each, in the order of the program's choices."""
        plan, message = self._source.plan(name, version), self._source.message(name)
        fields: dict[str, list[tuple[str, _SplicedField]]] = {}
        for text in paths:
            path = parse_path(text)
            place = _SplicedField(plan, path._replace(fields=current_path(message, version, path.fields)), text)
            others = fields.setdefault(place.fields, [])
            for other, met in others:
                if _meet(place.pattern, met.pattern):
                    raise EncodeError(f"{other!r} and {text!r} name the same field", message=name, api_version=version)
            others.append((text, place))
        patterns = tuple(tuple(place.pattern for _, place in found) for found in fields.values())
        program = self._splicers.get(name, version, tuple(fields), (), patterns)
        return program, tuple(each for found in fields.values() for each in found)

    def _work(self, name: str, version: int, changes: Changes) -> Work:
        program, places = self._program(name, version, *changes)
        return program, tuple([_action(place, changes[text], text, name, version) for text, place in places]), ()


def _message(name: str, version: int, data: Any, offset: int, work_of: WorkOf | None, strict: bool) -> bytes:
    """Rewrite the message at `offset`."""
    work = None if work_of is None else work_of(name, version)
    if work is None:
        return bytes(as_buffer(data))
    program, singles, rules = work
    made: bytes = program.splice(data, offset, singles, rules, strict)
    return made


def _action(place: _SplicedField, change: Any, text: str, name: str, version: int) -> EditAction:
    if isinstance(change, (str, int)) or not (callable(change) or isinstance(change, Mapping)):
        try:
            return SetValue(change, content_of(place.code, place.nullable, change), text if place.single else "")
        except EncodeError as error:
            reason = error.reason
        raise EncodeError(reason, path=text, message=name, api_version=version)
    if type(change) is dict and place.code == Op.STRING:
        return MapValue(change)
    if isinstance(change, Mapping):
        return ApplyFunction(lambda old: change.get(old, old))
    return ApplyFunction(change)


_SPLICER: Final = FrameSplicer(compiled())

splice: Final = _SPLICER.splice
rename_topics: Final = _SPLICER.rename_topics
rewrite_brokers: Final = _SPLICER.rewrite_brokers
