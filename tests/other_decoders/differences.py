"""Where kwire and another reader of Kafka's bytes do not agree, and why: each class with an example of hand-worked bytes.

`docs/reference/differences.md` is written from this list, and tests replay its examples. A fuzz target fails on a difference in no class.
"""

from __future__ import annotations

import re
import zlib
from typing import Final, NamedTuple

from other_decoders.asking import Question
from other_decoders.comparing import Contrast

__all__ = ["DIFFERENCES", "Difference", "class_of"]

JAVA: Final = "java"
KIO: Final = "kio"
KAFKA_PYTHON: Final = "kafka-python"
KWIRE_REFUSES: Final = "kwire refuses"
PEER_REFUSES: Final = "peer refuses"
VALUE: Final = "value"
MESSAGES: Final = ("message", "request", "response")
NO_UUID: Final = r"b'(\\x00){16}'"


class Difference(NamedTuple):
    """A class of differences.

    Attributes:
        title: what the bytes have.
        peers: whose outcome is another than kwire's.
        how, what: of a `Contrast` in this class; `what` is a regular expression for the whole text.
        theirs: what the peer does, a sentence.
        why: why kwire does otherwise, with the rule's source.
        example: bytes in this class, for each peer.
        kinds: of the questions that can be in this class.
        values: kwire's and the peer's value as `repr`, regular expressions; empty for any.
        names: of the questions that can be in this class, a regular expression.
    """

    title: str
    peers: tuple[str, ...]
    how: str
    what: str
    theirs: str
    why: str
    example: Question
    kinds: tuple[str, ...] = MESSAGES
    values: tuple[str, str] = ("", "")
    names: str = ".*"


def _message(name: str, version: int, data: str) -> Question:
    return Question("message", name, version, bytes.fromhex(data))


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


