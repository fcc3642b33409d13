"""Differences in record batches; how each is recognized is in `difference`."""

from __future__ import annotations

import zlib
from typing import Final

from other_decoders.asking import Question
from other_decoders.difference import JAVA, KWIRE_REFUSES, PEER_REFUSES, VALUE, Difference

__all__ = ["RECORD_DIFFERENCES"]


def _records(data: str) -> Question:
    return Question("records", "", 0, bytes.fromhex(data))


def _wrapped(inner: str, offset: int = 0, flags: int = 0) -> Question:
    """Messages inside a gzip message of magic 1, without key."""
    plain = bytes.fromhex(inner)
    size = len(plain)
    # one stored block, as no compressor's version has it otherwise
    stored = b"\1" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + plain
    payload = (
        bytes([0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 0xFF]) + stored + zlib.crc32(plain).to_bytes(4, "little") + size.to_bytes(4, "little")
    )
    body = bytes.fromhex("00000000 01 01 0000018bcfe56800 ffffffff") + len(payload).to_bytes(4, "big") + payload
    return Question("records", "", 0, offset.to_bytes(8, "big") + len(body).to_bytes(4, "big") + body)


RECORD_DIFFERENCES: Final = (
    Difference(
        "Bytes left over inside a message of magic 0 or 1",
        (JAVA,),
        KWIRE_REFUSES,
        "TRAILING_BYTES",
        "finds key and value by their lengths and ignores the following bytes",
        "a checksum does not show the end of a value; kwire's lenient reading returns the record and the fault",
        # offset 0, 16 bytes: checksum, magic 0, no attributes, no key, the value "v", a byte that no field claims
        _records("0000000000000000 00000010 00000000 00 00 ffffffff 00000001 76 aa"),
        ("records",),
    ),
    Difference(
        "A message that is cut inside a compressed one",
        (JAVA,),
        KWIRE_REFUSES,
        "TRUNCATED",
        "ends there without an error (`DataLogInputStream.nextBatch` returns null)",
        "the compressed message was whole but holds less than it claims; records are lost, and kwire's lenient reading returns the others",
        # one whole message of magic 1 with the value "v", then ten bytes of another
        _wrapped("0000000000000000 00000017 00000000 01 00 0000018bcfe56800 ffffffff 00000001 76" + "0000000000000001 0000"),
        ("records",),
    ),
    Difference(
        "A cut batch whose length is below the least of its magic",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_LENGTH",
        "treats it as a truncated batch, before checking the smallest length of the magic (`ByteBufferLogInputStream.nextBatch`)",
        "no such batch can be whole, so it is damaged and not cut",
        # 18 bytes, of which magic 2 has 49 at least, and six of them
        _records("0000000000000000 00000012 00000000 02 00"),
        ("records",),
        values=(r".*impossible length or count at byte \d+ in batches\[\d+\]\.size.*", ""),
    ),
    Difference(
        "A record's varint with bits beyond the 32nd",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_VARINT",
        "drops the bits that do not fit into an `int` (`ByteUtils.readVarint`); refuses a sixth byte",
        "as in messages: the number that is left after the loss is not the one that was written",
        # magic 2, one record whose key length is 2, the zigzag of 1, and three bits that an int has no room for
        _records(
            "0000000000000000 0000003e 00000000 02 00000000 0000 00000000 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff"
            "00000001 18 00 00 00 82808080706b 0276 00"
        ),
        ("records",),
    ),
    Difference(
        "A message of one magic inside another",
        (JAVA,),
        KWIRE_REFUSES,
        "UNSUPPORTED_VERSION",
        "a consumer reads it; a broker refuses to append it (`LogValidator`)",
        "no log of a broker has it; kwire holds every reader to the broker's rule",
        # inside magic 1 a message of magic 127
        _wrapped("0000000000000000 00000017 00000000 7f 00 0000018bcfe56800 ffffffff 00000001 76"),
        ("records",),
    ),
    Difference(
        "A compressed batch of no bytes",
        (JAVA,),
        PEER_REFUSES,
        "KafkaException: .*",
        "cannot unpack it",
        "its count is 0, so there is nothing to unpack",
        # magic 2, snappy, no records
        _records(
            "0000000000000000 00000031 00000000 02 00000000 0002 00000000 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff"
            "00000000"
        ),
        ("records",),
    ),
    Difference(
        "Sequence numbers below -1",
        (JAVA,),
        VALUE,
        r"\[\d+\](\[7\]|\[11\]\[\d+\]\[2\])",
        "adds to them, and lets its `int` overflow where a record is numbered below its batch (`DefaultRecordBatch.incrementSequence`)",
        "-1 is none; no producer writes another negative one, nor a negative offset delta",
        # producer 7, sequence -2, one record "k", "v"
        _records(
            "0000000000000000 0000003a 00000000 02 00000000 0000 00000000 0000018bcfe56800 0000018bcfe56800 0000000000000007 0000 fffffffe"
            "00000001 10 00 00 00 026b 0276 00"
        ),
        ("records",),
        values=("", r"-\d+"),
    ),
    Difference(
        "Sequence numbers below -1",
        (JAVA,),
        VALUE,
        r"\[\d+\]\[7\]",
        "does so where the sum is positive too",
        "as above",
        # as above, with a last offset delta of 3 and no record: -2 + 3
        _records(
            "0000000000000000 00000031 00000000 02 00000000 0000 00000003 0000018bcfe56800 0000018bcfe56800 0000000000000007 0000 fffffffe"
            "00000000"
        ),
        ("records",),
        values=("-1", r"\d+"),
    ),
    Difference(
        "A gzip header with flags that RFC 1952 reserves",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_COMPRESSION",
        "ignores them (`java.util.zip.GZIPInputStream`)",
        "RFC 1952: a reader must refuse a member with such a flag, which may mean another field; zlib does",
        _wrapped("0000000000000000 00000017 00000000 01 00 0000018bcfe56800 ffffffff 00000001 76", flags=0x80),
        ("records",),
        values=(".*unknown header flags set.*", ""),
    ),
    Difference(
        "An LZ4 frame that ends with a stored block of no bytes",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_COMPRESSION",
        "reads the block as the end of the frame (`Lz4BlockInputStream.readBlock`)",
        "the LZ4 frame format ends with four bytes of zeros; 00000080 is a block, and nothing follows it",
        # magic 2, LZ4, one record: the mark, flags and largest block with their checksum, a stored block of 8 bytes, an empty stored block
        _records(
            "0000000000000000 00000048 00000000 02 00000000 0003 00000000 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff"
            "00000001 04224d18 60 40 82 08000080 0e00000002760100 00000080"
        ),
        ("records",),
        values=(".*(lz4: truncated frame|Finish runned before read end).*", ""),  # the latter by cramjam 2.11
    ),
    Difference(
        "A batch of nearly 2^31 bytes",
        (JAVA,),
        PEER_REFUSES,
        "IllegalArgumentException: newLimit < 0.*",
        "adds the 12 bytes in front of the length to it and lets its `int` overflow",
        "a length beyond the buffer is a batch that is cut, as brokers send it at the end of a response (KIP-74)",
        # magic 2, a length of 2^31-1, and one byte more than magic's place
        _records("0000000000000000 7fffffff 00000000 02 00"),
        ("records",),
    ),
    Difference(
        "A compressed message at a lower offset than those inside",
        (JAVA,),
        PEER_REFUSES,
        "InvalidRecordException: Found invalid wrapper offset in compressed v1 message set.*",
        "refuses the message, but not where its offset is 0",
        "kwire returns the offsets of the inner messages unchanged",
        # at offset 1 a message of magic 1 with one inside, at offset 5
        _wrapped("0000000000000005 00000017 00000000 01 00 0000018bcfe56800 ffffffff 00000001 76", 1),
        ("records",),
    ),
)
