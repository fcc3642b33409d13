"""What a tap of the proxy writes: the frames that pass, as packets that the reader of captures takes, without secrets."""

from __future__ import annotations

import io
import random
import resource
import threading
from pathlib import Path
from typing import Any

import pytest

import kwire
from kafka_bytes import framed
from kwire import messages
from kwire.capture.exported_packets import PCAPNG_HEAD
from kwire.errors import InputError
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile
from kwire.proxy.tapped_connection import TappedConnection

MIB = 1 << 20
PACKET = bytes(40)


def tap(folder: Path, **more: int) -> TapFile:
    return TapFile(folder / "tap.pcapng", **{"max_bytes": MIB, "max_files": 3, "max_queued": MIB, **more})


def request(key: int, version: int, body: Any, number: int) -> bytes:
    header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=number, client_id="shop")
    return framed(kwire.encode_request(header, body))


def response(key: int, version: int, body: Any, number: int) -> bytes:
    return framed(kwire.encode_response(number, body, key, version))


def written(folder: Path, asked: bytes, answered: bytes, *, snaplen: int = 65_536, seed: int | None = None) -> list[tuple[int, bytes, int]]:
    """Direction, bytes and bytes cut of each packet with a payload, of a connection that brings these bytes in pieces."""
    file = tap(folder)
    connection = TappedConnection(file, Peer("10.0.0.9", 50_000, 1), ("10.0.0.1", 9092), snaplen, 1)
    for data, take in ((asked, connection.from_client), (answered, lambda data, t: connection.to_client([data], t))):
        at, random_ = 0, random.Random(seed)
        while at < len(data):
            size = len(data) if seed is None else random_.randint(1, 40)
            take(data[at : at + size], 2)
            at += size
    connection.closed(3)
    file.close()
    return payloads(file.files()[0].read_bytes())


def payloads(capture: bytes) -> list[tuple[int, bytes, int]]:
    """By hand: blocks of pcapng, tags of an exported PDU up to the end tag, 20 bytes of TCP."""
    assert capture.startswith(PCAPNG_HEAD)
    wire, found = io.BytesIO(capture[len(PCAPNG_HEAD) :]), []
    while head := wire.read(28):
        size, captured, original = (int.from_bytes(head[at : at + 4], "little") for at in (4, 20, 24))
        body = wire.read(size - 28)[:captured]
        at = 0
        while tag := int.from_bytes(body[at : at + 2], "big"):
            size = int.from_bytes(body[at + 2 : at + 4], "big")
            if tag == 20:  # IPv4 source
                direction = int(body[at + 4 : at + 8] == bytes((10, 0, 0, 1)))
            at += 4 + size
        payload = body[at + 4 + 20 :]
        if payload or original > captured:
            found.append((direction, payload, original - captured))
    return found


ASKED = request(17, 1, messages.SaslHandshakeRequest(mechanism="PLAIN"), 1) + request(
    36, 2, messages.SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 2
)
ANSWERED = response(17, 1, messages.SaslHandshakeResponse(mechanisms=["PLAIN"]), 1) + response(
    36, 2, messages.SaslAuthenticateResponse(), 2
)


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_frames_come_whole_in_their_order_and_without_secrets(tmp_path: Path, seed: int | None) -> None:
    found = written(tmp_path, ASKED, ANSWERED, seed=seed)
    directions = [direction for direction, _, _ in found]
    assert directions == sorted(directions)
    assert seed is not None or directions == [0, 1], "frames that arrive together share a packet"
    client = b"".join(data for direction, data, _ in found if direction == 0)
    assert client == ASKED.replace(b"secret", b"xxxxxx")
    assert b"".join(data for direction, data, _ in found if direction == 1) == ANSWERED
    assert b"secret" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_what_lies_beyond_the_snap_length_is_cut(tmp_path: Path, seed: int | None) -> None:
    whole = request(3, 12, messages.MetadataRequest(topics=[messages.MetadataRequest.MetadataRequestTopic(name="t" * 300)]), 1)
    found = written(tmp_path, whole + whole, b"", snaplen=20, seed=seed)
    assert found == [(0, whole[:24], 0), (0, b"", len(whole) - 24)] * 2


