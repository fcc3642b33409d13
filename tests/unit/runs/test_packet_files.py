"""Routed packets on their way through files: each share gets its own in their order, and nothing is left where no run is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.errors import InputError
from kwire.runs.packet_files import PacketFileWriter, remove_packet_files


class Held:
    """Stands in for a router."""

    def __init__(self, *packets: bytes) -> None:
        self._packets = packets

    def take(self, share: int) -> bytes:
        return self._packets[share]


@pytest.fixture
def out(tmp_path: Path) -> str:
    (tmp_path / "_staging").mkdir()
    (tmp_path / "_staging" / "run.json").write_text("{}")
    return str(tmp_path)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_each_share_gets_its_own_in_order(out: str, scheme: str) -> None:
    with PacketFileWriter(scheme + out, 7, 3) as writer:
        writer.add(Held(b"one", b"", b"three"))
        writer.add(Held(b"", b"", b"six"))
        writer.add(Held(b"seven", b"eight", b""))
        packets = writer.finish()
    assert [list(packets.packets_of(scheme + out, share)) for share in range(3)] == [[b"one", b"seven"], [b"eight"], [b"three", b"six"]]
    (written,) = Path(out, "_staging", "packets").iterdir()
    assert written.stat().st_size == len(b"onethreesixseveneight") + 9 * 8
    remove_packet_files(scheme + out)
    assert not Path(out, "_staging", "packets").exists()
    with pytest.raises(InputError, match="does not exist"):
        next(packets.packets_of(scheme + out, 0))
    remove_packet_files(scheme + out)


def test_no_packets_are_no_file(out: str) -> None:
    with PacketFileWriter(out, 0, 4) as writer:
        packets = writer.finish()
    assert list(packets.packets_of(out, 3)) == []
    assert not Path(out, "_staging", "packets").exists()


def test_attempts_of_a_task_have_files_of_their_own(out: str) -> None:
    found = []
    for content in (b"first", b"second"):
        with PacketFileWriter(out, 5, 1) as writer:
            writer.add(Held(content))
            found.append(writer.finish())
    assert [list(packets.packets_of(out, 0)) for packets in found] == [[b"first"], [b"second"]]


def test_where_no_run_is_nothing_is_written(tmp_path: Path) -> None:
    with PacketFileWriter(str(tmp_path / "gone"), 0, 1) as writer, pytest.raises(InputError, match="does not exist on"):
        writer.add(Held(b"late"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(out: str) -> None:
    Path(out, "_staging", "packets").write_text("in the way")
    with PacketFileWriter(out, 0, 1) as writer, pytest.raises(InputError, match="cannot be written"):
        writer.add(Held(b"packets"))