DIFFERENCES: Final = (
    Difference(
        "Bytes left over after a message",
        (JAVA, KIO),
        KWIRE_REFUSES,
        "TRAILING_BYTES",
        "reads the message and leaves the rest to its caller; a broker does not look at it (`RequestContext.parseRequest`)",
        "left-over bytes mean that the version or the message is another than the reader believes; with `strict=False` kwire reads the "
        "message too and reports the bytes in `violation`",
        _message("HeartbeatResponse", 0, "001b aa"),  # error 27, then a byte that no field claims
    ),
    Difference(
        "Bytes left over after a message",
        (KAFKA_PYTHON,),
        KWIRE_REFUSES,
        "TRAILING_BYTES",
        "reads the message and does not say that something is left",
        "as above",
        _message("HeartbeatResponse", 0, "001b aa"),
    ),
    Difference(
        "Text that is not UTF-8",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_UTF8",
        "puts U+FFFD in its place: `Readable.readString` calls `new String(bytes, UTF_8)`, so brokers answer such requests",
        "the replaced text is not what was sent and cannot be written again; with `strict=False` kwire replaces as Java does",
        _message("HeartbeatRequest", 0, "0001 ff 00000003 0001 6d"),  # a group id of the byte ff, which UTF-8 never has
        (*MESSAGES, "records"),
    ),
    Difference(
        "A compact length or count above 2^31-1",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_LENGTH",
        "lets its `int` overflow: a length reads as null, a number of tagged fields as none",
        "KIP-482 gives compact types a length of at most 31 bits, no writer makes a longer one, and a null has one encoding, the byte 0",
        _message("MetadataRequest", 12, "ffffffff0f 01 00 00"),  # the count of topics is 2^32-1, one more than the count itself
    ),
    Difference(
        "A varint with bits beyond the 32nd",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_VARINT",
        "drops the bits that its `int` has no room for (`ByteUtils.readUnsignedVarint`); a sixth byte it refuses",
        "KIP-482 varints have 32 bits, and the number that is left after the loss is not the one that was written",
        _message("HeartbeatResponse", 4, "00000000 001b 8080808010"),  # the number of tagged fields is 2^32
    ),
    Difference(
        "A tagged field that does not fill its size",
        (JAVA, KIO),
        KWIRE_REFUSES,
        "BAD_TAG|TRUNCATED",
        "reads a field that it knows and does not look at the size in front of it",
        "a reader that does not know the tag steps over its size (KIP-482), so two readers of such bytes see different messages",
        # ApiVersionsResponse v3, one tagged field: number 3 (ZK migration ready), a size of 0, and a boolean of one byte
        _message("ApiVersionsResponse", 3, "0000 01 00000000 01 03 00 01"),
    ),
    Difference(
        "A tagged field that does not fill its size",
        (KAFKA_PYTHON,),
        KWIRE_REFUSES,
        "BAD_TAG",
        "does the same",
        "as above",
        _message("ApiVersionsResponse", 3, "0000 01 00000000 01 03 00 01"),
    ),
    Difference(
        "A tagged field whose size is above 2^31-1",
        (KIO, KAFKA_PYTHON),
        KWIRE_REFUSES,
        "BAD_LENGTH|BAD_VARINT",
        "does not look at it; kafka-python has no limit on the length of a varint either",
        "no writer makes one; Kafka's readers refuse varints of more than 32 bits (`ByteUtils.readUnsignedVarint`)",
        _message("ApiVersionsResponse", 3, "0000 01 00000000 01 03 ffffffff0f 01"),
    ),
    Difference(
        "Null where null is not allowed",
        (KIO, KAFKA_PYTHON),
        KWIRE_REFUSES,
        "NULL_NOT_ALLOWED",
        "reads null for an array, or an empty one; of text and bytes kio refuses null too",
        "Kafka's readers refuse it (`non-nullable field groups was serialized as null`)",
        _message("DescribeGroupsRequest", 0, "ffffffff"),  # the array of groups is null
    ),
    Difference(
        "Values that the bytes cut off",
        (KAFKA_PYTHON,),
        KWIRE_REFUSES,
        "TRUNCATED",
        "slices what there is: text and bytes come out short",
        "Kafka's readers throw BufferUnderflowException",
        _message("SaslHandshakeRequest", 0, "0005 504c41"),  # a mechanism of five bytes, of which three are there
    ),
    Difference(
        "A tagged field of a number that the version does not define",
        (KIO,),
        PEER_REFUSES,
        r"KeyError: 'Unknown tagged field tag: \d+'",
        "refuses the message",
        "KIP-482: a reader keeps or skips the tags that it does not know, which is how fields are added to released versions",
        _message("HeartbeatResponse", 4, "00000000 001b 01 05 01 78"),  # one tagged field: number 5, one byte, "x"
    ),
    Difference(
        "An error code that the release does not know",
        (KIO,),
        PEER_REFUSES,
        r"ValueError: -?\d+ is not a valid ErrorCode",
        "refuses the message",
        "`Errors.forCode` of Kafka takes an unknown code for UNKNOWN_SERVER_ERROR; the number is on the wire, and kwire keeps it",
        _message("HeartbeatResponse", 0, "270f"),  # error 9999
    ),
    Difference(
        "A boolean other than 0 and 1",
        (KIO,),
        PEER_REFUSES,
        "ValueError: Invalid boolean value",
        "refuses it",
        "Kafka reads any byte but 0 as true (`readByte() != 0`); kwire writes 1 for it, as Kafka does",
        _message("DescribeClusterRequest", 0, "02 00"),
    ),
    Difference(
        "A length or count below -1",
        (KIO,),
        PEER_REFUSES,
        "NegativeByteLength: Found negative byte length|ValueError: negative array length",
        "refuses it; -1 alone is null",
        "Kafka's readers take any negative length for null (`if (length < 0)`), and a client is known that sends the count -2",
        _message("MetadataRequest", 1, "fffffffe"),  # the count of topics is -2
    ),
    Difference(
        "A length or count below -1",
        (KAFKA_PYTHON,),
        VALUE,
        ".*",
        "reads an empty array",
        "as above",
        _message("MetadataRequest", 1, "fffffffe"),
        values=("None", r"\[\]"),
    ),
    Difference(
        "A UUID of zeros",
        (KIO, KAFKA_PYTHON),
        VALUE,
        ".*",
        "has None for it",
        "a UUID is never null on the wire; zeros are a value like others (`Uuid.ZERO_UUID`), and kwire keeps the 16 bytes",
        _message("DescribeTopicPartitionsResponse", 0, "00000000 02 0000 0261 00000000000000000000000000000000 00 01 00000000 00 ff 00"),
        values=(NO_UUID, "None"),
    ),
    Difference(
        "A null struct that is marked by another byte than ff",
        (KIO, KAFKA_PYTHON),
        PEER_REFUSES,
        ".*",
        "takes -1 alone for null, and reads a struct behind other negative bytes",
        "Kafka's readers take any negative byte for null (`readByte() < 0`)",
        _message("DescribeTopicPartitionsResponse", 0, "00000000 01 80 00"),  # no topics; the cursor is null
        names="DescribeTopicPartitions(Request|Response)|(Consumer|Share|Streams)GroupHeartbeatRe.*|StreamsGroupDescribeResponse|68|7[56]|8[89]",
    ),
    Difference(
        "A time that is negative or that Python's types cannot hold",
        (KIO,),
        PEER_REFUSES,
        r"ValueError: (timedelta milliseconds overflow|year -?\d+ is out of range)|OutOfBoundValue: Cannot parse negative timestamp",
        "refuses the message: it makes `timedelta` and `datetime` of numbers that count milliseconds",
        "the field is a number of 64 bits, and kwire gives the number; `kwire.codec.views` makes dates",
        _message("RenewDelegationTokenResponse", 1, "0000 7fffffffffffffff 00000000"),  # expires in the year 292,278,994
    ),
    Difference(
        "Operations that the broker did not count",
        (KAFKA_PYTHON,),
        VALUE,
        ".*authorized_operations",
        "has None for the default of these bits, -2147483648",
        "kwire gives the number of the wire",
        _message("MetadataResponse", 8, "00000000 00000000 ffff ffffffff 00000000 80000000"),
        values=("-2147483648", "None"),
    ),
    Difference(
        "A tagged struct that is not there",
        (KAFKA_PYTHON,),
        VALUE,
        "(body.)?replica_state",
        "has None for it",
        "a struct's default is a struct of defaults (Kafka's generator: `new ReplicaState()`)",
        # FetchRequest v15: wait, least and most bytes, isolation, session and epoch, no topics, none forgotten, no rack, no tagged field
        _message("FetchRequest", 15, "00000000 00000000 7fffffff 00 00000000 ffffffff 01 01 01 00"),
        values=(r"\{.*\}", "None"),
    ),
    Difference(
        "Tagged fields in a struct that is itself a tagged field",
        (KAFKA_PYTHON,),
        PEER_REFUSES,
        "AssertionError: ",
        "refuses the message: it asserts that such a struct has no tagged field",
        "a struct of a flexible version has a tagged section wherever it stands (KIP-482)",
        # as above, with the replica's state in tag 1: 16 bytes, replica 1, epoch 2, a tagged field 5
        _message(
            "FetchRequest", 15, "00000000 00000000 7fffffff 00 00000000 ffffffff 01 01 01 01 01 10 00000001 0000000000000002 01 05 01 78"
        ),
    ),
    Difference(
        "An ApiVersions response with an error",
        (KAFKA_PYTHON,),
        PEER_REFUSES,
        ".*",
        "reads every body with an error as version 0",
        "KIP-511 gives version 0 to UNSUPPORTED_VERSION (35) alone; Kafka's `ApiVersionsResponse.parse` reads the version asked for "
        "first, and version 0 where that fails",
        # v3 with error 2, one api (Produce 0 to 11), throttle time 0
        _message("ApiVersionsResponse", 3, "0002 02 0000 0000 000b 00 00000000 00"),
        names="ApiVersionsResponse|18",
    ),
    Difference(
        "A field that a later release renamed",
        (KIO,),
        VALUE,
        "(body.)?acceptable_recovery_lag",
        "has the name of Kafka 4.2 for the field of version 0",
        "Kafka 4.4 calls it AcceptableRecoveryLagLegacy, and gives the name to another field, of version 1",
        # StreamsGroupHeartbeatResponse v0: the lag is 5
        _message("StreamsGroupHeartbeatResponse", 0, "00000000 0000 00 01 00000000 00000000 00000005 00000000 00 00 00 00 00000000 00 00"),
        names="StreamsGroupHeartbeatResponse|88",
    ),
    Difference(
        "Bytes left over inside a message of magic 0 or 1",
        (JAVA,),
        KWIRE_REFUSES,
        "TRAILING_BYTES",
        "finds key and value by their lengths and does not look at what follows",
        "a checksum does not say where a value ends; kwire's lenient reading gives the record and the fault",
        # offset 0, 16 bytes: checksum, magic 0, no attributes, no key, the value "v", a byte that no field claims
        _records("0000000000000000 00000010 00000000 00 00 ffffffff 00000001 76 aa"),
        ("records",),
    ),
    Difference(
        "A message that is cut inside a compressed one",
        (JAVA,),
        KWIRE_REFUSES,
        "TRUNCATED",
        "ends there without a word (`DataLogInputStream.nextBatch` gives null)",
        "the compressed message was whole and held less than it says; records are lost, and kwire's lenient reading gives those before",
        # one whole message of magic 1 with the value "v", then ten bytes of another
        _wrapped("0000000000000000 00000017 00000000 01 00 0000018bcfe56800 ffffffff 00000001 76" + "0000000000000001 0000"),
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
        "does not look at them (`java.util.zip.GZIPInputStream`)",
        "RFC 1952: a reader must refuse a member with such a flag, which may announce a field; zlib does",
        _wrapped("0000000000000000 00000017 00000000 01 00 0000018bcfe56800 ffffffff 00000001 76", flags=0x80),
        ("records",),
        values=(".*unknown header flags set.*", ""),
    ),
    Difference(
        "An LZ4 frame that ends with a stored block of no bytes",
        (JAVA,),
        KWIRE_REFUSES,
        "BAD_COMPRESSION",
        "takes the block for the end of the frame (`Lz4BlockInputStream.readBlock`)",
        "the LZ4 frame format ends with four bytes of zeros; 00000080 is a block, and nothing follows it",
        # magic 2, LZ4, one record: the mark, flags and largest block with their checksum, a stored block of 8 bytes, an empty stored block
        _records(
            "0000000000000000 00000048 00000000 02 00000000 0003 00000000 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff"
            "00000001 04224d18 60 40 82 08000080 0e00000002760100 00000080"
        ),
        ("records",),
        values=(".*lz4: truncated frame.*", ""),
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
        "kwire gives the offsets of the messages inside as they are",
        # at offset 1 a message of magic 1 with one inside, at offset 5
        _wrapped("0000000000000005 00000017 00000000 01 00 0000018bcfe56800 ffffffff 00000001 76", 1),
        ("records",),
    ),
    Difference(
        "A last offset above 2^63-1",
        (JAVA,),
        VALUE,
        r"\[\d+\]\[1\]",
        "lets its `long` overflow",
        "`last_offset` is the sum of two numbers of the header; no log reaches it",
        # base offset 2^63-1 and a last offset delta of 1, no records
        _records(
            "7fffffffffffffff 00000031 00000000 02 00000000 0000 00000001 0000018bcfe56800 0000018bcfe56800 ffffffffffffffff ffff ffffffff"
            "00000000"
        ),
        ("records",),
        values=(r"9223372036\d{9}", r"-\d+"),
    ),
)


def class_of(peer: str, question: Question, contrast: Contrast) -> Difference | None:
    """The class that a contrast is in, None for a difference that is new."""
    for each in DIFFERENCES:
        asked = question.kind in each.kinds and re.fullmatch(each.names, question.name)
        if peer in each.peers and asked and each.how == contrast.how and re.fullmatch(each.what, contrast.what, re.S):
            values = zip(each.values, (contrast.ours, contrast.theirs), strict=True)
            if all(not wanted or re.fullmatch(wanted, repr(value), re.S) for wanted, value in values):
                return each
    return None
