"""Contents of every `bytes` and `records` field of every message.

A field is *nested* (a decoder reads it), *opaque* (plain data, or a private format of its writer) or *secret* (only its length is kept, and
a hash if the value cannot be guessed). Invalid bytes never raise.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final, Literal, NamedTuple

from kwire.codec.classes import compiled
from kwire.codec.decoding import decode_request, decode_response
from kwire.codec.frames import Opaque, Request, Response
from kwire.codec.group_definitions import compiled_groups
from kwire.errors import Fault, InputError, WireError, wire_error
from kwire.protocol.embedded import PREFIX, Embedded, opaque, prefix_of, read_embedded
from kwire.protocol.groups import read_group_assignment, read_group_metadata, read_user_data
from kwire.protocol.groups.guessing import guess_protocol_type
from kwire.protocol.nested_rules import RULES, Rule
from kwire.protocol.sasl import attempted_name
from kwire.protocol.telemetry import decode_metrics
from kwire.schema import catalog

__all__ = ["DECODERS", "MAX_DEPTH", "NOTHING_KNOWN", "Hidden", "Known", "Rule", "decode", "decode_nested", "read_principal", "rule_of"]

MAX_DEPTH: Final = 4
"""Deepest nesting: an Envelope with a JoinGroup with a subscription with user data. Kafka does not nest Envelopes."""


@dataclass(frozen=True, slots=True)
class Known:
    """Context of a message that its version may lack.

    Attributes:
        protocol_type: type of the group (KIP-559: missing in JoinGroupResponse below v7 and SyncGroup below v5).
        protocol_name: assignor, whose user data a subscription may hold.
        sasl_mechanism: from the connection's SaslHandshake.
        carried: API key and version of the request inside the Envelope that a response answers.
        compression_type: of pushed metrics.
        guess: guess the type of a group (`Guessed`); KIP-559 rejects guessing, so by default nothing is guessed.
    """

    protocol_type: str | None = None
    protocol_name: str | None = None
    sasl_mechanism: str | None = None
    carried: tuple[int, int] | None = None
    compression_type: int = 0
    guess: bool = False


NOTHING_KNOWN: Final = Known()


@dataclass(slots=True, repr=False)
class Hidden:
    """Description of a secret field, without its value.

    Attributes:
        length: its bytes.
        digest: first 12 hexadecimal digits of its SHA-256 if it was generated; None for values that can be guessed, such as passwords.
        principal: `User:NAME` claimed by a SASL token, None without one.
    """

    length: int
    digest: str | None = None
    principal: str | None = None

    def __repr__(self) -> str:
        more = "".join((f", sha256 {self.digest}" if self.digest else "", f", {self.principal!r}" if self.principal else ""))
        return f"Hidden({self.length} bytes{more})"


class _Found(NamedTuple):
    value: Any
    version: int | None = None
    known: Known = NOTHING_KNOWN


def rule_of(message_name: str, field_path: str) -> Rule:
    """Return the rule of a field of type `bytes` or `records`.

    Arguments:
        message_name: such as `JoinGroupRequest`.
        field_path: in snake_case without indexes, such as `protocols.metadata`.

    Raises:
        InputError: unknown field.
    """
    rule = RULES.get((message_name, field_path))
    if rule is None:
        raise InputError(f"{message_name} has no field {field_path!r} of type bytes or records.")
    return rule


def _of_embedded(reading: Embedded, known: Known) -> _Found:
    return _Found(reading.message, reading.read_as, known)


def _group(holds: Literal["metadata", "assignment"], data: Any, known: Known) -> _Found:
    if known.guess and known.protocol_type is None and (guessed := guess_protocol_type(holds, data)) is not None:
        return _Found(guessed)
    read = read_group_metadata if holds == "metadata" else read_group_assignment
    return _of_embedded(read(known.protocol_type, data), known)


def _request_frame(data: Any, known: Known) -> _Found:
    try:
        request = decode_request(data, strict=False)
    except WireError as error:
        return _Found(Opaque(bytes(data), error))
    return _Found(request, request.header.api_version)


def _response_frame(data: Any, known: Known) -> _Found:
    if known.carried is None:
        return _Found(Opaque(bytes(data), wire_error(Fault.UNKNOWN_API, 0, "", reason="its API key and version are unknown")))
    try:
        response = decode_response(data, *known.carried, strict=False)
    except WireError as error:
        return _Found(Opaque(bytes(data), error))
    return _Found(response, response.api_version)


def read_principal(data: Any) -> Embedded:
    """Read a principal that a broker forwards (`DefaultKafkaPrincipalBuilder`), version first; never raise for bytes.

    A broker with its own principal builder usually writes something other than `DefaultPrincipalData`.
    """
    name = "DefaultPrincipalData"
    try:
        version = prefix_of(data, name, "version")
    except WireError as error:
        return opaque(data, error)
    return read_embedded(compiled(), name, version, data, PREFIX, False)


def _address(data: Any, known: Known) -> _Found:
    try:
        return _Found(str(ipaddress.ip_address(bytes(data))))
    except ValueError:
        reason = f"an address of {len(data)} bytes is neither IPv4 nor IPv6"
        return _Found(Opaque(bytes(data), wire_error(Fault.BAD_LENGTH, 0, reason=reason)))


def _metrics(data: Any, known: Known) -> _Found:
    try:
        return _Found(decode_metrics(data, known.compression_type))
    except WireError as error:
        return _Found(Opaque(bytes(data), error))
    except InputError as error:  # no package to read them with: that is no reason to stop at the other fields
        return _Found(Opaque(bytes(data), WireError(str(error))))


def _record_batches(data: Any, known: Known) -> _Found:
    from kwire.codec import records

    return _Found(records.decode(data, strict=False))  # what is wrong is in the batches


DECODERS: Final[dict[str, Callable[[Any, Known], _Found]]] = {
    "group metadata": partial(_group, "metadata"),
    "group assignment": partial(_group, "assignment"),
    "consumer metadata": lambda data, known: _of_embedded(read_group_metadata("consumer", data), known),
    "connect assignment": lambda data, known: _of_embedded(read_group_assignment("connect", data), known),
    "user data": lambda data, known: _of_embedded(read_user_data(known.protocol_name, data), known),
    "request frame": _request_frame,
    "response frame": _response_frame,
    "principal": lambda data, known: _of_embedded(read_principal(data), known),
    "address": _address,
    "metrics": _metrics,
    "record batches": _record_batches,
}


def _hide(rule: Rule, data: Any, known: Known) -> Hidden:
    token = bytes(data)
    principal = None
    if rule.holds == "SASL token of the client":
        name = attempted_name(known.sasl_mechanism, token)
        principal = None if name is None else f"User:{name}"
    return Hidden(len(token), hashlib.sha256(token).hexdigest()[:12] if rule.hashed else None, principal)


def _look(rule: Rule, data: Any, known: Known, depth: int) -> _Found:
    if rule.kind == "secret":
        return _Found(_hide(rule, data, known))
    if rule.kind == "opaque":
        return _Found(bytes(data))
    if depth >= MAX_DEPTH:
        reason = f"messages are nested more than {MAX_DEPTH} deep"
        return _Found(Opaque(bytes(data), wire_error(Fault.LIMIT_EXCEEDED, 0, reason=reason)))
    return DECODERS[rule.holds](data, known)


def decode(message_name: str, field_path: str, data: Any, known: Known = NOTHING_KNOWN) -> Any:
    """Decode the bytes of one field; never raise for bytes.

    Arguments:
        message_name, field_path: see `rule_of`.
        data: any contiguous buffer.
        known: context from the surrounding message and the connection.

    Returns:
        A nested field gives a message, a `Request` or `Response`, a list (metric points, record batches), a text (an address), None if
        empty, or `Opaque` if unreadable. An opaque field gives its bytes, a secret field a `Hidden`.

    Raises:
        InputError: unknown field.
    """
    return _look(rule_of(message_name, field_path), data, known, 0).value


@cache
def _rules_at(name: str, version: int) -> tuple[tuple[tuple[str, ...], Rule], ...]:
    own = compiled_groups().catalog
    message = own[name] if name in own else catalog()[name]

    def exists(steps: tuple[str, ...]) -> bool:
        struct = message.structs[message.name]
        for step in steps:
            field = next(each for each in struct.fields if each.attribute == step)
            if version not in field.versions:
                return False
            if field.is_struct:
                struct = message.structs[field.element_type]
        return True

    rules = ((tuple(path.split(".")), rule) for (of, path), rule in RULES.items() if of == name)
    return tuple((steps, rule) for steps, rule in rules if exists(steps))


def _places(owner: Any, steps: tuple[str, ...], path: str, owners: tuple[Any, ...]) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    value = getattr(owner, steps[0], None)  # a projection leaves fields out
    here = f"{path}.{steps[0]}" if path else steps[0]
    if value is None:
        return
    if len(steps) == 1:
        yield here, value, owners
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _places(each, steps[1:], f"{here}[{index}]", (each, *owners))
    else:
        yield from _places(value, steps[1:], here, (value, *owners))


def _told(rule: Rule, owners: tuple[Any, ...], known: Known) -> Known:
    said: dict[str, Any] = {}
    for attribute, field in rule.described_by:
        value = next((getattr(owner, field) for owner in owners if hasattr(owner, field)), None)
        if value is not None:
            said[attribute] = value
    return replace(known, **said) if said else known


def decode_nested(message: Any, version: int, known: Known = NOTHING_KNOWN, *, records: bool = False) -> Iterator[tuple[str, Any]]:
    """Decode every `bytes` and `records` field of a message, recursively; never raise for bytes.

    Arguments:
        message: message object; an `Opaque` yields nothing.
        version: version in which it was read.
        known: context that the message does not contain.
        records: decode record batches too (records are unpacked on access); otherwise yield their bytes.

    Yields:
        Path of the field (`protocols[0].metadata`, and `protocols[0].metadata.user_data` inside it) and the result of `decode`, in the
        order of the rules; null fields are skipped.
    """
    yield from _nested(message, version, known, records, "", 0)


def _nested(message: Any, version: int, known: Known, records: bool, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    layout = getattr(type(message), "layout", None)
    if layout is None:
        return
    for steps, rule in _rules_at(layout.name, version):
        for path, data, owners in _places(message, steps, prefix, (message,)):
            if rule.holds == "record batches" and not records:
                yield path, bytes(data)
                continue
            found = _look(rule, data, _told(rule, owners, known), depth)
            yield path, found.value
            if found.version is None:
                continue
            if isinstance(found.value, Request | Response):
                yield from _nested(found.value.body, found.version, found.known, records, f"{path}.body", depth + 1)
            else:
                yield from _nested(found.value, found.version, found.known, records, path, depth + 1)
