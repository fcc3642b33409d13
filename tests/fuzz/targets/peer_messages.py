"""Messages by themselves, read by kwire and by its peers: input as in `bodies`.

A difference in no class of `other_decoders.differences` is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from fuzz.targets import bodies
from other_decoders.asking import Question
from other_decoders.disagreement import begin, compare_with_peers

__all__ = ["begin", "compare", "seeds"]


def seeds() -> Iterator[bytes]:
    # peers in other processes are slow: a minute has to reach inputs that the fuzzer made itself
    return islice(bodies.seeds(), 0, None, 9)


def compare(data: bytes) -> None:
    name, version = bodies.message_of(data)
    compare_with_peers(Question("message", name, version, data[2:]))
