"""First bytes of everything that talks to a Kafka port, in any pieces."""

from __future__ import annotations

import pytest

from kwire.protocol.tracking.foreign_protocols import MORE, recognise, recognise_middle, recognise_server
from kwire.protocol.tracking.frames import MAX_FRAME

API_VERSIONS = bytes.fromhex("0000001500120000000000010007686f7374696c65") + bytes(4)
PROXY_V2 = bytes.fromhex("0d0a0d0a000d0a515549540a")

CLIENTS = {
    "kafka": API_VERSIONS,
    "kafka-metadata-v0": bytes.fromhex("00000012 0003 0000 00000007 0004 70756d70 00000000"),
    "http": b"GET /metrics HTTP/1.1\r\n",
    "http-post": b"POST / HTTP/1.1\r\n",
    "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "tls": bytes.fromhex("160301008d0100008903030001020304"),
    "tls-alert": bytes.fromhex("15030300020100"),
    "unknown-length-like-tls": bytes.fromhex("160301000000000000"),
    "ssh": b"SSH-2.0-OpenSSH_9.2p1\r\n",
    "postgres-ssl": bytes.fromhex("0000000804d2162f"),
    "postgres-startup": bytes.fromhex("00000029 00030000") + b"user\0app\0database\0app\0\0",
    "redis": b"*1\r\n$4\r\nPING\r\n",
    "redis-inline": b"PING\r\n",
    "smtp": b"EHLO mail\r\n",
    "amqp": b"AMQP\0\0\x09\x01",
    "zookeeper": b"ruok",
    "unknown-negative": bytes.fromhex("fffffffe0012"),
    "unknown-large": bytes.fromhex("7fffffff0012"),
    "unknown-random": bytes.fromhex("e7eee7615ef35f30"),
}
SERVERS = {
    "kafka": bytes.fromhex("00000010000000010000"),
    "http": b"HTTP/1.1 400 Bad Request\r\n",
    "ssh": b"SSH-2.0-x\r\n",
    "smtp": b"220 mail ESMTP\r\n",
    "mysql": bytes.fromhex("4a0000000a") + b"8.0.36\0",
    "tls": bytes.fromhex("160303007a0200007603"),
    "unknown": bytes.fromhex("fffffff70000"),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_is_recognised_and_never_taken_for_another_on_the_way(name: str) -> None:
    data = CLIENTS[name]
    said = [recognise(data[:size], MAX_FRAME) for size in range(1, len(data) + 1)]
    final = said[-1]
    assert final.protocol == name.split("-")[0]
    assert all(verdict in (MORE, final) for verdict in said)


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_recognised_and_never_taken_for_another_on_the_way(name: str) -> None:
    data = SERVERS[name]
    said = [recognise_server(data[:size], MAX_FRAME) for size in range(1, len(data) + 1)]
    assert said[-1].protocol == name
    assert all(verdict in (MORE, said[-1]) for verdict in said)


@pytest.mark.parametrize(
    ("header", "address"),
    [
        (b"PROXY TCP4 203.0.113.7 198.51.100.9 51234 20192\r\n", "203.0.113.7:51234"),
        (b"PROXY TCP6 2001:db8::7 2001:db8::9 51234 9092\r\n", "[2001:db8::7]:51234"),
        (b"PROXY UNKNOWN\r\n", None),
        (PROXY_V2 + bytes.fromhex("2111000c cb007107 c6336409 c822 4ee0"), "203.0.113.7:51234"),
        (
            PROXY_V2 + bytes.fromhex("21210024") + bytes.fromhex("20010db8" + "00" * 11 + "07") + bytes(16) + bytes.fromhex("c8222384"),
            "[2001:db8::7]:51234",
        ),
        (PROXY_V2 + bytes.fromhex("20000000"), None),
    ],
)
def test_proxy_headers_name_the_client_and_their_own_size(header: bytes, address: str | None) -> None:
    for size in range(1, len(header)):
        assert recognise(header[:size], MAX_FRAME) == MORE
    for behind in (b"", API_VERSIONS):
        verdict = recognise(header + behind, MAX_FRAME)
        assert verdict.protocol == "proxy"
        assert verdict.proxy == (len(header), address)


def test_a_proxy_line_that_never_ends_is_none() -> None:
    assert recognise(b"PROXY TCP4 " + b"1" * 100, MAX_FRAME).protocol == "unknown"
    assert recognise(b"PROXY TCP4 999.0.0.1 198.51.100.9 51234 20192\r\n", MAX_FRAME).protocol == "unknown"


def test_a_tls_record_is_seen_in_the_middle_of_a_connection() -> None:
    assert recognise_middle(bytes.fromhex("1703030045")).protocol == "tls"
    assert recognise_middle(bytes.fromhex("1703")) == MORE
    assert recognise_middle(bytes.fromhex("1703034200")).protocol == "kafka"
    assert recognise_middle(b"some payload").protocol == "kafka"
