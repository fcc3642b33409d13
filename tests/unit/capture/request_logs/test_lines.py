"""Lines of request logs among those of others: what is read, what is joined, what is named as broken."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from datetime import timezone
from pathlib import Path

import pytest

from kwire.capture.files.piece_kinds import kind_of, look_ahead
from kwire.capture.request_logs.entry import LogEntry
from kwire.capture.request_logs.folding import MAX_JOINED_LINES, EntryFolder, Item, LineFault
from kwire.capture.request_logs.reader import LogFileFacts, iter_log, torn_line
from kwire.capture.request_logs.times import duration_us, stamp_us, zone_of
from kwire.errors import InputError

TAIL = "from connection 10.0.0.1:9092-10.0.0.2:5000-0;totalTime:1,requestQueueTime:0,securityProtocol:PLAINTEXT,principal:User:a"


def text(correlation_id: int, client_id: str = "x") -> str:
    """A line as brokers of 1.x write it."""
    header = f"RequestHeader(apiKey=HEARTBEAT, apiVersion=1, clientId={client_id}, correlationId={correlation_id})"
    return f"[2026-11-21 10:00:00,000] DEBUG Completed request:{header} -- {{group_id=g}} {TAIL} (kafka.request.logger)"


def bare(correlation_id: int) -> str:
    """A line as brokers of 2.8 write it."""
    header = f'{{"requestApiKey":12,"requestApiVersion":4,"correlationId":{correlation_id},"clientId":"x"}}'
    return f'{{"isForwarded":false,"requestHeader":{header},"request":{{}},"connection":"10.0.0.1:9092-10.0.0.2:5000-0","totalTimeMs":1.0}}'


def fold(*files: str) -> tuple[list[tuple[int, int, int | None] | LineFault], dict[int, int]]:
    """Entries as (file, line, correlation id); faults as they are; lines of others by file."""
    folder = EntryFolder()
    items: list[Item] = []
    for number, content in enumerate(files):
        for chunk in iter_log(io.BytesIO(content.encode()), number, folder):
            items += chunk
    items += folder.finish()
    said = [item if isinstance(item, LineFault) else (item[0], item[1].line, item[1].correlation_id) for item in items]
    return said, folder.foreign


def test_lines_of_others_are_counted_and_left() -> None:
    trace = "java.io.IOException: Broken pipe\n\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)\n\t... 12 more"
    said, foreign = fold(f"started\n{text(1)}\n{trace}\n{text(2)}\r\n{bare(3)}\n")
    assert said == [(0, 2, 1), (0, 6, 2), (0, 7, 3)]
    assert foreign == {0: 4}


def test_a_text_with_a_line_break_is_one_entry() -> None:
    said, foreign = fold(f"{text(1, 'two' + chr(10) + 'lines')}\n{text(2)}\n")
    assert said == [(0, 1, 1), (0, 3, 2)]
    assert foreign == {}


def test_a_broken_line_is_named_and_costs_itself_only() -> None:
    """Its end is lost; stack traces behind it are not joined to what comes after them."""
    torn = text(1)[:120]
    said, foreign = fold(f"{torn}\n\tat a.b.C\n{text(2)}\n" + '{"isForwarded":false,"requestHeader":{"re\n' + f"{bare(3)}\n")
    assert [each for each in said if not isinstance(each, LineFault)] == [(0, 3, 2), (0, 5, 3)]
    first, second = [each for each in said if isinstance(each, LineFault)]
    assert (first.file, first.line, first.torn) == (0, 1, False)
    assert (second.file, second.line, second.torn) == (0, 4, False)
    assert "JSON cannot be read" in second.reason
    assert foreign == {0: 1}


def test_only_so_many_lines_are_joined() -> None:
    said, foreign = fold(f"{text(1)[:120]}\n" + "noise\n" * 200 + f"{text(2)}\n")
    assert [each for each in said if not isinstance(each, LineFault)] == [(0, 202, 2)]
    assert len([each for each in said if isinstance(each, LineFault)]) == 1
    assert foreign == {0: 200}
    assert MAX_JOINED_LINES < 200


@pytest.mark.parametrize("line", [text(1), bare(1)], ids=["text", "json"])
def test_a_line_that_two_files_share(line: str) -> None:
    """As when a log is cut by size: whatever the place, the entry is one, and of the file where it begins."""
    before, after = bare(0), bare(2)
    for cut in range(1, len(line)):
        said, foreign = fold(f"{before}\n{line[:cut]}", f"{line[cut:]}\n{after}\n")
        assert said == [(0, 1, 0), (0, 2, 1), (1, 2, 2)], cut
        assert foreign == {}


def test_a_file_that_ends_inside_a_line_for_good() -> None:
    said, _ = fold(f"{bare(1)}\n{bare(2)[:80]}")
    assert said[0] == (0, 1, 1)
    assert isinstance(said[1], LineFault)
    assert said[1].torn
    said, _ = fold(f"{bare(1)[:80]}", f"{bare(2)}\n")
    assert isinstance(said[0], LineFault)
    assert (said[0].file, said[0].line, said[0].torn) == (0, 1, True)
    assert said[1] == (1, 1, 2)


def test_the_last_line_needs_no_line_break() -> None:
    assert fold(f"{bare(1)}\n{bare(2)}")[0] == [(0, 1, 1), (0, 2, 2)]
    assert fold(bare(1), bare(2))[0] == [(0, 1, 1), (1, 1, 2)]
    assert fold(text(1), text(2))[0] == [(0, 1, 1), (1, 1, 2)]


def read(source: Path | io.BytesIO) -> tuple[list[Item], LogFileFacts]:
    steps = iter_log(str(source) if isinstance(source, Path) else source, 0, EntryFolder())
    items: list[Item] = []
    while True:
        try:
            items += next(steps)
        except StopIteration as end:
            facts: LogFileFacts = end.value
            return items, facts


def test_a_line_longer_than_any_chunk(tmp_path: Path) -> None:
    """The answer to Metadata on a large cluster."""
    long = bare(1).replace('"request":{}', '"request":{"topics":[' + ",".join(['{"name":"' + "t" * 200 + '"}'] * 10_000) + "]}")
    assert len(long) > 2 << 20
    log = tmp_path / "requests.log"
    log.write_text(f"{bare(0)}\n{long}\n{bare(2)}\n")
    items, facts = read(log)
    assert [item[1].correlation_id for item in items if not isinstance(item, LineFault)] == [0, 1, 2]
    assert facts.lines == 3


def test_a_byte_order_mark_and_bytes_that_are_no_text() -> None:
    items, _ = read(io.BytesIO(b"\xef\xbb\xbf" + bare(1).replace('"x"', '"\udcff"').encode("utf-8", "surrogateescape") + b"\n"))
    assert isinstance(items[0], tuple)
    entry = items[0][1]
    assert isinstance(entry, LogEntry)
    assert entry.client_id == "\ufffd"


def test_zeros_before_the_first_line() -> None:
    """A log that logrotate truncated while the broker went on writing at its old place."""
    items, _ = read(io.BytesIO(bytes(9000) + bare(1).encode() + b"\n"))
    assert [item[1].correlation_id for item in items if not isinstance(item, LineFault)] == [1]


def test_compressed_logs(tmp_path: Path) -> None:
    log = tmp_path / "requests"  # names are not trusted
    log.write_bytes(gzip.compress(f"{bare(1)}\n{bare(2)}\n".encode()))
    assert kind_of(str(log)) == "request_log"
    items, facts = read(log)
    assert len(items) == 2
    assert facts.compression == "gzip"
    log.write_bytes(log.read_bytes()[:-12])
    items, facts = read(log)
    assert facts.damage


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    capture = Path(__file__).parents[3] / "captures" / "data" / "seed.pcap.gz"
    (tmp_path / "a.log").write_bytes(capture.read_bytes())
    (tmp_path / "a.pcap").write_text("some lines of others\n" * 5000 + text(1) + "\n")
    (tmp_path / "just-rolled.log").write_text("")
    (tmp_path / "notes.txt").write_text("time,client\n1,2\n")
    assert kind_of(str(tmp_path / "a.log")) == "packets"
    assert kind_of(str(tmp_path / "a.pcap")) == "request_log"
    assert kind_of(str(tmp_path / "just-rolled.log")) == "request_log"
    begins = r"begins with 'time,client\\n1,2\\n'"
    with pytest.raises(InputError, match=rf"is not a capture file: not pcap, pcapng or a request log \({begins}\)"):
        kind_of(str(tmp_path / "notes.txt"))
    with pytest.raises(InputError, match="does not exist"):
        kind_of(str(tmp_path / "gone.log"))


class Pipe(io.RawIOBase):
    """Gives what was written, one piece a read."""

    def __init__(self, *pieces: bytes) -> None:
        super().__init__()
        self.pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def test_a_stream_is_told_before_it_ends_and_loses_nothing() -> None:
    line = f"{bare(1)}\n".encode()
    stream = Pipe(b"a line of others\n", line[:50], line[50:], b"later\n")
    kind, whole = look_ahead(stream)  # type: ignore[arg-type]
    assert kind == "request_log"
    assert b"later\n" in stream.pieces
    parts = []
    while part := whole.read(1 << 16):
        parts.append(part)
    assert b"".join(parts) == b"a line of others\n" + line + b"later\n"
    assert look_ahead(io.BytesIO(gzip.compress(line)))[0] == "request_log"
    for content in (b"", b"time,client\n1,2\n"):
        with pytest.raises(InputError):
            look_ahead(io.BytesIO(content))


def test_zones() -> None:
    assert zone_of(None) is timezone.utc
    assert zone_of("utc") is timezone.utc
    assert str(zone_of("Asia/Kolkata")) == "Asia/Kolkata"
    for name in ("Nowhere/At All", "../../etc/passwd", ""):
        with pytest.raises(InputError, match="unknown time zone"):
            zone_of(name)


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        (1_795_256_686.66, 1_795_256_686_660_000),
        (1_795_256_686_660, 1_795_256_686_660_000),
        (1_795_256_686_660_000, 1_795_256_686_660_000),
        (1_795_256_686_660_000_000, 1_795_256_686_660_000),
        ("2026-11-21T10:24:46.660Z", 1_795_256_686_660_000),
        ("2026-11-21T12:24:46.660+0200", 1_795_256_686_660_000),
        ("2026-11-21T04:54:46.660-05:30", 1_795_256_686_660_000),
        (12, None),
        (True, None),
        (None, None),
        ("soon", None),
    ],
)
def test_instants(value: object, instant: int | None) -> None:
    assert stamp_us(value, timezone.utc) == instant


@pytest.mark.parametrize(
    ("value", "microseconds"), [(31.34, 31_340), ("16,172000", 16_172), ("4", 4_000), (-1, None), ("-1", None), ("x", None)]
)
def test_durations(value: object, microseconds: int | None) -> None:
    assert duration_us(value) == microseconds


def read_as_it_grows(path: Path, data: bytes, cuts: Sequence[int]) -> list[Item]:
    """The entries and faults of a file that has more bytes each time."""
    folder, position, items = EntryFolder(), None, list[Item]()
    for cut in cuts:
        path.write_bytes(data[:cut])
        steps = iter_log(str(path), 0, folder, limit=cut, before=position)
        while True:
            try:
                items += next(steps)
            except StopIteration as end:
                position = end.value.position
                break
    assert position is not None
    return [*items, *torn_line(position, 0, folder), *folder.finish()]


def test_a_file_may_grow_at_every_byte(tmp_path: Path) -> None:
    """Inside a line, a character, a byte-order mark and between the two bytes of a line end; the last line has no end."""
    lines = [bare(1), "a stack trace", bare(2).replace('"x"', '"zürich"'), text(3), bare(4)]
    data = b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    folder = EntryFolder()
    whole = [*(item for chunk in iter_log(io.BytesIO(data), 0, folder) for item in chunk), *folder.finish()]
    assert [item[1].correlation_id for item in whole if not isinstance(item, LineFault)] == [1, 2, 3, 4]
    path = tmp_path / "kafka-request.log"
    for cut in range(len(data) + 1):
        assert repr(read_as_it_grows(path, data, (cut, len(data)))) == repr(whole), cut
    assert repr(read_as_it_grows(path, data, range(len(data) + 1))) == repr(whole)


def test_a_line_that_grows_too_long_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are not kept, though each run reads no more than is allowed."""
    monkeypatch.setattr("kwire.capture.request_logs.reader.MAX_LINE_BYTES", 1000)
    data = f"{bare(1)}\n".encode() + b"{" * 1500 + f"\n{bare(2)}\n".encode()
    items = read_as_it_grows(tmp_path / "kafka-request.log", data, [*range(0, len(data), 400), len(data)])
    assert [item.line if isinstance(item, LineFault) else item[1].correlation_id for item in items] == [1, 2, 2]
