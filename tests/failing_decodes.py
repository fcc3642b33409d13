"""Decodes of damaged bytes, as many as are asked for, and what the process holds on the way: `python tests/failing_decodes.py 10000000`.

Frames, record batches and streams of the vectors come whole (every eighth), cut, with bytes behind them, or with bytes changed. There are
ten turns over the same bytes, and a line for each: decodes, those that failed, blocks of Python's allocator, bytes of the C library's,
resident bytes. The exit status is 1 where one of them grew after the first turn, which fills caches.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from kwire.codec.columns import Columns
from kwire.codec.header_scan import HeaderScan
from kwire.codec.impl import Twin, load_twin
from kwire.codec.prefix import PrefixReader
from kwire.codec.records import record_reader
from kwire.errors import WireError
from kwire.protocol.tracking.connection import Connection as PureConnection
from twin_codecs import codec_of, vectors_of

TURNS = 10
# However many decodes there are: what each of nine turns leaves is nine times as much.
KEPT = {"blocks": 500, "heap": 256 << 10, "resident": 8 << 20}
LIMIT = 1 << 20  # bytes of an unpacked batch
Way = Callable[[bytes], object]


class Held(NamedTuple):
    """Decodes so far, blocks of Python's allocator, bytes in use of the C library's (0: unknown), resident bytes."""

    decodes: int
    failed: int
    blocks: int
    heap: int
    resident: int


class _Heap(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and later."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def heap_bytes() -> int:
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = _Heap
    found = ask()
    return int(found.uordblks + found.hblkhd)


def held(decodes: int, failed: int) -> Held:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Held(decodes, failed, sys.getallocatedblocks(), heap_bytes(), pages * os.sysconf("SC_PAGE_SIZE"))


def damaged(data: bytes, chance: random.Random) -> bytes:
    way = chance.randrange(8)
    if way == 0:
        return data
    if way < 4:
        return data[: chance.randrange(len(data))]
    if way == 4:
        return data + chance.randbytes(chance.randrange(1, 9))
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 8))):
        changed[chance.randrange(len(changed))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(changed)


def cases(twin: Twin) -> list[tuple[bytes, tuple[Way, ...]]]:
    codec, records = codec_of(twin), record_reader(twin)
    columns, prefixes, scan = Columns(codec.compiled), PrefixReader(codec.compiled), HeaderScan(codec.compiled)
    make = PureConnection if twin == "pure" else load_twin("protocol", "tracker", twin).Connection

    def prefix(name: str, version: int, data: bytes) -> object:
        return prefixes.decode_prefix(name, data, version)

    def column(name: str, version: int, data: bytes) -> object:
        return columns.to_arrow(name, [data], version)

    def tracked(data: bytes) -> None:
        connection = make()
        connection.receive_request_bytes(data, 1)
        connection.receive_response_bytes(data, 2)
        connection.finish(3)

    def unpacked(data: bytes) -> None:
        for batch in records.decode(data, max_decompressed=LIMIT):
            len(batch.records)

    found: list[tuple[bytes, tuple[Way, ...]]] = []
    for case in vectors_of("frames-sample"):
        frame, name, version = bytes.fromhex(case["hex"]), case["message"], case["version"]
        if len(frame) > 2000:
            continue
        body = frame[4 + case["header_size"] :]
        if case["kind"] == "request":
            found.append((frame[4:], (codec.frames.decode_request, codec.frames.peek_header)))
            found.append((frame, (scan.scan_headers, tracked)))
        elif body:
            decoder = codec.compiled.decoder(name, version)
            found.append((body, (decoder.decode_whole, partial(prefix, name, version), partial(column, name, version))))
    for case in vectors_of("records-sample"):
        if 0 < len(case["hex"]) <= 4000:
            found.append((bytes.fromhex(case["hex"]), (unpacked, lambda data: records.to_arrow([data], max_decompressed=LIMIT))))
    return found


def run(twin: Twin, decodes: int) -> Iterator[Held]:
    work = cases(twin)
    done = failed = 0
    for _turn in range(TURNS):
        chance, begin = random.Random(7), done  # each turn ends at the same bytes, of which the process may still hold something
        while done - begin < decodes // TURNS:
            data, ways = chance.choice(work)
            bad = damaged(data, chance)
            for read in ways:
                done += 1
                try:
                    read(bad)
                except WireError:
                    failed += 1
        yield held(done, failed)


def grown(first: Held, last: Held) -> list[str]:
    more = {name: getattr(last, name) - getattr(first, name) for name in KEPT}
    return [f"{name} grew by {more[name]:,} in {last.decodes - first.decodes:,} decodes" for name in KEPT if more[name] > KEPT[name]]


def main(decodes: int, twin: Twin = "native") -> int:
    seen: list[Held] = []
    for each in run(twin, decodes):
        seen.append(each)
        print(*(f"{name} {value:,}" for name, value in each._asdict().items()), sep="  ", flush=True)
    faults = grown(seen[0], seen[-1])
    for fault in faults:
        print(f"kwire: {fault}", file=sys.stderr)
    if seen[-1].failed < decodes // 4:
        faults.append("few failed")
        print("kwire: fewer than a quarter of the decodes failed", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:3]))  # type: ignore[arg-type]