def test_frames_of_one_read_share_packets_of_64_kib(tmp_path: Path) -> None:
    file = tap(tmp_path)
    connection = TappedConnection(file, Peer("10.0.0.9", 50_000, 1), ("10.0.0.1", 9092), 65_536, 1)
    small, large = (request(12, 0, messages.HeartbeatRequest(group_id="g" * size), 1) for size in (20, 30_000))
    connection.from_client(small * 3 + small[:10], 2)
    connection.from_client(small[10:] + small, 3)
    connection.from_client(large * 3, 4)
    connection.closed(5)
    file.close()
    assert payloads(file.files()[0].read_bytes()) == [(0, small * 3, 0), (0, small * 2, 0), (0, large * 2, 0), (0, large, 0)]


def test_a_hole_in_a_frame_and_the_frames_around_it(tmp_path: Path) -> None:
    """The first 10 bytes of the second frame come, 20 are missed; the third one is whole. The file has the hole where the bytes were."""
    frames = [request(12, 0, messages.HeartbeatRequest(group_id="g" * 20, member_id=f"m{number}"), number) for number in range(3)]
    file = tap(tmp_path)
    connection = TappedConnection(file, Peer("10.0.0.9", 50_000, 1), ("10.0.0.1", 9092), 1000, 1)
    connection.from_client(frames[0] + frames[1][:10], 2)
    connection.missed("request", 20, 3)
    connection.from_client(frames[1][30:] + frames[2], 4)
    connection.closed(5)
    file.close()
    found = payloads(file.files()[0].read_bytes())
    assert found[0] == (0, frames[0], 0)
    assert found[-1] == (0, frames[2], 0)
    assert found[1:-1] == [(0, b"", 10), (0, b"", len(frames[1]) - 30)]


def test_files_are_rotated_and_the_oldest_go(tmp_path: Path) -> None:
    (tmp_path / "tap_00004.pcapng").write_bytes(b"of an earlier run")
    file = tap(tmp_path, max_bytes=len(PCAPNG_HEAD) + 80, max_files=2)
    for _ in range(5):
        assert file.offer(PACKET)
    file.close()
    assert [path.name for path in file.files()] == ["tap_00006.pcapng", "tap_00007.pcapng"]
    assert file.files()[0].read_bytes() == PCAPNG_HEAD + PACKET * 2
    assert file.files()[1].read_bytes() == PCAPNG_HEAD + PACKET
    assert file.files()[0].stat().st_mode & 0o777 == 0o600
    assert (file.dropped, file.written_bytes) == (0, 200)


def test_what_the_disk_cannot_take_is_dropped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing, go_on = threading.Event(), threading.Event()
    write = TapFile._write

    def slow(self: TapFile, waiting: list[bytes]) -> None:
        writing.set()
        go_on.wait(30)
        write(self, waiting)

    monkeypatch.setattr(TapFile, "_write", slow)
    file = tap(tmp_path, max_queued=100)
    assert file.offer(PACKET)
    assert writing.wait(30)
    assert [file.offer(PACKET) for _ in range(3)] == [True, False, False]
    go_on.set()
    file.close()
    assert (file.written_bytes, file.dropped, file.dropped_bytes) == (80, 2, 80)


def test_a_full_disk_ends_the_tap_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: TapFile) -> Any:
        raise OSError(28, "No space left on device")

    file = tap(tmp_path, max_bytes=1)
    monkeypatch.setattr(TapFile, "_next", full)
    assert file.offer(PACKET)
    assert file.offer(PACKET)
    file._thread.join(30)
    assert not file.offer(PACKET)
    file.close()
    assert (file.written_bytes, file.dropped) == (40, 2)
    assert "the tap ends" in caplog.text


def test_a_fault_of_the_tap_ends_it_for_that_connection_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*given: Any, **more: Any) -> bytes:
        raise RuntimeError("a fault")

    file = tap(tmp_path)
    one, other = (TappedConnection(file, Peer("10.0.0.9", port, 1), ("10.0.0.1", 9092), 100, 1) for port in (1, 2))
    with monkeypatch.context() as patched:
        patched.setattr("kwire.protocol.secrets.frame_blanking.FrameBlanker.request", faulty)
        one.from_client(ASKED, 2)
    one.from_client(ASKED, 3)
    one.closed(4)
    other.from_client(ASKED[: len(ASKED) // 2], 3)
    file.close()
    assert "the tap stops looking at a connection" in caplog.text
    assert len(payloads(file.files()[0].read_bytes())) == 1


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        tap(tmp_path / "none")


def test_a_full_disk_ends_a_file_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A limit of the process stands for the disk: writes fail likewise, again and again."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = tap(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        file.offer(bytes(2000))
        file.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "the tap ends" in caplog.text
    assert file.files()[0].stat().st_size == 1000
