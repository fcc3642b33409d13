"""Where kwire and another reader of Kafka's bytes do not agree, and why: each class with an example of hand-worked bytes.

`docs/reference/differences.md` is written from this list, and tests replay its examples. A fuzz target fails on a difference in no class.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from peers.asking import Question
from peers.comparing import Contrast

__all__ = ["DIFFERENCES", "Difference", "class_of"]

JAVA: Final = "java"
KIO: Final = "kio"
KAFKA_PYTHON: Final = "kafka-python"
KWIRE_REFUSES: Final = "kwire refuses"
PEER_REFUSES: Final = "peer refuses"


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
    """

    title: str
    peers: tuple[str, ...]
    how: str
    what: str
    theirs: str
    why: str
    example: Question
    kinds: tuple[str, ...] = ("message", "request", "response")
    values: tuple[str, str] = ("", "")


def _message(name: str, version: int, data: str) -> Question:
    return Question("message", name, version, bytes.fromhex(data))


DIFFERENCES: Final = (
    Difference(
        "Bytes left over after a message", (JAVA, KIO), KWIRE_REFUSES, "TRAILING_BYTES",
        "reads the message and leaves the rest to its caller; a broker does not look at it (`RequestContext.parseRequest`)",
        "left-over bytes mean that the version or the message is another than the reader believes; with `strict=False` kwire reads the "
        "message too and reports the bytes in `violation`",
        _message("HeartbeatResponse", 0, "001b aa"),  # error 27, then a byte that no field claims
    ),
    Difference(
        "Bytes left over after a message", (KAFKA_PYTHON,), KWIRE_REFUSES, "TRAILING_BYTES",
        "reads the message and does not say that something is left",
        "as above",
        _message("HeartbeatResponse", 0, "001b aa"),
    ),
    Difference(
        "Text that is not UTF-8", (JAVA,), KWIRE_REFUSES, "BAD_UTF8",
        "puts U+FFFD in its place: `Readable.readString` calls `new String(bytes, UTF_8)`, so brokers answer such requests",
        "the replaced text is not what was sent and cannot be written again; with `strict=False` kwire replaces as Java does",
        _message("HeartbeatRequest", 0, "0001 ff 00000003 0001 6d"),  # a group id of the byte ff, which UTF-8 never has
    ),
    Difference(
        "A compact length or count above 2^31-1", (JAVA,), KWIRE_REFUSES, "BAD_LENGTH",
        "lets its `int` overflow: a length reads as null, a number of tagged fields as none",
        "KIP-482 gives compact types a length of at most 31 bits, no writer makes a longer one, and a null has one encoding, the byte 0",
        _message("MetadataRequest", 12, "ffffffff0f 01 00 00"),  # the count of topics is 2^32-1, one more than the count itself
    ),
    Difference(
        "An API that Kafka 4.0 removed", (JAVA,), PEER_REFUSES,
        r"InvalidRequestException: Unsupported api with key [4-7] .*|UnsupportedVersionException: Unsupported API key [4-7]",
        "refuses LeaderAndIsr, StopReplica, UpdateMetadata and ControlledShutdown: it has their definitions and no header versions for them",
        "kwire reads captures of older clusters, whose brokers and controllers speak these APIs (KIP-500)",
        # StopReplica v0: header v1 with client id "c", controller 2, its epoch 3, no deletion, no partitions
        Question("request", "", 0, bytes.fromhex("0005 0000 00000007 0001 63 00000002 00000003 00 00000000")),
        ("request", "response"),
    ),
    Difference(
        "Null where null is not allowed", (KAFKA_PYTHON,), KWIRE_REFUSES, "NULL_NOT_ALLOWED",
        "reads null, or an empty array",
        "Kafka's readers refuse it (`non-nullable field groupId was serialized as null`)",
        _message("HeartbeatRequest", 0, "ffff 00000003 0001 6d"),  # the group id is null
    ),
    Difference(
        "Null where null is not allowed, in an array", (KIO,), KWIRE_REFUSES, "NULL_NOT_ALLOWED",
        "reads null; it refuses a null string",
        "as above",
        _message("DescribeGroupsRequest", 0, "ffffffff"),  # the array of groups is null
    ),
    Difference(
        "Values that the bytes cut off", (KAFKA_PYTHON,), KWIRE_REFUSES, "TRUNCATED",
        "slices what there is: text and bytes come out short",
        "Kafka's readers throw BufferUnderflowException",
        _message("SaslHandshakeRequest", 0, "0005 504c41"),  # a mechanism of five bytes, of which three are there
    ),
    Difference(
        "A tagged field of a number that the version does not define", (KIO,), PEER_REFUSES, "KeyError: 'Unknown tagged field tag: \\d+'",
        "refuses the message",
        "KIP-482: a reader keeps or skips the tags that it does not know, which is how fields are added to released versions",
        _message("HeartbeatResponse", 4, "00000000 001b 01 05 01 78"),  # one tagged field: number 5, one byte, "x"
    ),
    Difference(
        "An error code that the release does not know", (KIO,), PEER_REFUSES, r"ValueError: -?\d+ is not a valid ErrorCode",
        "refuses the message",
        "`Errors.forCode` of Kafka takes an unknown code for UNKNOWN_SERVER_ERROR; the number is on the wire, and kwire keeps it",
        _message("HeartbeatResponse", 0, "270f"),  # error 9999
    ),
    Difference(
        "A boolean other than 0 and 1", (KIO,), PEER_REFUSES, "ValueError: Invalid boolean value",
        "refuses it",
        "Kafka reads any byte but 0 as true (`readByte() != 0`); kwire writes 1 for it, as Kafka does",
        _message("DescribeClusterRequest", 0, "02 00"),
    ),
)


def class_of(peer: str, question: Question, contrast: Contrast) -> Difference | None:
    """The class that a contrast is in, None for a difference that is new."""
    for each in DIFFERENCES:
        if peer in each.peers and question.kind in each.kinds and each.how == contrast.how and re.fullmatch(each.what, contrast.what, re.S):
            values = zip(each.values, (contrast.ours, contrast.theirs), strict=True)
            if all(not wanted or re.fullmatch(wanted, repr(value), re.S) for wanted, value in values):
                return each
    return None
