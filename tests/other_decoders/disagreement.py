"""Asks all peers of this machine, and raises where one of them disagrees with kwire in a way that has no name yet."""

from __future__ import annotations

import atexit
import os
from functools import cache

from kwire.codec.impl import Twin
from other_decoders.asking import Peer, Question, peers
from other_decoders.comparing import contrasts, our_outcome
from other_decoders.differences import class_of

__all__ = ["ASK_JAVA", "begin", "compare_with_peers"]

ASK_JAVA = "KWIRE_ASK_JAVA"
"""With this variable in the environment Kafka's classes are asked as well; that needs Java, and Maven to fetch their jars once."""


@cache
def _asked() -> list[Peer]:
    found = peers(java=ASK_JAVA in os.environ)
    for each in found:
        atexit.register(each.close)
    return found


def begin() -> None:
    """Start the peers, which takes some of them seconds, and say which there are."""
    for each in _asked():
        each.ask(Question("message", "MetadataRequest", 1, bytes(4)))
    print(f"kwire: compared with {', '.join(each.name for each in _asked()) or 'no other decoder: none is installed'}", flush=True)


def compare_with_peers(question: Question, twin: Twin = "pure") -> None:
    """Compare outcomes; fail for a difference that is in no class of `other_decoders.differences`."""
    for each in _asked():
        each.send(question)
    ours, fault = our_outcome(question, twin)
    unnamed = []
    for peer in _asked():
        theirs = peer.receive()
        if theirs is not None:
            unnamed += [(peer.name, each) for each in contrasts(ours, fault, theirs) if class_of(peer.name, question, each) is None]
    assert not unnamed, (question.kind, question.name, question.version, question.data.hex(), unnamed[:3])
