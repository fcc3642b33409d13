"""A compressed capture of several frames, read by several tasks, gives the tables of one task, wherever its frames were cut.

Expected are the tables of the same file read by one task, which other tests hold against the logs of brokers.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from compressed_files import SKIPPABLE, bgzf, cut, stored_frame, zstd, zstd_frames
from kwire.capture.dividing.file_ranges import FileRange, locate, virtual_offset, whole_reason
from kwire.capture.dividing.packet_routing import join_ranges, route_range
from pcap_files import starts_of
from routed_series import LONGEST, Routed, at_once, same

DATA = Path(__file__).parent / "data"
FRAMES: dict[str, Callable[[bytes, Sequence[int]], bytes]] = {
    "zstd": zstd_frames,
    "pzstd": lambda data, cuts: b"".join(SKIPPABLE + zstd(part) for part in cut(data, cuts)),
    "seekable zstd": lambda data, cuts: zstd_frames(data, cuts) + SKIPPABLE,
    "stored zstd": lambda data, cuts: b"".join(map(stored_frame, cut(data, cuts))),
    "bgzf": bgzf,
}


def capture(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes())


def some_cuts(data: bytes, count: int, seed: int) -> list[int]:
    return sorted(random.Random(seed).sample(range(1, len(data)), count))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", ["dribble", "seed", *(pytest.param(n, marks=pytest.mark.whole) for n in ("big-endian", "tcp-tricks"))])
def test_frames_cut_anywhere_give_the_same_rows(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pcap.zst"
    data = capture(name)
    for seed, count in ((1, 12), (2, 40)):
        path.write_bytes(FRAMES[kind](data, some_cuts(data, count, seed)))
        routed = Routed([path], 4, 3)
        assert not routed.again
        assert len(routed.ranges[0]) > 1
        same(routed.tables(), at_once([path]))


def test_a_frame_for_each_packet(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap.zst"
    data = capture("dribble")
    path.write_bytes(zstd_frames(data, starts_of(data)))
    routed = Routed([path], 7, 2)
    assert len(routed.ranges[0]) > 3
    same(routed.tables(), at_once([path]))


def test_the_border_of_two_parts_is_a_virtual_offset(tmp_path: Path) -> None:
    """The second part begins in the first frame behind the middle of the file, with the first record of it that is proven."""
    path = tmp_path / "x.pcap.zst"
    data = capture("dribble")
    cuts = some_cuts(data, 9, 5)
    frames = list(map(stored_frame, cut(data, cuts)))
    path.write_bytes(b"".join(frames))
    begins = [sum(map(len, frames[:count])) for count in range(len(frames))]
    size = path.stat().st_size
    second = next(place for place, begin in enumerate(begins) if begin >= size // 2)
    first, last = (locate(FileRange(str(path), size, part, 2, LONGEST)) for part in range(2))
    assert first is not None
    assert last is not None
    behind = last.start - virtual_offset(begins[second], 0)
    assert cuts[second - 1] + behind in starts_of(data)
    assert 0 < behind < 4 * LONGEST
    assert (first.start, first.border, last.border) == (virtual_offset(0, 24), last.start, None)


@pytest.mark.parametrize(
    "write", [gzip.compress, lambda data: zstd_frames(data, []), lambda data: gzip.compress(data) + gzip.compress(b"")]
)
def test_what_has_no_frames_is_one_range(write: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "x.pcap.gz"
    path.write_bytes(write(capture("dribble")))
    assert whole_reason(str(path), path.stat().st_size)
    routed = Routed([path], 6, 3)
    assert len(routed.ranges[0]) == 1
    assert routed.files[0].facts is not None
    assert len(routed.files[0].facts.sha256) == 64  # of the file, as one task reads it
    same(routed.tables(), at_once([path]))


def test_what_is_divided_and_why_the_rest_is_not(tmp_path: Path) -> None:
    data, pcapng = capture("dribble"), gzip.decompress((DATA / "real.pcapng.gz").read_bytes())
    log = b'{"requestHeader": 1}\n' * 9
    expected = {
        "": [data, bgzf(data, [9]), zstd_frames(data, [9])],
        "gzip without the blocks of bgzip": [gzip.compress(data), gzip.compress(data) + gzip.compress(b"")],
        "zstd in one frame": [zstd(data), zstd(pcapng), zstd(data) + SKIPPABLE],
        "a pcapng file": [pcapng, bgzf(pcapng, [9])],
        "not a pcap file": [log, zstd_frames(log, [9]), b""],
    }
    for reason, files in expected.items():
        for content in files:
            (tmp_path / "x").write_bytes(content)
            assert whole_reason(str(tmp_path / "x"), len(content)) == reason


@pytest.mark.parametrize(
    ("harm", "again"),
    [
        (lambda data: data[:-7], True),  # ends inside a frame
        (lambda data: data[: len(data) // 2] + b"\xff\xff" + data[len(data) // 2 + 2 :], True),
        (lambda data: data + zstd_frames(b"\0" * 9, []), False),  # ends inside a packet record
    ],
    ids=["cut", "damaged", "inside a record"],
)
def test_damaged_files_are_read_as_far_as_one_task_reads_them(harm: Callable[[bytes], bytes], again: bool, tmp_path: Path) -> None:
    path, other = tmp_path / "x_00001.pcap.zst", tmp_path / "x_00002.pcap"
    data = capture("dribble")
    path.write_bytes(harm(zstd_frames(data, some_cuts(data, 30, 3))))
    other.write_bytes(capture("seed"))
    routed = Routed([path, other], 5, 3)
    assert bool(routed.again) == again
    same(routed.tables(), at_once([path, other]))


def test_a_file_that_has_grown_is_read_as_far_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap.zst"
    data = capture("dribble")
    kept, more = data[: starts_of(data)[-9]], data[starts_of(data)[-9] :]
    before = zstd_frames(kept, some_cuts(kept, 30, 3))
    found = []
    for content in (before, before + zstd_frames(more, [])):
        path.write_bytes(content)
        ranges = [route_range(FileRange(str(path), len(before), part, 4, LONGEST), 1, lambda router: router.take(0)) for part in range(4)]
        found.append(join_ranges(str(path), ranges))
    assert found[0] is not None
    assert found[0].facts is not None
    assert found[0] == found[1]
    assert found[0].facts.stored_bytes == len(before)


@pytest.mark.parametrize("is_fooled", [False, True])
def test_a_frame_in_payload_divides_nothing(is_fooled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packet holds a frame with a capture in it. Had the search taken it for the file's own: the range before it does not end there."""
    path = tmp_path / "x.pcap.zst"
    data = capture("dribble")
    middle = next(start for start in starts_of(data) if start > len(data) * 3 // 5)
    inner = zstd(data[24:20_000])
    packet = data[middle : middle + 8] + 2 * len(inner).to_bytes(4, "little") + inner
    path.write_bytes(stored_frame(data[:middle] + packet + data[middle:], 1 << 17))
    if is_fooled:
        monkeypatch.setattr("kwire.capture.dividing.compressed_frames.CompressedFrames._leads_on", lambda _frames, _at: True)
    routed = Routed([path], 2, 2)
    assert routed.again == ([path] if is_fooled else [])
    assert len(routed.ranges[0]) == 1
    same(routed.tables(), at_once([path]))
