"""Removal of secrets from captures: packets and tables stay the same.

    trim([("eth0_00001.pcap", "trimmed/eth0_00001.pcap"), ...])

Theory of operation. A payload byte stays only if it was decoded. First, every packet is written with its payload replaced by `x`. Its bytes
then pass through the reassembly and tracker of an analysis, with their places in the file. Each frame is blanked
(`protocol.secrets.frame_blanking`) and written back to its places. So lengths, sequence numbers and times stay. All other payload stays
`x`: copies of a segment, holes in frames, foreign protocols, packets other than TCP. TLS is restored, because it is encrypted.

The files of a series are trimmed together, because a frame may begin in one and end in the next. Memory does not grow with their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final

from kwire.capture import impl
from kwire.capture._pure.packet_view import EXPORTED, FRAGMENT, PROTOCOL, TCP, PacketView
from kwire.capture.carry import SeriesStreams
from kwire.capture.files.damaged_records import Damages
from kwire.capture.files.formats import PCAP_HEADER_BYTES, identify
from kwire.capture.files.source import CHUNK_BYTES, HEAD_BYTES, CaptureSource, open_capture, quiet
from kwire.capture.packet_checksums import is_right, right_checksum
from kwire.capture.packet_columns import FileState, PacketColumns
from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
from kwire.capture.trimming.address_rewriting import rewrite_packet
from kwire.capture.trimming.located_bytes import LocatedBytes, Place
from kwire.capture.trimming.packet_records import PacketRecord, RecordWalker
from kwire.capture.trimming.rewritten_file import RewrittenFile
from kwire.capture.trimming.streams import TrimmedStreams
from kwire.errors import InputError
from kwire.protocol.secrets.token_blanking import FILL

__all__ = ["TrimmedFile", "check_capture", "trim"]

_REREAD_BYTES: Final = 1 << 20
# A packet that was none of TCP must not become one: no header of TCP has a length of 0.
_NO_HEADER: Final = 0
# Fragments that came before the first of their packet and are waited for; the scan waits for no more.
_MOST_EARLY: Final = 4096


@dataclass(slots=True)
class TrimmedFile:
    """Result of one file: names of input and output, number of TCP payload bytes, and of unchanged ones."""

    source: str
    target: str
    packets: int = 0  # packets in the file
    payload_bytes: int = 0
    kept_bytes: int = 0
    damage: str = ""  # cause of an early end, empty without one


class _Piece:
    def __init__(self, number: int, report: TrimmedFile, file: RewrittenFile) -> None:
        self.number = number
        self.report = report
        self.file = file
        self.compression: object = None
        self.head = b""
        self.checked = bytearray(1)  # by packet number: its TCP checksum was right
        self.skipped: dict[int, int] = {}  # bytes that make no records, where they begin to where they end
        self.early: dict[int, tuple[int, int]] = {}  # by packet number: where a fragment's bytes lie in the file

    def blank(self, data: bytes, start: int, end: int, walker: RecordWalker, position: int) -> bytearray:
        """Return the whole records of a chunk with blanked payloads."""
        out = bytearray(data[start:end])
        for record in walker.walk(data, start, end):
            at, stop, filler = record.at, record.end, FILL
            if isinstance(record, PacketRecord):
                at, filler = self._payload_at(data, record, position)
            if at < stop:
                out[at - start : stop - start] = bytes((filler,)) * (stop - at)
        return out

    def _payload_at(self, data: bytes, record: PacketRecord, position: int) -> tuple[int, int]:
        """Return the end of a packet's headers, and the replacement of the rest."""
        self.report.packets += 1
        self.checked.append(0)
        if record.link_type < 0:
            return record.at, _NO_HEADER
        view = PacketView(data, record.at, record.end, record.cut)
        fate = view.find(record.link_type)
        if fate == TCP:
            self.checked[-1] = is_right(view)
            return min(view.at + view.header, record.end), FILL
        if fate == FRAGMENT and view.fragment_at == 0:
            fate = view.follow(PROTOCOL + view.protocol)
            if fate == TCP:
                return min(view.at + view.header, record.end), FILL
        elif fate == FRAGMENT and len(self.early) < _MOST_EARLY:
            self.early[record.number] = (position + view.at, view.end - view.at)
        return min(view.at, record.end), FILL if fate in (FRAGMENT, EXPORTED) else _NO_HEADER

    def located(self, data: bytes, position: int, columns: PacketColumns) -> LocatedBytes:
        """Return a chunk, and payload kept from earlier ones, as bytes with places."""
        found = LocatedBytes.of(data + columns.spilled, Place(self.number, position))
        found.plain = len(data)
        for number, offset, captured in zip(columns.number, columns.offset, columns.captured, strict=True):
            if offset >= len(data) and number in self.early:
                at, size = self.early.pop(number)
                found.elsewhere[offset] = Place(self.number, at + size - captured)
        if not columns.spilled and len(self.early) == _MOST_EARLY:
            self.early.clear()
        return found

    def finish_packets(self, walker: RecordWalker, pseudonyms: AddressPseudonyms | None) -> None:
        """Recompute the checksums that were right, with pseudonymous addresses if given."""
        at, data = len(self.head), b""
        while True:
            while at in self.skipped:
                at, data = self.skipped[at], b""
            border = min((each for each in self.skipped if each > at), default=self.file.size)
            more = self.file.read(at + len(data), min(_REREAD_BYTES, border - at - len(data)))
            data += more
            end = walker.whole(data)
            for record in walker.walk(data, 0, end):
                if not isinstance(record, PacketRecord):
                    continue
                checked = self.checked[record.number] != 0
                if pseudonyms is not None:
                    packet = rewrite_packet(data, record.at, record.end, record.cut, record.link_type, pseudonyms, checked)
                    self.file.patch(at + record.at, packet)
                elif checked:
                    view = PacketView(data, record.at, record.end, record.cut)
                    view.find(record.link_type)
                    self.file.patch(at + view.at + 16, right_checksum(view))
            at, data = at + end, data[end:]
            if not more and at not in self.skipped:
                return


