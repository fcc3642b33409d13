"""Both twins of a TLS connection give the same plaintext and know the same, whatever the bytes: ciphers, damage, losses, hostile hellos."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kwire.capture._native.tls_connection import TlsConnection as NativeTls

from carried_state import packed, unpacked
from kwire.capture.tls.connection import TlsConnection
from kwire.capture.tls.findings import findings
from kwire.capture.tls.plaintext import Missing
from kwire.capture.tls.session_keys import SeriesKeys, TlsOptions
from tls_wire import (
    MASTER,
    SERVER_IS_13,
    Connection12,
    Connection13,
    block_of,
    client_hello,
    extension,
    message,
    record,
    server_hello,
    vector,
)  # fmt: skip

KNOWN = (
    "hello", "server", "version", "cipher", "alpn", "subject", "certificate_faults", "alerts", "resumed", "retried", "renegotiated", "lost",
    "unverified_bytes", "client_side", "key_use", "decrypted", "decrypted_bytes", "opaque_bytes", "shown_version", "server_name",
    "fingerprints", "is_flawless", "is_13",
)  # fmt: skip
COUNTED = ("encrypted", "finished", "opened", "unopened", "opened_bytes", "opaque_bytes", "protected", "largest")
KEPT = ("failures", "tried", "tried_bytes", "padding", "doubtful", "stopped")


class Both:
    """The twins side by side, each with its own keys; every step gives the same, and leaves the same state."""

    def __init__(self, text: bytes, *, unverified: bool = False) -> None:
        self.twins: list[Any] = [TlsConnection(), NativeTls()]
        self.keys = [SeriesKeys(TlsOptions(unverified=unverified)) for _ in self.twins]
        for each in self.keys:
            each.take_block(block_of(text))
        self.clock = 0
        self.gave = 0

    def receive(self, side: int, data: bytes) -> None:
        self.clock += 1
        self._same([tls.receive(keys, side, data, self.clock, self.clock) for tls, keys in self._pairs()])

    def lose(self, side: int, count: int, cut: bool) -> None:
        self.clock += 1
        self._same([tls.lose(keys, side, count, self.clock, self.clock, cut) for tls, keys in self._pairs()])

    def begins_late(self, side: int) -> None:
        for tls in self.twins:
            tls.begins_late(side)

    def store(self) -> None:
        self.twins[0] = unpacked(packed(self.twins[0]), TlsConnection)
        self.twins[1] = NativeTls.import_state(unpacked(packed(self.twins[1].export_state()), TlsConnection))
        self._same([[], []])

    def _pairs(self) -> list[tuple[Any, SeriesKeys]]:
        return list(zip(self.twins, self.keys, strict=True))

    def _same(self, made: list[list[Any]]) -> None:
        shown = [[each if isinstance(each, Missing) else (each.side, bytes(each.data), *each[2:]) for each in outputs] for outputs in made]
        assert shown[1] == shown[0]
        self.gave += len(shown[0])
        pure, native = self.twins
        for name in KNOWN:
            assert getattr(native, name) == getattr(pure, name), name
        if pure.is_flawless:  # findings are not looked for then
            assert [findings(pure, state, closer) for state in ("complete", "joined_late") for closer in (None, "client", "server")] == [
                []
            ] * 6
        plain = native.export_state()
        for side in range(2):
            for name in COUNTED:
                assert getattr(native.direction(side), name) == getattr(pure.direction(side), name), name
            for name in (*COUNTED, *KEPT):
                assert getattr(plain.direction(side), name) == getattr(pure.direction(side), name), name
            assert plain.direction(side).messages.pending == pure.direction(side).messages.pending
            epochs = [[(each.kind, each.sequence, each.next_secret) for each in tls.direction(side).epochs] for tls in (plain, pure)]
            assert epochs[0] == epochs[1]
        sessions = [keys.__getstate__()[2] for keys in self.keys]
        assert sessions[0] == sessions[1]


def wires() -> list[Any]:
    return [
        *(Connection13(suite) for suite in (0x1301, 0x1302, 0x1303, 0x1304, 0x1305)),
        *(Connection12(suite) for suite in (0x009C, 0xC030, 0xC0AC, 0xC0AE, 0xCCA8, 0x002F, 0x003C, 0xC028)),
        *(Connection12(suite, encrypt_then_mac=True) for suite in (0x002F, 0xC027, 0xC028)),
    ]


@pytest.mark.parametrize("wire", wires(), ids=lambda wire: f"{wire.suite:04x}")
def test_every_suite_opens_alike(wire: Any) -> None:
    both = Both(wire.key_log())
    for side, data in [
        *wire.opening(),
        (0, wire.client.record(b"request" * 9)),
        (1, wire.server.record(b"")),
        (1, wire.server.record(b"a")),
    ]:
        for at in range(0, len(data), 13):
            both.receive(side, data[at : at + 13])
        both.store()
    both.receive(0, wire.client.record(b"x" * 16384) + wire.client.record(b"\1\0", 21) + wire.client.record(b"behind"))
    if isinstance(wire, Connection13):
        both.receive(1, wire.server.record(message(24, b"\0"), 22))
        wire.server.update()
        both.store()
        both.receive(1, wire.server.record(b"with later keys", padding=7))
    assert both.twins[0].decrypted == "yes"
    assert both.gave > 3


STEPS = ("bytes",) * 12 + ("flip", "cut", "lose", "lose short", "update", "store", "alert", "late", "noise", "hello")


# with 1336 and 1873 a direction of which the log has no secret loses bytes, while it has those of the other one
@pytest.mark.parametrize("seed", [*range(60), 1336, 1873])
def test_damaged_and_lost_bytes_are_taken_alike(seed: int) -> None:
    """Bits that flip, segments that end early, losses of all sizes, renegotiations and noise, with state that travels in between."""
    rnd = random.Random(seed)
    wire = rnd.choice(wires())
    both = Both(wire.key_log() if seed % 5 else b"", unverified=seed % 3 == 0)
    if rnd.random() < 0.1:
        both.begins_late(rnd.randrange(2))
    waiting = wire.opening()
    for number in range(60):
        sender = rnd.randrange(2)
        side, data = waiting.pop(0) if waiting else (sender, (wire.client, wire.server)[sender].record(b"%d:" % number * rnd.randrange(99)))
        step = rnd.choice(STEPS)
        if step == "flip":
            at = rnd.randrange(len(data))
            data = data[:at] + bytes((data[at] ^ 1 << rnd.randrange(8),)) + data[at + 1 :]
        elif step == "cut":
            data = data[: rnd.randrange(len(data))]
        elif step == "lose":
            both.lose(side, rnd.choice((1, 40, len(data), 3000)), rnd.random() < 0.4)
        elif step == "lose short":
            at = rnd.randrange(len(data))
            both.receive(side, data[:at])
            both.lose(side, len(data) - at, rnd.random() < 0.5)
            continue
        elif step == "update" and isinstance(wire, Connection13) and not waiting:
            sender_of = (wire.client, wire.server)[side]
            data += sender_of.record(message(24, b"\0"), 22)
            sender_of.update()
        elif step == "store":
            both.store()
        elif step == "alert":
            data += record(21, bytes((rnd.choice((1, 2, 3)), rnd.choice((0, 40, 48, 77, 90)))))
        elif step == "late":
            both.begins_late(side)
        elif step == "noise":
            data = (
                rnd.randbytes(rnd.randrange(90)) if rnd.random() < 0.3 else record(rnd.randrange(19, 26), rnd.randbytes(rnd.randrange(90)))
            )
        elif step == "hello":
            data += record(22, client_hello(wire.suite))
        both.receive(side, data)


EXTENSION = st.one_of(
    st.builds(extension, st.sampled_from([0, 5, 10, 11, 13, 16, 22, 23, 35, 41, 42, 43, 51, 0x0A0A]), st.binary(max_size=24)),
    st.builds(lambda name: extension(0, vector(2, b"\0" + vector(2, name))), st.binary(max_size=9)),
    st.builds(
        lambda names: extension(16, vector(2, b"".join(vector(1, name) for name in names))), st.lists(st.binary(max_size=5), max_size=3)
    ),
    st.builds(lambda pairs: extension(43, vector(1, pairs)), st.binary(max_size=8)),
    st.builds(lambda pairs: extension(10, vector(2, pairs)), st.binary(max_size=8)),
    st.builds(
        lambda names: extension(41, vector(2, b"".join(vector(2, name) + b"\0\0\0\1" for name in names))),
        st.lists(st.binary(max_size=5), max_size=11),
    ),
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(
    extensions=st.lists(EXTENSION, max_size=9), session_id=st.binary(max_size=33), version=st.integers(0x02FF, 0x0305),
    cipher=st.sampled_from([0x1301, 0xC02F, 0x0A0A, 0xFFFF]), cut=st.integers(0, 60), repeat=st.sampled_from([1, 1, 1, 30]),
)  # fmt: skip
def test_hellos_are_read_alike(extensions: list[bytes], session_id: bytes, version: int, cipher: int, cut: int, repeat: int) -> None:
    """Hellos with extensions of all sizes, twice, cut off, and more of them than any library sends."""
    both = Both(Connection13().key_log())
    hello = client_hello(cipher, *extensions * repeat, session_id=session_id, version=version)
    if len(hello) < 1 << 14:
        hello = hello[: len(hello) - cut] if cut % 2 else hello
        both.receive(0, record(22, hello))
    both.lose(0, 5, True)
    both.receive(1, record(22, server_hello(cipher, *extensions, session_id=session_id)))
    both.receive(1, record(22, server_hello(0xC02F, *extensions, random=b"R" * 32)[: 60 + cut]))


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 1, 2, 4, 5, 8, 11, 12, 14, 16, 20, 24]), st.binary(max_size=70)), max_size=20)
)
def test_any_handshake_messages_are_taken_alike(messages: list[tuple[int, int, bytes]]) -> None:
    both = Both(Connection12(0xC02F).key_log() + b"PMS_CLIENT_RANDOM " + b"43" * 32 + b" " + MASTER.hex().encode() + b"\n")
    both.receive(0, record(22, client_hello(0xC02F, extension(23, b""), extension(35, b"ticket"))))
    for side, number, body in messages:
        both.receive(side, record(22, message(number, body)))
        if number == 20:
            both.receive(side, record(20, b"\1"))
    both.receive(1, record(22, server_hello(0xC02F, extension(23, b""))))
    both.receive(1, record(22, server_hello(0x1301, SERVER_IS_13)))
