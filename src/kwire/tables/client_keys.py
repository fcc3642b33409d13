"""Client key, which joins all tables: a stable hash of the identity of a client program.

Numbers and random parts of client ids change between runs, so they are replaced by ``#`` before hashing; then all runs of a program are one
client. A library's default id does not identify the program, so the address is hashed instead.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import Final

__all__ = ["client_key", "fold_client_id", "is_default_client_id"]

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
# Commit hashes, container ids, pod suffixes: letters and digits of the hexadecimal alphabet, at least one of them a digit.
_HEXADECIMAL: Final = re.compile(r"(?<![0-9A-Za-z])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9A-Za-z])", re.IGNORECASE)
# What random generators give: long, and capitals, small letters and digits in one word.
_RANDOM: Final = re.compile(
    r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]*[0-9])(?=[0-9A-Za-z]*[a-z])(?=[0-9A-Za-z]*[A-Z])[0-9A-Za-z]{16,}(?![0-9A-Za-z])"
)
_DIGITS: Final = re.compile(r"[0-9]+")

# Ids that libraries and Kafka's own tools send when the program set none, folded.
_DEFAULTS: Final = re.compile(
    r"rdkafka|sarama|kgo|kafkajs|pykafka|ruby-kafka|no-kafka-client|kafka-node-client|kafka-client|kafka-go|kafka-rust|rskafka"
    r"|(kafka-python|aiokafka)(-(producer|consumer|admin))?(-#(\.#)*)?"
    r"|(consumer|producer|adminclient|admin)-#|(consumer-)?console-(consumer|producer)(-#)*|perf-(producer|consumer)-client"
    r"|[^@]*@.* \(github\.com/segmentio/kafka-go\)"
)


@lru_cache(maxsize=4096)
def fold_client_id(client_id: str) -> str:
    """Replace UUIDs, hexadecimal words of 8 and more, random words of 16 and more, and digits by ``#``."""
    folded = client_id
    for pattern in (_UUID, _HEXADECIMAL, _RANDOM, _DIGITS):
        folded = pattern.sub("#", folded)
    return folded


@lru_cache(maxsize=4096)
def is_default_client_id(client_id: str | None) -> bool:
    """Return whether an id is empty or a library's default, which many programs share."""
    return not client_id or _DEFAULTS.fullmatch(fold_client_id(client_id)) is not None


def client_key(software_name: str | None, software_version: str | None, client_id: str | None, principal: str | None, address: str) -> str:
    """Hash a client identity, as known at the end of a connection, to 16 hexadecimal digits.

    The address (of the proxied client if there is a PROXY header) is used only for an empty id or a library's default.
    """
    parts = (
        software_name, software_version, fold_client_id(client_id) if client_id else None, principal,
        address if is_default_client_id(client_id) else None,
    )  # fmt: skip
    # A length before each part, so that no two identities run together; null and "" differ.
    plain = b"".join(b"-" if part is None else b"%d:%s" % (len(raw := part.encode("utf-8", "surrogateescape")), raw) for part in parts)
    return hashlib.blake2b(plain, digest_size=8).hexdigest()
