"""One class of differences between kwire and another reader of Kafka's bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from other_decoders.asking import Question
from other_decoders.comparing import Contrast

__all__ = ["JAVA", "KAFKA_PYTHON", "KIO", "KWIRE_REFUSES", "MESSAGES", "PEER_REFUSES", "VALUE", "Difference"]

JAVA: Final = "java"
KIO: Final = "kio"
KAFKA_PYTHON: Final = "kafka-python"
KWIRE_REFUSES: Final = "kwire refuses"
PEER_REFUSES: Final = "peer refuses"
VALUE: Final = "value"
MESSAGES: Final = ("message", "request", "response")


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
        holds: whether a contrast is in this class, where the expressions cannot say it.
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
    holds: Callable[[Contrast], bool] = lambda _contrast: True
