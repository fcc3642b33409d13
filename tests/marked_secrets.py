"""Messages of every api and version with a mark in each field that holds a secret, and a search for the marks in what kwire writes."""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.codec import records
from kwire.protocol.nested_rules import RULES
from kwire.protocol.secrets.secret_texts import SECRET_TEXTS
from kwire.schema import Field, Message, catalog

_WORD = b"Zq7Wx9Kp"
_SPELLED = re.compile(
    b"|".join(
        (
            _WORD,
            _WORD.hex().encode(),
            _WORD.hex().upper().encode(),
            # base64 of the word inside other bytes begins at any of three places; the characters that it shares with its neighbours vary
            *(re.escape(base64.b64encode(b"\0" * lead + _WORD)[lead + bool(lead) : (lead + 8) * 8 // 6]) for lead in range(3)),
        )
    )
)
PROTOCOL_TYPES = ("consumer", "connect", "custom")
_KEPT = {"principal": b"", "address": bytes((10, 0, 0, 7)), "metrics": b""}  # nested, and part of the tables


class Exchange(NamedTuple):
    """Frames without their lengths, in the order of a connection."""

    api_key: int
    api_version: int
    frames: tuple[tuple[bool, bytes], ...]  # from the client, bytes


def found_in(data: bytes) -> list[bytes]:
    return [data[max(each.start() - 80, 0) : each.end() + 20] for each in _SPELLED.finditer(data)]


class Marker:
    """Makes messages with marks, and keeps message and field of each."""

    def __init__(self) -> None:
        self.marks: dict[bytes, tuple[str, str]] = {}

    def mark(self, message: str, path: str) -> bytes:
        made = _WORD + b"%06d" % len(self.marks)
        self.marks[made] = message, path
        return made

    def batch(self, message: str, path: str) -> bytes:
        key, value, header = (self.mark(message, f"{path}.{part}") for part in ("key", "value", "header"))
        return bytes(records.encode(records.RecordBatch([(key, value, 1_700_000_000_000, [("h", header)])])))

    def group_bytes(self, name: str, path: str, protocol_type: str) -> bytes:
        """A member's metadata or assignment: a version, and a message with a mark; of an unknown type a mark alone."""
        mark = self.mark(name, path)
        topic = struct.pack(">ih6s", 1, 6, b"orders")
        if protocol_type == "consumer":  # Subscription and Assignment v0: topics (with their partitions), user data
            part = topic + (struct.pack(">ii", 1, 0) if "assignment" in path else b"")
            return b"\0\0" + part + struct.pack(">i", len(mark)) + mark
        if protocol_type == "connect" and "assignment" not in path:  # a worker's metadata v1: URL, offset, allocation
            return b"\0\1" + struct.pack(">h8sqi", 8, b"http://w", 7, len(mark)) + mark
        return mark

    def value(self, message: Message, field: Field, path: str, version: int, protocol_type: str) -> Any:
        key = message.name, path
        rule = RULES.get(key)
        if key in SECRET_TEXTS:
            return self.mark(*key).decode()
        if rule is None:
            if field.element_type != "string" or field.tagged_versions:
                return None
            text = {"protocol_type": protocol_type, "mechanism": "PLAIN"}.get(field.attribute, "orders")
            return [text] if field.is_array else text
        if rule.holds == "record batches":
            return self.batch(*key)
        if rule.holds in ("group metadata", "group assignment"):
            return self.group_bytes(*key, protocol_type)
        if rule.holds == "request frame":
            return self.frame(True, 44, 1, protocol_type)
        if rule.holds == "response frame":
            return self.frame(False, 44, 1, protocol_type)
        if rule.holds == "SASL token of the client":
            return b"\0alice\0" + self.mark(*key)
        return _KEPT.get(rule.holds) if rule.holds in _KEPT else self.mark(*key)

    def filled(self, message: Message, name: str, version: int, prefix: str, protocol_type: str) -> Any:
        """An object of the message or of one of its structs: arrays of one element."""
        kind, given = getattr(messages, message.name), {}
        for field in message.structs[name].fields:
            path = f"{prefix}{field.attribute}"
            if version not in field.versions:
                continue
            if field.is_struct:
                inner = self.filled(message, field.element_type, version, f"{path}.", protocol_type)
                given[field.attribute] = [inner] if field.is_array else inner
            elif (value := self.value(message, field, path, version, protocol_type)) is not None:
                given[field.attribute] = value
        made = (kind if name == message.name else getattr(kind, name))(**given)
        if message.is_flexible(version):  # a tag that no version defines
            made.unknown_tagged_fields = ((900, self.mark(message.name, f"{prefix}900")),)
        return made

    def frame(self, asked: bool, api_key: int, version: int, protocol_type: str) -> bytes:
        message = catalog().request(api_key) if asked else catalog().response(api_key)
        assert message is not None
        body = self.filled(message, message.name, version, "", protocol_type)
        if not asked:
            return bytes(kwire.encode_response(7, body, api_key, version))
        header = messages.RequestHeader(api_key=api_key, api_version=version, correlation_id=7, client_id="shop")
        return bytes(kwire.encode_request(header, body))

    def exchanges(self) -> Iterator[Exchange]:
        """Each api in each version; those of groups with members of each protocol type; some with bytes behind the message."""
        for key in catalog().api_keys:
            request, response = catalog().request(key), catalog().response(key)
            assert request is not None
            assert response is not None
            grouped = any(rule.holds.startswith("group ") for (name, _), rule in RULES.items() if name in (request.name, response.name))
            for version in request.valid_versions:
                for protocol_type in PROTOCOL_TYPES if grouped else PROTOCOL_TYPES[:1]:
                    pair = tuple((asked, self.frame(asked, key, version, protocol_type)) for asked in (True, False))
                    yield Exchange(key, version, pair)
            behind = tuple((asked, frame + self.mark("", "behind the message")) for asked, frame in pair)
            yield Exchange(key, version, behind)
            cut = len(pair[0][1]) * 2 // 3
            yield Exchange(key, version, ((True, pair[0][1][:cut]), pair[1]))
        yield from self.logins()
        unknown = struct.pack(">hhi", 999, 0, 7) + struct.pack(">h4s", 4, b"shop") + self.mark("", "body of an unknown api")
        yield Exchange(999, 0, ((True, unknown),))

    def logins(self) -> Iterator[Exchange]:
        """Each mechanism, with its tokens in SaslAuthenticate and, behind SaslHandshake v0, without a header."""
        for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI", "OTHER"):
            for version in (0, 1):
                mark = self.mark("", f"token of {mechanism}")
                if mechanism == "PLAIN":
                    token, answer = b"\0alice\0" + mark, b""
                elif mechanism.startswith("SCRAM"):
                    token, answer = b"n,,n=alice,r=" + mark, b"r=" + mark + b",s=" + mark + b",i=4096"
                elif mechanism == "OAUTHBEARER":
                    token, answer = b"n,,\x01auth=Bearer " + mark + b"\x01\x01", mark
                else:
                    token, answer = mark, mark
                header = messages.RequestHeader(api_key=17, api_version=version, correlation_id=7, client_id="shop")
                asked = bytes(kwire.encode_request(header, messages.SaslHandshakeRequest(mechanism=mechanism)))
                answered = bytes(kwire.encode_response(7, messages.SaslHandshakeResponse(mechanisms=[mechanism]), 17, version))
                if version:
                    header = messages.RequestHeader(api_key=36, api_version=2, correlation_id=8, client_id="shop")
                    token = bytes(kwire.encode_request(header, messages.SaslAuthenticateRequest(auth_bytes=token)))
                    answer = bytes(kwire.encode_response(8, messages.SaslAuthenticateResponse(auth_bytes=answer), 36, 2))
                yield Exchange(17, version, ((True, asked), (False, answered), (True, token), (False, answer)))


def write_capture(path: Path, exchanges: list[Exchange]) -> None:
    """A pcap of IP packets: a connection for each exchange, from a port of its own to 10.0.0.1:9092."""
    packets: list[bytes] = []

    def packet(from_client: bool, port: int, numbers: list[int], flags: int, payload: bytes = b"") -> None:
        ends, hosts = (port, 9092), (b"\x0a\0\0\x09", b"\x0a\0\0\1")
        side = 0 if from_client else 1
        tcp = struct.pack(
            ">HHIIBBHHH", ends[side], ends[1 - side], numbers[side], numbers[1 - side] if flags & 16 else 0, 80, flags, 65_000, 0, 0
        )
        total = 40 + len(payload)
        ip = struct.pack(">BBHHHBBH4s4s", 69, 0, total, 1, 0, 64, 6, 0, hosts[side], hosts[1 - side])
        seconds, rest = divmod(1_700_000_000_000_000 + 1000 * len(packets), 1_000_000)
        packets.append(struct.pack("<IIII", seconds, rest, total, total) + ip + tcp + payload)
        numbers[side] += len(payload) + bool(flags & 3)

    for port, exchange in enumerate(exchanges, 20_000):
        numbers = [1000, 9000]
        for from_client, flags in ((True, 2), (False, 18), (True, 16)):
            packet(from_client, port, numbers, flags)
        for from_client, frame in exchange.frames:
            packet(from_client, port, numbers, 24, framed(frame))
        for from_client in (True, False):
            packet(from_client, port, numbers, 17)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101) + b"".join(packets))
