"""Differences in messages and in the headers of frames; how each is recognized is in `difference`."""

from __future__ import annotations

from typing import Final

from other_decoders.asking import Question
from other_decoders.comparing import Contrast
from other_decoders.difference import JAVA, KAFKA_PYTHON, KIO, KWIRE_REFUSES, MESSAGES, PEER_REFUSES, VALUE, Difference

__all__ = ["MESSAGE_DIFFERENCES"]

NO_UUID: Final = r"b'(\\x00){16}'"


def _lacks_a_null_client_id(contrast: Contrast) -> bool:
    """The frames differ in the two bytes behind api, version and correlation id alone."""
    return bool(contrast.ours[8:10] == b"\xff\xff" and contrast.theirs == contrast.ours[:8] + bytes(2) + contrast.ours[10:])


def _message(name: str, version: int, data: str) -> Question:
    return Question("message", name, version, bytes.fromhex(data))


MESSAGE_DIFFERENCES: Final = (
    Difference(
        "Bytes left over after a message",
        (JAVA, KIO),
        KWIRE_REFUSES,
        "TRAILING_BYTES",
        "reads the message and ignores the rest, as a broker does (`RequestContext.parseRequest`)",
        "left-over bytes mean that the version or the message is another than the reader believes; with `strict=False` kwire reads the "
        "message too and reports the bytes in `violation`",
        _message("HeartbeatResponse", 0, "001b aa"),  # error 27, then a byte that no field claims
    ),
    Difference(
        "Bytes left over after a message",
        (KAFKA_PYTHON,),
        KWIRE_REFUSES,
        "TRAILING_BYTES",
        "reads the message and does not report the rest",
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
        "drops the bits that do not fit into an `int` (`ByteUtils.readUnsignedVarint`); refuses a sixth byte",
        "KIP-482 varints have 32 bits, and the number that is left after the loss is not the one that was written",
        _message("HeartbeatResponse", 4, "00000000 001b 8080808010"),  # the number of tagged fields is 2^32
    ),
    Difference(
        "A tagged field that does not fill its size",
        (JAVA, KIO),
        KWIRE_REFUSES,
        "BAD_TAG|TRUNCATED",
        "reads a known field and ignores the size before it",
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
        "ignores the size; kafka-python does not limit the length of a varint either",
        "no writer writes such a size; Kafka's readers refuse varints of more than 32 bits (`ByteUtils.readUnsignedVarint`)",
        _message("ApiVersionsResponse", 3, "0000 01 00000000 01 03 ffffffff0f 01"),
    ),
    Difference(
        "Null where null is not allowed",
        (KIO, KAFKA_PYTHON),
        KWIRE_REFUSES,
        "NULL_NOT_ALLOWED",
        "reads null or an empty array for arrays; kio refuses null for text and bytes",
        "Kafka's readers refuse it (`non-nullable field groups was serialized as null`)",
        _message("DescribeGroupsRequest", 0, "ffffffff"),  # the array of groups is null
    ),
    Difference(
        "Values that the bytes cut off",
        (KAFKA_PYTHON,),
        KWIRE_REFUSES,
        "TRUNCATED",
        "returns the available bytes, so text and bytes are too short",
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
        "`Errors.forCode` of Kafka maps an unknown code to UNKNOWN_SERVER_ERROR; kwire keeps the number on the wire",
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
        "refuses it; only -1 is null",
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
        "reads None",
        "a UUID is never null on the wire; zeros are a value like others (`Uuid.ZERO_UUID`), and kwire keeps the 16 bytes",
        _message("DescribeTopicPartitionsResponse", 0, "00000000 02 0000 0261 00000000000000000000000000000000 00 01 00000000 00 ff 00"),
        values=(NO_UUID, "None"),
    ),
    Difference(
        "A null struct that is marked by another byte than ff",
        (KIO, KAFKA_PYTHON),
        PEER_REFUSES,
        ".*",
        "reads only -1 as null, and a struct after other negative bytes",
        "Kafka's readers take any negative byte for null (`readByte() < 0`)",
        _message("DescribeTopicPartitionsResponse", 0, "00000000 01 80 00"),  # no topics; the cursor is null
        names="DescribeTopicPartitions(Request|Response)|(Consumer|Share|Streams)GroupHeartbeatRe.*|StreamsGroupDescribeResponse|68|7[56]|8[89]",
    ),
    Difference(
        "A time that is negative or that Python's types cannot hold",
        (KIO,),
        PEER_REFUSES,
        r"ValueError: (timedelta milliseconds overflow|year -?\d+ is out of range)|OutOfBoundValue: Cannot parse negative timestamp",
        "refuses the message, because it converts milliseconds to `timedelta` and `datetime`",
        "the field is a 64-bit number, and kwire returns it; `kwire.codec.views` converts it to a date",
        _message("RenewDelegationTokenResponse", 1, "0000 7fffffffffffffff 00000000"),  # expires in the year 292,278,994
    ),
    Difference(
        "Operations that the broker did not count",
        (KAFKA_PYTHON,),
        VALUE,
        ".*authorized_operations",
        "reads the default of these bits, -2147483648, as None",
        "kwire returns the number on the wire",
        _message("MetadataResponse", 8, "00000000 00000000 ffff ffffffff 00000000 80000000"),
        values=("-2147483648", "None"),
    ),
    Difference(
        "A tagged struct that is not there",
        (KAFKA_PYTHON,),
        VALUE,
        "(body.)?replica_state",
        "reads None",
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
        "in KIP-511, only UNSUPPORTED_VERSION (35) has version 0; Kafka's `ApiVersionsResponse.parse` reads the version asked for "
        "first, and version 0 where that fails",
        # v3 with error 2, one api (Produce 0 to 11), throttle time 0
        _message("ApiVersionsResponse", 3, "0002 02 0000 0000 000b 00 00000000 00"),
        names="ApiVersionsResponse|18",
    ),
    Difference(
        "An ApiVersions response that refuses the version",
        (KIO,),
        PEER_REFUSES,
        "BufferUnderflow: .*",
        "reads the version that was asked for and no other",
        "a broker that does not know the version answers in version 0 with error 35 (KIP-511)",
        # the answer to version 4: correlation id 7, error 35, ApiVersions 0 to 3
        Question("response", "18", 4, bytes.fromhex("00000007 0023 00000001 0012 0000 0003")),
        ("response",),
        names="18",
    ),
    Difference(
        "An ApiVersions response that fits only version 0, with another error",
        (JAVA,),
        KWIRE_REFUSES,
        ".*",
        "reads version 0 if the requested version does not fit, with any error (`ApiVersionsResponse.parse`)",
        "in KIP-511, only error 35 has version 0; other bodies that do not fit are malformed",
        Question("response", "18", 4, bytes.fromhex("00000007 0002 00000001 0012 0000 0003")),
        ("response",),
        names="18",
    ),
    Difference(
        "A null client id",
        (JAVA,),
        "written",
        "bytes",
        "reads it as an empty string (`RequestHeader.parse`)",
        "null and empty are two things on the wire, and a proxy has to write what it read",
        Question("request", "", 0, bytes.fromhex("0012 0000 00000007 ffff")),
        ("request",),
        holds=_lacks_a_null_client_id,
    ),
    Difference(
        "A tagged field of a number above 2^31-1",
        (JAVA,),
        "written",
        "RuntimeException: Invalid raw tag field list: .*",
        "reads it as a negative number, which its writer refuses (`RawTaggedFieldWriter`)",
        "KIP-482 numbers are unsigned varints; kwire writes what it read",
        _message("HeartbeatResponse", 4, "00000000 001b 01 ffffffff0f 01 78"),
    ),
    Difference(
        "A field whose name went to another one, and whose value is 0",
        (KIO,),
        VALUE,
        "(body.)?acceptable_recovery_lag",
        "uses the name of Kafka 4.2 for the field of version 0",
        "Kafka 4.4 gave the name to another field, of version 1; the name leads to the one that has another value than its default",
        # StreamsGroupHeartbeatResponse v0: the lag is 0
        _message("StreamsGroupHeartbeatResponse", 0, "00000000 0000 00 01 00000000 00000000 00000000 00000000 00 00 00 00 00000000 00 00"),
        names="StreamsGroupHeartbeatResponse|88",
        holds=lambda contrast: (contrast.ours, contrast.theirs) == (-1, 0),
    ),
)
