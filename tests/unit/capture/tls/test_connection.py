"""TLS connections by hand: every cipher, KeyUpdate, padding, records and frames cut anywhere, losses, wrong keys, hostile bytes."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import tls_wire
from carried_state import packed, unpacked
from kwire.capture.impl import tls_connection
from kwire.capture.tls.cipher_suites import SUITES
from kwire.capture.tls.connection import TlsConnection
from kwire.capture.tls.key_schedule import prf
from kwire.capture.tls.plaintext import Missing, Plain
from kwire.capture.tls.session_keys import SeriesKeys, TlsOptions
from tls_wire import Connection12, Connection13, client_hello, extension, message, record, server_hello, vector

Chunk = tuple[int, bytes]


def outputs(keys: SeriesKeys, chunks: Iterable[Chunk], tls: TlsConnection | None = None) -> tuple[TlsConnection, list[Plain | Missing]]:
    tls = tls or TlsConnection()
    found: list[Plain | Missing] = []
    for number, (side, data) in enumerate(chunks, 1):
        found += tls.receive(keys, side, data, number * 1000, number)
    return tls, found


def plaintext(found: Iterable[Plain | Missing], side: int) -> bytes:
    return b"".join(each.data for each in found if isinstance(each, Plain) and each.side == side)


@pytest.mark.parametrize("suite", [0x1301, 0x1302, 0x1303, 0x1304, 0x1305])
def test_every_suite_of_tls_13_opens(suite: int) -> None:
    wire = Connection13(suite)
    chunks = [*wire.opening(), (0, wire.client.record(b"request", padding=16)), (1, wire.server.record(b"response"))]
    tls, found = outputs(wire.keys(), chunks)
    assert (plaintext(found, 0), plaintext(found, 1)) == (b"request", b"response")
    assert (tls.version, tls.cipher, tls.alpn, tls.decrypted) == ("TLS 1.3", SUITES[suite].name, "kafka", "yes")


@pytest.mark.parametrize("suite", [0x009C, 0xC030, 0xC0AC, 0xC0AE, 0xCCA8, 0x002F, 0x003C, 0xC028])
@pytest.mark.parametrize("encrypt_then_mac", [False, True])
def test_suites_of_tls_12_open(suite: int, encrypt_then_mac: bool) -> None:
    if encrypt_then_mac and SUITES[suite].cipher != "cbc":
        encrypt_then_mac = False  # RFC 7366 is for CBC
    wire = Connection12(suite, encrypt_then_mac=encrypt_then_mac)
    chunks = [*wire.opening(), (0, wire.client.record(b"request" * 9)), (1, wire.server.record(b"")), (1, wire.server.record(b"response"))]
    tls, found = outputs(wire.keys(), chunks)
    assert (plaintext(found, 0), plaintext(found, 1)) == (b"request" * 9, b"response")
    assert (tls.version, tls.decrypted) == ("TLS 1.2", "yes")


def test_pieces_of_any_size_give_the_same() -> None:
    for size in (1, 3, 7, 1000):
        wire = Connection13()
        whole = [*wire.opening(), (0, wire.client.record(b"one") + wire.client.record(b"two")), (1, wire.server.record(b"x" * 300))]
        chunks = [(side, data[at : at + size]) for side, data in whole for at in range(0, len(data), size)]
        _, found = outputs(wire.keys(), chunks)
        assert (plaintext(found, 0), plaintext(found, 1)) == (b"onetwo", b"x" * 300)


@pytest.mark.parametrize("wire", [Connection12(0xC02F), Connection12(0xC027), Connection13()])
def test_state_travels_at_any_moment(wire: Connection12 | Connection13, tmp_path: Path) -> None:
    """States hold no secret of the key log, as bytes or as hex; the key log is read again."""
    path = tmp_path / "keys.log"
    path.write_bytes(wire.key_log())
    keys, tls, text = SeriesKeys(TlsOptions((str(path),))), TlsConnection(), b""
    data = [*wire.opening(), (0, wire.client.record(b"before")), (0, wire.client.record(b"behind"))]
    for side, part in [(side, whole[at : at + 11]) for side, whole in data for at in range(0, len(whole), 11)]:
        text += plaintext(tls.receive(keys, side, part, 1, 1), 0)
        state = packed(tls), packed(keys)
        for line in wire.key_log().split(b"\n")[:-1]:
            secret = line.split()[2]
            assert secret not in b"".join(state).lower()
            assert bytes.fromhex(secret.decode()) not in b"".join(state)
        tls, keys = unpacked(state[0], TlsConnection), unpacked(state[1], SeriesKeys)
    assert text == b"beforebehind"


def test_times_are_those_of_the_first_and_the_last_byte() -> None:
    wire = Connection13()
    made = wire.client.record(b"0123456789")
    chunks = [*wire.opening(), (0, made[:9]), (0, made[9:])]
    _, found = outputs(wire.keys(), chunks)
    # a header of 5, so 4 bytes of the plaintext came with packet 5
    assert found == [Plain(0, b"0123", 5000, 5), Plain(0, b"456789", 6000, 6)]


def test_key_updates_change_the_keys_of_their_direction() -> None:
    wire = Connection13()
    chunks = wire.opening()
    for number in range(3):
        chunks += [(0, wire.client.record(b"a%d" % number)), (0, wire.client.record(message(24, b"\1"), 22))]
        wire.client.update()
        chunks.append((1, wire.server.record(b"b%d" % number)))
    chunks.append((0, wire.client.record(b"end")))
    tls, found = outputs(wire.keys(), chunks)
    assert (plaintext(found, 0), plaintext(found, 1)) == (b"a0a1a2end", b"b0b1b2")
    assert tls.decrypted == "yes"


def test_early_data_is_read_with_its_own_keys_or_left() -> None:
    wire = Connection13()
    wire.secrets["CLIENT_EARLY_TRAFFIC_SECRET"] = b"e" * 32
    early = wire._sender("CLIENT_EARLY_TRAFFIC_SECRET")
    hello, *rest = wire.opening(extension(42, b""))
    # early data is on its way before the ServerHello is, and its end behind the server's Finished
    first = [hello, (0, early.record(b"early ")), (0, early.record(b"too ")), *rest[:2]]
    taken = [*first, (0, early.record(message(5, b""), 22)), rest[2], (0, wire.client.record(b"data"))]
    tls, found = outputs(wire.keys(), taken)
    assert (plaintext(found, 0), tls.decrypted) == (b"early too data", "yes")
    refused = Connection13()
    hello, *rest = refused.opening(extension(42, b""))
    chunks = [hello, (0, early.record(b"early")), *rest, (0, refused.client.record(b"data"))]
    _, found = outputs(refused.keys(), chunks)
    assert plaintext(found, 0) == b"data"


def test_hello_retry_request_is_no_server_hello() -> None:
    wire = Connection13()
    hello, *rest = wire.opening()
    retry = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")  # RFC 8446, 4.1.3
    chunks = [
        hello,
        (1, record(22, server_hello(0x1301, tls_wire.SERVER_IS_13, random=retry))),
        hello,
        *rest,
        (0, wire.client.record(b"x")),
    ]
    tls, found = outputs(wire.keys(), chunks)
    assert (plaintext(found, 0), tls.retried) == (b"x", True)


def test_a_resumed_session_takes_its_secret_from_the_one_that_made_it() -> None:
    wire, keys = Connection12(0xC02F), Connection12(0xC02F).keys()
    outputs(keys, wire.opening(session_id=b"I" * 32))
    again = Connection12(0xC02F)
    other = b"D" * 32
    client, server = tls_wire.keys_12(tls_wire.MASTER, other, tls_wire.SERVER_RANDOM, SUITES[0xC02F])
    again.client.keys, again.server.keys = client, server
    _, flight, client_end, server_end = again.opening(session_id=b"I" * 32, certificate=False)
    hello = (0, record(22, client_hello(0xC02F, random=other, session_id=b"I" * 32)))
    tls, found = outputs(keys, [hello, flight, server_end, client_end, (0, again.client.record(b"resumed"))])
    assert (plaintext(found, 0), tls.resumed) == (b"resumed", True)


def test_a_session_of_tls_13_is_kept_for_its_client_certificate_alone() -> None:
    """RFC 8446, 4.6.1: the secrets of a resumed connection are in the key log themselves."""
    wire = Connection13(0x1301)
    keys = wire.keys()
    ticket = message(4, bytes(8) + vector(1, b"n") + vector(2, b"T" * 48) + vector(2, b""))
    tls, _ = outputs(keys, [*wire.opening(), (1, wire.server.record(ticket, 22))])
    assert tls.decrypted == "yes"
    assert keys.recall(b"T" * 48) is None


def test_a_premaster_secret_and_the_extended_master_secret() -> None:
    """RFC 7627: the master secret is made of the hash of the handshake up to the ClientKeyExchange."""
    premaster = b"\3\3" + bytes(46)
    hello = client_hello(0xC02F, extension(23, b""))
    flight = server_hello(0xC02F, extension(23, b"")) + message(11, vector(3, b"")) + message(14, b"")
    exchange = message(16, b"\x20" + bytes(32))
    session_hash = hashlib.sha256(hello + flight + exchange).digest()
    master = prf(premaster, b"extended master secret", session_hash, 48, "sha256")
    client, _ = tls_wire.keys_12(master, tls_wire.CLIENT_RANDOM, tls_wire.SERVER_RANDOM, SUITES[0xC02F])
    sender = tls_wire.Sender(0xC02F, client, False)
    keys = SeriesKeys(TlsOptions())
    keys.take_block(tls_wire.block_of(f"PMS_CLIENT_RANDOM {tls_wire.CLIENT_RANDOM.hex()} {premaster.hex()}\n".encode()))
    chunks = [
        (0, record(22, hello)),
        (1, record(22, flight)),
        (0, record(22, exchange) + record(20, b"\1") + sender.record(message(20, bytes(12)), 22) + sender.record(b"data")),
    ]
    _, found = outputs(keys, chunks)
    assert plaintext(found, 0) == b"data"


# losses


@pytest.mark.parametrize("wire", [Connection13(), Connection12(0xC02F), Connection12(0xC027)], ids=["1.3", "1.2 gcm", "1.2 cbc"])
def test_records_behind_lost_ones_are_found_by_their_number(wire: Connection13 | Connection12) -> None:
    wire = Connection13() if isinstance(wire, Connection13) else Connection12(wire.suite)
    keys = wire.keys()
    tls, _ = outputs(keys, [*wire.opening(), (0, wire.client.record(b"first"))])
    lost = b"".join(wire.client.record(b"lost" * 40) for _ in range(7)) + wire.client.record(b"half")
    out = tls.lose(keys, 0, len(lost) - 9, 9000, 9, False)
    assert out == [Missing(0, None, False, 9000, 9)]
    _, found = outputs(keys, [(0, lost[-9:] + wire.client.record(b"behind"))], tls)
    assert plaintext(found, 0) == b"behind"
    assert tls.decrypted == "partly"


def test_a_loss_inside_a_record_costs_that_record_alone() -> None:
    wire = Connection12(0xC02F)
    keys = wire.keys()
    broken = wire.client.record(b"first") + wire.client.record(b"x" * 1000)
    tls, found = outputs(keys, [*wire.opening(), (0, wire.client.record(b"zero"))])
    tls, wire = TlsConnection(), Connection12(0xC02F)
    first, made = wire.opening(), wire.client.record(b"first")
    broken = wire.client.record(b"x" * 1000)
    outputs(keys, [*first, (0, made + broken[:100])], tls)
    out = tls.lose(keys, 0, 500, 9000, 9, True)
    # 1000 bytes of plaintext are missing: the record's length says so, as GCM pads nothing
    assert out == [Missing(0, 1000, True, 9000, 9)]
    _, found = outputs(keys, [(0, broken[600:] + wire.client.record(b"behind"))], tls)
    assert plaintext(found, 0) == b"behind"


def test_unverified_gives_the_beginning_of_a_record_and_counts_it() -> None:
    for wire, expected in ((Connection13(), b"x" * 95), (Connection12(0xC02F), b"x" * 87), (Connection13(0x1303), b"x" * 95)):
        keys = SeriesKeys(TlsOptions(unverified=True))
        keys.take_block(tls_wire.block_of(wire.key_log()))
        tls, _ = outputs(keys, [*wire.opening(), (0, wire.client.record(b"first"))])
        broken = wire.client.record(b"x" * 1000)
        outputs(keys, [(0, broken[:100])], tls)
        out = tls.lose(keys, 0, len(broken) - 100, 9000, 9, True)
        # of 100 bytes 5 are the header, and in TLS 1.2 8 of the nonce
        assert out == [Plain(0, expected, 9000, 9), Missing(0, 1000 - len(expected), True, 9000, 9)]
        assert tls.unverified_bytes == len(expected)


def test_a_lost_key_update_is_tried() -> None:
    wire = Connection13()
    keys = wire.keys()
    tls, _ = outputs(keys, [*wire.opening(), (0, wire.client.record(b"first"))])
    lost = wire.client.record(message(24, b"\0"), 22)
    wire.client.update()
    lost += wire.client.record(b"lost")
    tls.lose(keys, 0, len(lost), 9000, 9, False)
    _, found = outputs(keys, [(0, wire.client.record(b"behind"))], tls)
    assert plaintext(found, 0) == b"behind"


def test_a_server_hello_that_is_not_in_the_capture_is_tried() -> None:
    wire = Connection13(0x1303)
    hello, _, _, end = wire.opening()
    tls, found = outputs(wire.keys(), [hello, end, (0, wire.client.record(b"one way"))])
    assert (plaintext(found, 0), tls.cipher) == (b"one way", "TLS_CHACHA20_POLY1305_SHA256")


# keys and bytes that do not fit


def test_wrong_keys_open_nothing_and_cost_a_bounded_number_of_trials() -> None:
    wire, wrong = Connection13(), Connection13()
    wrong.secrets = dict.fromkeys(wrong.secrets, b"w" * 32)
    chunks = [*wire.opening(), *((0, wire.client.record(b"data")) for _ in range(500))]
    tls, found = outputs(wrong.keys(), chunks)
    assert not found
    assert (tls.decrypted, tls.key_use) == ("failed", "found")
    assert tls.direction(0).tried < 500


def test_no_keys_are_said_to_be_none() -> None:
    wire = Connection13()
    tls, found = outputs(SeriesKeys(TlsOptions()), [*wire.opening(), (0, wire.client.record(b"data"))])
    assert (found, tls.decrypted) == ([], "no_keys")


def test_candidates_behind_a_loss_are_bounded() -> None:
    """Every five bytes a header that could be one, and a loss that could have taken 65,536 records."""
    wire = Connection13()
    keys = wire.keys()
    tls, _ = outputs(keys, [*wire.opening(), (0, wire.client.record(b"first"))])
    tls.lose(keys, 0, 1 << 30, 9000, 9, False)
    outputs(keys, [(0, b"\x17\3\3\0\x20" * 1000)] * 20, tls)
    assert tls.direction(0).tried <= 200_002
    assert tls.direction(0).stopped


@pytest.mark.parametrize("seed", range(40))
def test_hostile_bytes_give_no_fault_and_nothing_that_was_not_sent(seed: int) -> None:
    rnd = random.Random(seed)
    wire = Connection13() if seed % 2 else Connection12(rnd.choice([0xC02F, 0xC027, 0xCCA8]))
    sent = [b"%d:" % number + bytes(rnd.randrange(300)) for number in range(12)]
    chunks = [*wire.opening(), *((0, wire.client.record(each)) for each in sent), (1, wire.server.record(b"answer"))]
    keys, tls = wire.keys(), TlsConnection()
    found: list[Plain | Missing] = []
    for number, (side, data) in enumerate(chunks):
        made = bytearray(data)
        if rnd.random() < 0.3:
            made[rnd.randrange(len(made))] ^= 1 << rnd.randrange(8)
        if rnd.random() < 0.1:
            made = made[: rnd.randrange(len(made))]  # TCP does not say that bytes are missing
        if rnd.random() < 0.1:
            found += tls.lose(keys, side, rnd.randrange(1, 100_000), number, number, rnd.random() < 0.5)
        found += tls.receive(keys, side, bytes(made), number, number)
        tls = unpacked(packed(tls), TlsConnection)
    texts = [each.data for each in found if isinstance(each, Plain)]
    assert set(texts) <= {*sent, b"answer"}
    assert all(each.size is None or 0 <= each.size < 1 << 20 for each in found if isinstance(each, Missing))


@pytest.mark.parametrize("seed", range(30))
def test_noise_behind_a_header_is_no_fault(seed: int) -> None:
    rnd = random.Random(seed)
    tls, keys = TlsConnection(), Connection13().keys()
    for _ in range(60):
        body = rnd.randbytes(rnd.randrange(80))
        kind = rnd.choice([20, 21, 22, 22, 22, 23, 24])
        if kind == 22:
            body = bytes((rnd.choice([0, 1, 2, 4, 5, 8, 11, 16, 20, 24]), 0, 0, len(body))) + body
        tls.receive(keys, rnd.randrange(2), record(kind, body), 1, 1)
    assert len(tls.alerts) <= 8


def test_a_flood_of_alerts_keeps_a_few() -> None:
    tls, _ = outputs(SeriesKeys(TlsOptions()), [(0, record(21, b"\1\x5a") * 10_000)])
    assert len(tls.alerts) == 8


@pytest.mark.parametrize("made", [TlsConnection, tls_connection], ids=["pure", "chosen"])
def test_a_hello_that_the_end_of_its_connection_cuts_is_read(made: Callable[[], TlsConnection]) -> None:
    """A server that takes no TLS closes in the middle of a ClientHello that came in two segments."""
    name = extension(0, vector(2, b"\x00" + vector(2, b"broker.example")))
    versions = extension(43, vector(1, bytes.fromhex("0304")))
    hello = record(22, client_hello(0x1301, name, versions, extension(21, bytes(64))))
    tls = made()
    keys = SeriesKeys(TlsOptions())
    tls.receive(keys, 0, hello[:-40], 1, 1)
    assert tls.server_name is None
    tls.end(keys)
    assert (tls.server_name, tls.shown_version) == ("broker.example", "TLS 1.3")
    assert tls.version is None
