"""Record batches, read by kwire and by Kafka's own classes: input as in `records`."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.targets import records
from other_decoders.asking import Question
from other_decoders.disagreement import begin, compare_with_peers

__all__ = ["begin", "compare", "seeds"]


def seeds() -> Iterator[bytes]:
    return records.seeds()


def compare(data: bytes) -> None:
    compare_with_peers(Question("records", "", int(data[:1] == b"\1"), data[1:]))
