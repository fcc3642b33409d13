"""Encrypted captures: the large frames of `captures` behind TLS 1.3, and a small capture of real brokers, many times."""

from __future__ import annotations

import gzip
import ipaddress
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from captures import ETHERNET, FILE_HEADER, PACKET_HEADER, producing, write_connection
from kwire.capture.tls.cipher_suites import SUITES
from kwire.capture.tls.key_schedule import keys_13

_SUITE = 0x1301
_RANDOM = bytes(range(32))
_SECRETS = {
    "CLIENT_HANDSHAKE_TRAFFIC_SECRET": b"h" * 32, "SERVER_HANDSHAKE_TRAFFIC_SECRET": b"H" * 32,
    "CLIENT_TRAFFIC_SECRET_0": b"d" * 32, "SERVER_TRAFFIC_SECRET_0": b"D" * 32,
}  # fmt: skip
_MOST_PLAINTEXT = 16384


class Sealed(NamedTuple):
    """A record as a decrypter needs it: key, nonce, ciphertext with its tag, additional data."""

    key: bytes
    nonce: bytes
    body: bytes
    additional: bytes


class Side:
    """One direction: its records, numbered from 0 behind each change of keys."""

    def __init__(self, handshake: bytes, data: bytes) -> None:
        self._secrets = [handshake, data]
        self.sealed: list[Sealed] = []
        self.next_epoch()

    def next_epoch(self) -> None:
        keys = keys_13(self._secrets.pop(0), SUITES[_SUITE])
        self._key, self._iv, self._aead, self._sequence = keys.key, keys.iv, AESGCM(keys.key), 0

    def record(self, data: bytes, kind: int = 23) -> bytes:
        nonce = (int.from_bytes(self._iv, "big") ^ self._sequence).to_bytes(12, "big")
        self._sequence += 1
        header = b"\x17\3\3" + (len(data) + 17).to_bytes(2, "big")
        body = self._aead.encrypt(nonce, data + bytes([kind]), header)
        self.sealed.append(Sealed(self._key, nonce, body, header))
        return header + body


def _vector(width: int, data: bytes) -> bytes:
    return len(data).to_bytes(width, "big") + data


def _message(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + _vector(3, body)


def _talk(plain: Iterator[tuple[int, bytes]], sides: tuple[Side, Side]) -> Iterator[tuple[int, bytes]]:
    """What the sides send: handshake, then records of the plaintext."""
    hello = b"\3\3" + _RANDOM + b"\0" + _vector(2, _SUITE.to_bytes(2, "big")) + b"\1\0" + _vector(2, b"\0\x2b\0\3\2\3\4")
    yield 0, b"\x16\3\1" + _vector(2, _message(1, hello))
    answer = b"\3\3" + bytes(32) + b"\0" + _SUITE.to_bytes(2, "big") + b"\0" + _vector(2, b"\0\x2b\0\2\3\4")
    finished = _message(20, bytes(32))
    yield 1, b"\x16\3\3" + _vector(2, _message(2, answer)) + sides[1].record(finished, 22)
    yield 0, sides[0].record(finished, 22)
    for side in sides:
        side.next_epoch()
    for side, data in plain:
        parts = (data[at : at + _MOST_PLAINTEXT] for at in range(0, len(data), _MOST_PLAINTEXT))
        yield side, b"".join(map(sides[side].record, parts))


def encrypted_frames(target: Path, log: Path, requests: int, size: int = 900_000) -> tuple[int, list[Sealed]]:
    """Write a connection that produces a record of so many bytes with each request, behind TLS 1.3 with AES-128-GCM, and its key log.

    Returns:
        Bytes of plaintext, and the records, for whoever wants to decrypt no more than them.
    """
    sides = (
        Side(_SECRETS["CLIENT_HANDSHAKE_TRAFFIC_SECRET"], _SECRETS["CLIENT_TRAFFIC_SECRET_0"]),
        Side(_SECRETS["SERVER_HANDSHAKE_TRAFFIC_SECRET"], _SECRETS["SERVER_TRAFFIC_SECRET_0"]),
    )
    log.write_text("".join(f"{label} {_RANDOM.hex()} {secret.hex()}\n" for label, secret in _SECRETS.items()))
    plain = list(producing(requests, size))
    write_connection(target, _talk(iter(plain), sides))
    return sum(len(data) for _, data in plain), [each for side in sides for each in side.sealed]


def decrypt(records: list[Sealed]) -> int:
    """What any reader has to do at least; gives the bytes of plaintext."""
    ciphers = {key: AESGCM(key) for key in {each.key for each in records}}
    return sum(len(ciphers[each.key].decrypt(each.nonce, each.body, each.additional)) for each in records)


CAPTURE = Path(__file__).parents[1] / "tests" / "captures" / "data" / "tls.pcapng.gz"
KEY_LOG = CAPTURE.with_name("tls-keys.log")
SERVER_PORTS = range(9092, 9099)
_EPB = struct.Struct("<IIIIIII")


def repeat_encrypted(target: Path, copies: int) -> int:
    """Write copies of the small encrypted capture of real brokers, each with a client address of its own; the secrets are the same.

    Returns:
        The size of the file in bytes.
    """
    data, at, packets = gzip.decompress(CAPTURE.read_bytes()), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            _, _, _, high, low, captured, _ = _EPB.unpack_from(data, at)
            packets.append((high << 32 | low, data[at + 28 : at + 28 + captured]))
        at += size
    first, span = packets[0][0], packets[-1][0] - packets[0][0] + 2_000_000
    with target.open("wb") as out:
        out.write(FILE_HEADER.pack(0xA1B23C4D, 2, 4, 0, 0, 262_144, ETHERNET))
        for copy in range(copies):
            address = (ipaddress.IPv4Address("10.0.0.1") + copy).packed
            for time, packet in packets:
                source, _ = struct.unpack_from(">HH", packet, 34)
                place = 30 if source in SERVER_PORTS else 26  # where the client's address is
                seconds, fraction = divmod(first + (time - first) + copy * span, 1_000_000_000)
                changed = packet[:place] + address + packet[place + 4 :]
                out.write(PACKET_HEADER.pack(seconds & 0xFFFFFFFF, fraction, len(changed), len(changed)) + changed)
        return out.tell()
