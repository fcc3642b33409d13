"""Files that would cost far more for a byte than others: nothing but line ends, nothing but interfaces."""

from __future__ import annotations

import io
import struct

import pytest

from kwire.capture.carry import SeriesCarry
from kwire.capture.reader import read_piece
from kwire.capture.request_logs.folding import EntryFolder, LineFault
from kwire.capture.request_logs.reader import iter_log
from tcp_wire import Recorder

TORN = b'[2026-01-01 00:00:00,000] DEBUG Completed request:{"isForwarded":false,"requestHeader":'


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("count", [1, 127, 128, 129, 600_000, 1_100_000])
def test_blank_lines_are_counted_and_not_read(end: bytes, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line 1 is foreign, then blank lines come, then two entries that are no JSON: their numbers and the counts say that none is missed."""
    fed = 0
    feed = EntryFolder.feed

    def counted(*arguments: object, **options: object) -> object:
        nonlocal fed
        fed += 1
        return feed(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(EntryFolder, "feed", counted)
    folder = EntryFolder()
    data = b"Kafka starts" + end * (count + 1) + TORN + end + end + TORN + end
    steps, found = iter_log(io.BytesIO(data), 0, folder), list[object]()
    while True:
        try:
            found += next(steps)
        except StopIteration as stop:
            facts = stop.value
            break
    found += folder.finish()
    assert [each.line for each in found if isinstance(each, LineFault)] == [count + 2, count + 4]
    assert len(found) == 2
    assert folder.foreign == {0: count + 2}
    assert facts.lines == count + 4
    assert fed <= 1000


@pytest.mark.parametrize(("interfaces", "reason"), [(65_536, ""), (65_537, "a section with more than 65,536 interfaces")])
def test_a_section_with_too_many_interfaces_is_refused(interfaces: int, reason: str) -> None:
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    interface = struct.pack("<IIHHII", 1, 20, 1, 0, 65535, 20)
    facts = read_piece(io.BytesIO(section + interface * interfaces), SeriesCarry(), Recorder())
    assert facts.cut_reason == reason
