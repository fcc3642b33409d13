"""Rewrites chosen fields of a frame and copies all other bytes: what `kwire.splice`, `rename_topics` and `rewrite_brokers` do.

What is not rewritten is not decoded either: unknown tagged fields, lengths in more bytes than they need, text that is not UTF-8 and fields
of any value go on as they came. Lengths before what changes are rewritten, so are the sizes of tagged fields around it. A splice changes
values that are there; it adds no elements and no tagged fields, and takes none away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from kwire.codec._pure.primitives import as_buffer
from kwire.codec.broker_addresses import Addresses, BrokerRewriting
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.decoding import API_VERSIONS, UNKNOWN_API_HEADER, FrameReader
from kwire.codec.layout import current_path
from kwire.codec.plan import Plan
from kwire.codec.splice_plan import ANY, Choice, Constant, Path, find_leaf, leaf_of, parse_path
from kwire.codec.splice_values import content_of
from kwire.codec.splicers import MAX_SPLICERS, Splicers, Work, Works
from kwire.codec.topic_renaming import Names, TopicRenaming, Uncovered
from kwire.errors import EncodeError, WireError
from kwire.schema.header_versions import header_version_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["FrameSplicer", "rename_topics", "rewrite_brokers", "splice"]

Changes = Mapping[str, Any]
"""Path -> new value; or a mapping or function from the old value to the new one."""

_HEADER: Final = "header."
_TOLD_BY_HEADER: Final = frozenset(("api_key", "api_version"))


class _ByPath:
    """What is to be done with messages, by the paths of their fields."""

    __slots__ = ("_changes", "_work")

    def __init__(self, work: Callable[[str, int, Changes], Work], changes: Changes) -> None:
        self._work = work
        self._changes = changes

    def __getitem__(self, key: tuple[str, int]) -> Work:
        return self._work(*key, self._changes)


_WorkOf = Works | _ByPath


def _part(data: Any, begin: int, end: int | None) -> bytes:
    return data[begin:end] if type(data) is bytes else bytes(as_buffer(data)[begin:end])


class _Place:
    """A path in a message at a version: its field, the indexes that it asks for and what may be written there."""

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
                reason = f"{name} is no array, it has no element {index}"
                raise EncodeError(reason, path=text, message=plan.message, api_version=plan.version)
        leaf = leaf_of(plan, found.operation)
        self.code = leaf.code
        self.nullable = leaf.nullable
        self.fields = path.fields
        self.pattern = tuple(indexes) if any(index != ANY for index in indexes) else None
        self.single = ANY not in indexes


def _meet(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> bool:
    """Whether a place may have the indexes of both."""
    if one is None or other is None:
        return True
    return all(ANY in (left, right) or left == right for left, right in zip(one, other, strict=True))


class FrameSplicer:
    """Splices the frames and messages of a catalog.

    Arguments:
        source: the compiled catalog.
    """

    def __init__(self, source: CompiledCatalog) -> None:
        self._source = source
        self._reader = FrameReader(source)
        self._splicers = Splicers(source)
        self._topics = TopicRenaming(self._splicers)
        self._brokers = BrokerRewriting(self._splicers)
        self._prepared: dict[tuple[Any, ...], tuple[Any, tuple[tuple[str, _Place], ...]]] = {}
        # api key and version -> name of the message, empty where there is none, and version of the header
        self._requests: dict[tuple[int, int], tuple[str, int]] = {}
        self._responses: dict[tuple[int, int], tuple[str, int, Callable[[Any], int]]] = {}

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
            changes: path -> what becomes of the field: a value, or a mapping or function from the old value to the new one. A path is
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
        work = _ByPath(self._work, body) if body else None
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
        """Rename topics wherever a frame or message says their names, and copy all other bytes.

        Found by schema in every message and version of the catalog: fields that Kafka types as `topicName`, those that it leaves untyped,
        resources of type topic (configurations, ACLs), subscriptions and assignments of consumers in the bytes of groups, user data of the
        sticky assignor. Contents of records, telemetry and texts of errors are not looked into.

        Arguments:
            frame, api_key, api_version, name, version, strict: as in `splice`.
            names: old name -> new name; a mapping leaves a name alone that it lacks. A function is not called for null and empty names.
            protocol_type: of the group (`consumer`), for versions that do not say it: JoinGroup responses up to 6, SyncGroup up to 4.
            uncovered: what to do where names may be that cannot be renamed, and something is there: patterns (regular expressions, ACLs of
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
                node id is None where the message does not say it (requests to change the leader of a quorum). An answer that names no
                broker (node id -1, empty host) stays.

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
        work: _WorkOf | None,
        head: Changes,
        strict: bool,
    ) -> bytes:
        if name is None and version is None:
            if api_key is None and api_version is None:
                return self._request(frame, work, head, strict)
            if api_key is not None and api_version is not None:
                return self._response(frame, api_key, api_version, work, head, strict)
        elif name is not None and version is not None and api_key is None and api_version is None:
            return self._message(name, version, frame, 0, 0, work, strict)
        raise TypeError("give nothing for a request, api_key and api_version for a response, name and version for a message")

    def _request(self, frame: Any, work: _WorkOf | None, head: Changes, strict: bool) -> bytes:
        header, offset = self._reader.read_request_header(frame, strict=False)
        version: int = header.api_version
        name, header_version = self._requests.get((header.api_key, version)) or self._learn_request(header.api_key, version)
        if work is not None and not name:
            raise self._reader.request_decoder(header.api_key, version, None)
        if not head:
            return self._message(name, version, frame, 0, offset, work, strict)
        return self._header(frame, offset, "RequestHeader", header_version, head) + self._message(
            name, version, frame, offset, offset, work, strict
        )

    def _learn_request(self, api_key: int, api_version: int) -> tuple[str, int]:
        message = self._source.catalog.request(api_key)
        if message is None:
            return "", UNKNOWN_API_HEADER
        header_version = header_version_of(message.header_versions, max(api_version, 0))
        if api_version not in message.valid_versions:
            return "", header_version
        return self._requests.setdefault((api_key, api_version), (message.name, header_version))

    def _response(self, frame: Any, api_key: int, api_version: int, work: _WorkOf | None, head: Changes, strict: bool) -> bytes:
        name, header_version, skip = self._responses.get((api_key, api_version)) or self._learn_response(api_key, api_version)
        offset = skip(frame)
        before = self._header(frame, offset, "ResponseHeader", header_version, head) if head else None
        begin = offset if head else 0
        try:
            if work is not None and not name:
                raise self._reader.response_decoders(api_key, api_version, None)[1]
            after = self._message(name, api_version, frame, begin, offset, work, strict)
        except WireError:
            # a broker that does not know the version answers in version 0 (KIP-511), as decoding has it
            if api_key != API_VERSIONS or not self._reader.is_refusal(frame, offset):
                raise
            after = self._message("ApiVersionsResponse", 0, frame, begin, offset, work, strict)
        return after if before is None else before + after

    def _learn_response(self, api_key: int, api_version: int) -> tuple[str, int, Callable[[Any], int]]:
        message = self._source.catalog.response(api_key)
        header_version = 0 if message is None else header_version_of(message.header_versions, api_version)
        skip: Callable[[Any], int] = self._source.decoder("ResponseHeader", header_version).skip
        if message is None or api_version not in message.valid_versions:
            return "", header_version, skip
        return self._responses.setdefault((api_key, api_version), (message.name, header_version, skip))

    def _header(self, frame: Any, offset: int, name: str, version: int, changes: Changes) -> bytes:
        """The new header."""
        for path in changes:
            if path in _TOLD_BY_HEADER:
                raise EncodeError("it says how the rest is read, a splice cannot change it", path=_HEADER + path)
        splicer, singles, rules = self._work(name, version, changes)
        made: bytes = splicer.splice(_part(frame, 0, offset), 0, 0, singles, rules)
        return made

    def _message(self, name: str, version: int, data: Any, begin: int, offset: int, work_of: _WorkOf | None, strict: bool) -> bytes:
        """What follows `begin`, with the message at `offset` rewritten."""
        work = None if work_of is None else work_of[name, version]
        if work is None:
            return _part(data, begin, None)
        splicer, singles, rules = work
        made: bytes = splicer.splice(data, begin, offset, singles, rules, strict)
        return made

    def _prepare(self, name: str, version: int, paths: tuple[str, ...]) -> tuple[Any, tuple[tuple[str, _Place], ...]]:
        """The splicer for some paths, and what each of them means; those of one field follow each other."""
        plan, message = self._source.plan(name, version), self._source.message(name)
        fields: dict[str, list[tuple[str, _Place]]] = {}
        for text in paths:
            path = parse_path(text)
            place = _Place(plan, path._replace(fields=current_path(message, version, path.fields)), text)
            others = fields.setdefault(place.fields, [])
            for other, met in others:
                if _meet(place.pattern, met.pattern):
                    raise EncodeError(f"{other!r} and {text!r} name the same place", message=name, api_version=version)
            others.append((text, place))
        prepared = self._splicers.get(name, version, tuple(fields)), tuple(each for found in fields.values() for each in found)
        if len(self._prepared) >= MAX_SPLICERS:
            self._prepared.pop(next(iter(self._prepared)), None)
        asked = (name, version, *paths)
        self._prepared[asked] = prepared
        return prepared

    def _work(self, name: str, version: int, changes: Changes) -> Work:
        """What changes by path mean for a message at a version."""
        prepared = self._prepared.get((name, version, *changes))
        splicer, places = prepared or self._prepare(name, version, tuple(changes))
        singles: list[tuple[Choice, ...]] = []
        field = ""
        for text, place in places:
            action = change = changes[text]
            path = ""
            kind = type(change)
            if kind is str or kind is int or not (callable(change) or isinstance(change, Mapping)):
                path = text if place.single else ""
                action = _constant(place, change, text, name, version)
            elif kind is not dict and isinstance(change, Mapping):
                action = _looked_up(change)
            choice = tuple.__new__(Choice, (place.pattern, action, path, True))  # as the class makes it, in half the time
            if place.fields == field:
                singles[-1] += (choice,)
            else:
                singles.append((choice,))
                field = place.fields
        return splicer, tuple(singles), ()


def _constant(place: _Place, value: Any, text: str, name: str, version: int) -> Constant:
    try:
        return Constant(content_of(place.code, place.nullable, value))
    except EncodeError as error:
        reason = error.reason
    raise EncodeError(reason, path=text, message=name, api_version=version)


def _looked_up(names: Mapping[Any, Any]) -> Callable[[Any], Any]:
    return lambda old: names.get(old, old)


_SPLICER: Final = FrameSplicer(compiled())

splice: Final = _SPLICER.splice
rename_topics: Final = _SPLICER.rename_topics
rewrite_brokers: Final = _SPLICER.rewrite_brokers