class _Files:
    """Output files of a series, written all or none."""

    def __init__(self) -> None:
        self.pieces: list[_Piece] = []

    def patch(self, place: Place, data: bytes, kept: int) -> None:
        """Write bytes back into their packets; `kept` of them are unchanged."""
        if place.file >= 0:
            piece = self.pieces[place.file]
            piece.file.patch(place.at, data)
            piece.report.kept_bytes += kept


@contextmanager
def _abandoning(files: _Files) -> Iterator[None]:
    try:
        yield
    finally:
        for piece in files.pieces:
            piece.file.abandon()


def trim(
    pairs: Sequence[tuple[str | BinaryIO, str]],
    ports: Iterable[int] = (),
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    pseudonyms: AddressPseudonyms | None = None,
) -> list[TrimmedFile]:
    """Write captures without record contents, SASL tokens, credentials, configuration values and user data.

    Args:
        pairs: files of one series in order, each with its output name; format and compression stay.
        ports: TCP ports of brokers; empty to detect them.
        pseudonyms: replacements of addresses in headers and of hosts in messages. Of TLS, only the beginning stays, as it names hosts.

    Raises:
        InputError: a file is unreadable or not a capture, or an output exists or cannot be written. No output remains.
    """
    files = _Files()
    carry = impl.series_carry()
    streams = TrimmedStreams(frozenset(ports), files.patch, pseudonyms)
    with _abandoning(files):
        walkers = []
        for number, (location, target) in enumerate(pairs):
            name = location if isinstance(location, str) else "standard input"
            piece = _Piece(number, TrimmedFile(name, target), RewrittenFile(target, overwrite=overwrite))
            files.pieces.append(piece)
            with open_capture(location) as source:
                walkers.append(_trim_file(piece, source, carry, streams, progress or quiet, with_names=pseudonyms is not None))
                piece.compression = source.compression
        carry.finish(streams)
        for piece, walker in zip(files.pieces, walkers, strict=True):
            piece.finish_packets(walker, pseudonyms)
        for piece in files.pieces:
            piece.file.publish(piece.compression)  # type: ignore[arg-type]
    return [piece.report for piece in files.pieces]


def _trim_file(
    piece: _Piece,
    source: CaptureSource,
    carry: SeriesStreams,
    streams: TrimmedStreams,
    progress: Callable[[int], None],
    *,
    with_names: bool,
) -> RecordWalker:
    """Read one file; return a walker positioned at its beginning."""
    name = piece.report.source
    data, (state, start) = _begin(name, source, CHUNK_BYTES)
    walker, again = RecordWalker(state, with_names=with_names), RecordWalker(state)
    piece.head = data[:start]
    piece.file.append(piece.head)
    damages = Damages()
    state.strict = True
    position = reported = 0
    while True:
        columns = impl.packets.scan(data, start, state)
        state.proven = max(0, state.proven - columns.consumed + start)
        state.secrets.clear()
        piece.file.append(piece.blank(data, start, columns.consumed, walker, position))
        piece.report.payload_bytes += sum(columns.captured)
        carry.take(piece.located(data, position, columns), columns, streams)
        progress(source.stored_bytes - reported)
        reported = source.stored_bytes
        position += columns.consumed
        data, start = data[columns.consumed :], 0
        more = b"" if columns.damaged else source.read(CHUNK_BYTES)
        if not more:
            if not data:
                break
            if not columns.damaged and not state.ended:
                state.ended = True
                continue
            # a record that makes no sense, or one that seems to reach behind the end of the file
            head = data[: walker.head_of(data)]
            behind, at = damages.skip(position, data, source.read, state)
            if not behind:
                break
            if state.proven:  # odd, but right
                data = behind
                continue
            # its header stays, so that the trimmed file is read on at the same place
            piece.file.append((head + bytes((FILL,)) * (at - position))[: at - position])
            piece.skipped[position] = at
            data, more, position = b"", behind, at
        data += more
    if data:  # a record that is cut, or damaged with no record behind it
        kept = walker.head_of(data)
        piece.file.append(data[:kept] + (b"" if columns.damaged else bytes((FILL,)) * (len(data) - kept)))
        piece.report.damage = "a record has an impossible length" if columns.damaged else "it ends inside a packet record"
    piece.report.damage = source.damage or piece.report.damage
    return again


def check_capture(location: str) -> None:
    with open_capture(location, hashed=False, block_bytes=HEAD_BYTES) as source:
        _begin(location, source, PCAP_HEADER_BYTES)


def _begin(name: str, source: CaptureSource, size: int) -> tuple[bytes, tuple[FileState, int]]:
    """Read up to `size` bytes; return them, the state of the scan, and the offset of the first record."""
    data = source.read(size)
    while len(data) < PCAP_HEADER_BYTES and (more := source.read(PCAP_HEADER_BYTES - len(data))):
        data += more
    known = identify(data[:PCAP_HEADER_BYTES])
    if known is None:
        raise InputError(f"{name} is not a capture file" if data else source.damage or f"{name} is empty")
    return data, known
