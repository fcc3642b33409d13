"""What a TLS hello shows, from messages built by hand."""

from __future__ import annotations

import pytest

from kwire.protocol.tls_handshake import first_certificate, read_ticket
from kwire.protocol.tls_hello import HelloReader


def vector(width: int, data: bytes) -> bytes:
    return len(data).to_bytes(width, "big") + data


def extension(number: int, data: bytes) -> bytes:
    return number.to_bytes(2, "big") + vector(2, data)


def records(kind: int, body: bytes, size: int = 1 << 14) -> bytes:
    message = bytes([kind]) + vector(3, body)
    return b"".join(b"\x16\x03\x01" + vector(2, message[at : at + size]) for at in range(0, len(message), size))


NAME = extension(0, vector(2, b"\0" + vector(2, b"kafka.example.org")))
VERSIONS = extension(43, vector(1, bytes.fromhex("1a1a03040303")))
CLIENT = b"\x03\x03" + bytes(32) + vector(1, bytes(32)) + vector(2, b"\x13\x01\x13\x02") + vector(1, b"\0") + vector(2, NAME + VERSIONS)
SERVER_12 = b"\x03\x03" + bytes(32) + vector(1, b"") + b"\xc0\x2f\0" + vector(2, b"")
SERVER_13 = b"\x03\x03" + bytes(32) + vector(1, b"") + b"\x13\x01\0" + vector(2, extension(43, b"\x03\x04"))


@pytest.mark.parametrize("size", [1 << 14, 50, 7])
@pytest.mark.parametrize("step", [10_000, 11, 1])
def test_a_client_hello_in_any_pieces(size: int, step: int) -> None:
    data = records(1, CLIENT, size)
    reader = HelloReader()
    for at in range(0, len(data), step):
        reader.take(data[at : at + step])
    assert (reader.version, reader.server_name, reader.done) == ("TLS 1.3", "kafka.example.org", True)


def test_the_server_chooses_the_version() -> None:
    for body, version in ((SERVER_12, "TLS 1.2"), (SERVER_13, "TLS 1.3")):
        reader = HelloReader()
        reader.take(records(2, body))
        assert (reader.version, reader.server_name) == (version, None)


def test_a_hello_that_is_cut_says_what_it_holds() -> None:
    reader = HelloReader()
    reader.take(records(1, CLIENT)[:-6])
    assert (reader.version, reader.server_name, reader.ja3, reader.done) == ("TLS 1.2", "kafka.example.org", None, False)


def test_other_records_end_the_search() -> None:
    reader = HelloReader()
    reader.take(b"\x15\x03\x03\x00\x02\x02\x28")
    assert (reader.version, reader.done) == (None, True)
    reader.take(records(1, CLIENT))
    assert reader.version is None


def sixteen(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "big") for value in values)


CIPHERS = sixteen(0x0A0A, 47, 53, 5, 10, 49161, 49162, 49171, 49172, 50, 56, 19, 4)
GROUPS = extension(10, vector(2, sixteen(0x2A2A, 23, 24, 25)))
FORMATS = extension(11, vector(1, b"\0"))
GREASE = extension(0xFAFA, b"")


@pytest.mark.parametrize("step", [10_000, 3])
def test_the_fingerprint_is_the_published_one(step: int) -> None:
    """Both strings and their digests are the examples in JA3's own description; GREASE, which it leaves out, is added here."""
    hello = b"\x03\x01" + bytes(32) + vector(1, b"") + vector(2, CIPHERS) + vector(1, b"\0") + vector(2, GREASE + NAME + GROUPS + FORMATS)
    plain = b"\x03\x01" + bytes(32) + vector(1, b"") + vector(2, sixteen(4, 5, 10, 9, 100, 98, 3, 6, 19, 18, 99)) + vector(1, b"\0")
    for body, digest in ((hello, "ada70206e40642a3e4461f35503241d5"), (plain, "de350869b8c85de67a350c8d186f11e6")):
        data, reader = records(1, body), HelloReader()
        for at in range(0, len(data), step):
            reader.take(data[at : at + step])
        assert reader.ja3 == digest


def test_certificates_and_tickets_are_read_whole_or_not_at_all() -> None:
    """By hand: Certificate with and without the request context of TLS 1.3, NewSessionTicket with and without age and nonce."""
    chain = b"\0\0\x0a" + b"\0\0\2ab" + b"\0\0\2cd"
    assert first_certificate(b"\x0b\0\0\x0d" + chain, is_13=False) == b"ab"
    assert first_certificate(b"\x0b\0\0\x10" + b"\2xx" + chain, is_13=True) == b"ab"
    assert first_certificate(b"\x0b\0\0\3" + b"\0\0\0", is_13=False) is None
    assert first_certificate(b"\x0b\0\0\x0a" + b"\0\0\4" + b"\0\0\2ab", is_13=False) is None  # longer than its chain
    ticket = b"\0\3abc"
    assert read_ticket(b"\4\0\0\x09" + b"life" + ticket, is_13=False) == b"abc"
    assert read_ticket(b"\4\0\0\x12" + b"life" + b"aged" + b"\2nn" + ticket + b"\0\0", is_13=True) == b"abc"
    for size in range(4, 17):
        assert first_certificate((b"\x0b\0\0\x0d" + chain)[:size], is_13=False) is None
    for size in range(4, 13):
        assert read_ticket((b"\4\0\0\x09" + b"life" + ticket)[:size], is_13=False) == b""
