"""What decoding costs in memory stays within the stated multiple of the input, for the densest bytes of every array that Kafka has."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.codec.decoding import MEMORY_MULTIPLE, MEMORY_MULTIPLE_OF_VIEWS, MESSAGE_BYTES
from kwire.codec.plan import FIXED_SIZE, Flag, Op, Operation, Plan
from kwire.codec.prefix import PrefixReader
from kwire.errors import Truncated, WireError
from kwire.schema import catalog

COUNT = 150
DENSEST = "AlterClientQuotasRequest"  # of all messages
Path_ = tuple[int, ...]  # numbers of the operations that lead to an array


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


class Densest:
    """Writes messages in which everything is as short as it can be, but one array, which has many elements.

    Arguments:
        plan: of the message.
        count: of elements.
        claimed: of them; None where the count is true.
    """

    def __init__(self, plan: Plan, count: int = COUNT, claimed: int | None = None) -> None:
        self.plan = plan
        self.count = count
        self.claimed = count if claimed is None else claimed

    def operations(self, block: int) -> list[tuple[int, Operation]]:
        found = self.plan.blocks[block]
        return [(number, self.plan.operation(number)) for number in range(found.first, found.first + found.untagged + found.tagged)]

    def arrays(self, block: int = 0, path: Path_ = ()) -> Iterator[Path_]:
        for number, operation in self.operations(block):
            if operation.code == Op.ARRAY:
                yield (*path, number)
            if operation.block >= 0:
                yield from self.arrays(operation.block, (*path, number))

    def write(self, path: Path_, block: int = 0) -> bytes:
        """The bytes of a struct; `path` leads to the array, from here, or is empty."""
        tags = []
        out = b""
        for number, operation in self.operations(block):
            inside = path[1:] if path[:1] == (number,) else None
            if operation.tag < 0:
                out += self.value(operation, inside)
            elif inside is not None:
                value = self.value(operation, inside)
                tags.append(varint(operation.tag) + varint(len(value)) + value)
        return out + (varint(len(tags)) + b"".join(tags) if self.plan.flexible else b"")

    def value(self, operation: Operation, path: Path_ | None) -> bytes:
        compact = bool(operation.flags & Flag.COMPACT)
        if operation.code in FIXED_SIZE:
            return bytes(FIXED_SIZE[operation.code])
        if operation.code == Op.STRUCT:
            marker = b"\1" if operation.flags & Flag.NULLABLE else b""  # an object for a byte is denser than none
            return marker + self.write(path or (), operation.block)
        if operation.code != Op.ARRAY:
            return self.empty(operation.code, compact)
        count = 0 if path is None else 1 if path else self.claimed
        head = varint(count + 1) if compact else count.to_bytes(4, "big")
        if path is None:
            return head
        if path:
            return head + self.write(path, operation.block)
        if operation.element == Op.STRUCT:
            return head + self.write((), operation.block) * self.count
        if operation.element in FIXED_SIZE:
            return head + bytes(FIXED_SIZE[operation.element]) * self.count
        return head + self.empty(operation.element, compact) * self.count

    @staticmethod
    def empty(code: int, compact: bool) -> bytes:
        return b"\1" if compact else bytes(2 if code == Op.STRING else 4)


def peak_of(read: Any, data: bytes) -> int:
    tracemalloc.start()
    try:
        kept = []
        with contextlib.suppress(WireError):
            kept.append(read(data))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_every_array_at_its_densest(codec, share):
    seen, above, dearest = 0, [], 0.0
    for name in {*share(catalog(), 7), DENSEST}:
        version = catalog()[name].valid_versions.highest
        decoder = codec.compiled.decoder(name, version)
        for path in Densest(decoder.plan).arrays():
            decoder.decode_whole(Densest(decoder.plan, 1).write(path))  # what the first message makes stays, and is no cost of the next
            data = Densest(decoder.plan).write(path)
            whole, cut = peak_of(decoder.decode, data), peak_of(decoder.decode, data[:-1])
            if whole > MEMORY_MULTIPLE * len(data) + 1024 or cut > MEMORY_MULTIPLE * len(data) + MESSAGE_BYTES:
                above.append((name, version, path, whole / len(data), cut / len(data)))
            dearest = max(dearest, whole / len(data))
            seen += 1
    assert above == []
    assert seen > 500 / 10
    # The stated multiple is no fantasy. The native twin takes the memory of released objects again, unseen here, and makes fewer of them.
    assert dearest > MEMORY_MULTIPLE * (0.7 if codec.twin == "pure" else 0.4)


def test_messages_with_views_stay_within_their_multiple(codec):
    """SyncGroupRequest is the densest: an assignment of three bytes with an empty value. The multiple is not twice what it takes."""
    decoder = codec.compiled.decoder("SyncGroupRequest", 5)
    dearest = 0.0
    for path in Densest(decoder.plan).arrays():

        def read(data: bytes) -> Any:
            return decoder.decode(data, 0, False, True)

        read(Densest(decoder.plan, 1).write(path))
        data = Densest(decoder.plan).write(path)
        whole, cut = peak_of(read, data), peak_of(read, data[:-1])
        assert whole < MEMORY_MULTIPLE_OF_VIEWS * len(data) + 1024
        assert cut < MEMORY_MULTIPLE_OF_VIEWS * len(data) + MESSAGE_BYTES
        dearest = max(dearest, whole / len(data))
    assert dearest > MEMORY_MULTIPLE_OF_VIEWS / 2


def test_counts_that_promise_more_cost_no_more(codec, share):
    """A million elements are claimed and three are there: no array takes room for the rest, whole or in part."""
    prefixes = PrefixReader(codec.compiled)
    for name in share(catalog(), 3):
        version = catalog()[name].valid_versions.highest
        decoder = codec.compiled.decoder(name, version)
        for path in Densest(decoder.plan).arrays():
            data = Densest(decoder.plan, 3, 1_000_000).write(path)
            with pytest.raises(Truncated):
                decoder.decode(data)
            bound = MEMORY_MULTIPLE * len(data) + MESSAGE_BYTES
            for read in (decoder.decode, lambda given: prefixes.decode_prefix(name, given, version)):  # noqa: B023 - called here
                assert peak_of(read, data) < bound, (name, path)


PROGRAM = """
import sys
from kwire.codec.classes import compiled
size = int(sys.argv[1])
decode = compiled().decoder("AlterClientQuotasRequest", 1).decode_whole
count = size // 3
head = count + 1
varint = bytes((head & 127 | 128, head >> 7 & 127 | 128, head >> 14 & 127 | 128, head >> 21))
data = varint + b"\\1\\1\\0" * count + b"\\0\\0"
decode(b"\\2\\1\\1\\0\\0\\0")
def resident():
    with open("/proc/self/status") as lines:
        return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmHWM", "VmRSS"))}
before = resident()["VmRSS"]
kept = decode(data)
grown = (resident()["VmHWM"] - before) * 1024
entry = kept.entries[0]
blocks = 8 + sum(-(-sys.getsizeof(each) // 16) * 16 for each in (entry, entry.entity, entry.ops))
print(len(data), grown, count * blocks)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's account of the process is read from /proc")
@pytest.mark.weighs_process
def test_the_process_grows_no_more(twin):
    """By the kernel's account, which sees every allocator: the densest message there is, half a megabyte of it.

    An object costs whole blocks of 16 bytes. From 3.12 on one of Python's own classes that takes weak references has 16 bytes for them in
    front of it, where 3.11 has 8 in it: 72 bytes for an entry, which take 80.
    """
    variables = {**os.environ, "KWIRE_PURE": "1" if twin == "pure" else "0"}
    done = subprocess.run([sys.executable, "-c", PROGRAM, "500000"], env=variables, capture_output=True, text=True, check=True)
    size, grown, blocks = map(int, done.stdout.split())
    assert size * MEMORY_MULTIPLE / 2 < grown < max(size * MEMORY_MULTIPLE * 1.1, blocks * 1.05)
