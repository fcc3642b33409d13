"""kwire beside kio, kafka-python and, but for `make unit`, Kafka's own Java classes: where they differ, the difference has a name.

The Python libraries are those of the dependency group `peers`; an environment without them compares with those that it has.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pytest

from damaged_bytes import mutated
from other_decoders.asking import Outcome, Peer, Question, peers
from other_decoders.comparing import Contrast, contrasts, our_outcome
from other_decoders.differences import DIFFERENCES, class_of

pytestmark = pytest.mark.xdist_group("other_decoders")


@pytest.fixture(scope="module")
def asked(request: pytest.FixtureRequest) -> Iterator[list[Peer]]:
    """The peers that are installed; Maven fetches Kafka's classes."""
    found = peers(java=not request.config.getoption("--quick"))
    yield found
    for each in found:
        each.close()


@lru_cache(maxsize=1)
def ours_of(question: Question) -> tuple[Outcome, Any]:
    ours, fault = our_outcome(question, "native")
    assert our_outcome(question, "pure")[0] == ours
    return ours, fault


def found(peer: Peer, question: Question) -> list[Contrast]:
    ours, fault = ours_of(question)
    theirs = peer.ask(question)
    return [] if theirs is None else contrasts(ours, fault, theirs)


def unnamed(peer: Peer, question: Question) -> list[Any]:
    return [(question, each) for each in found(peer, question) if class_of(peer.name, question, each) is None]


def test_every_class_has_an_example_that_is_in_it(asked: list[Peer], native_codec: Any) -> None:
    for peer in asked:
        for each in DIFFERENCES:
            if peer.name in each.peers:
                contrast = found(peer, each.example)
                assert [class_of(peer.name, each.example, one) for one in contrast] == [each] * max(len(contrast), 1), (
                    peer.name,
                    each.title,
                )


def test_peers_that_a_class_does_not_name_have_no_unnamed_difference(asked: list[Peer], native_codec: Any) -> None:
    for peer in asked:
        for each in DIFFERENCES:
            assert unnamed(peer, each.example) == [], each.title


def test_whole_and_damaged_messages(asked: list[Peer], native_codec: Any, vectors: Any, share: Callable[..., list[Any]]) -> None:
    chance = random.Random(20)
    for case in share(vectors("messages-sample")[::7], 9):
        data = bytes.fromhex(case["hex"])
        for each in (data, mutated(data, chance)) if 0 < len(data) < 1000 else ():
            for peer in asked:
                assert unnamed(peer, Question("message", case["message"], case["version"], each)) == []


def test_whole_and_damaged_frames(asked: list[Peer], native_codec: Any, vectors: Any, share: Callable[..., list[Any]]) -> None:
    chance = random.Random(2020)
    for case in share(vectors("frames-sample")[::3], 9):
        frame = bytes.fromhex(case["hex"])[4:]
        kind, name = ("request", "") if case["kind"] == "request" else ("response", str(case["api_key"]))
        for each in (frame, mutated(frame, chance)) if len(frame) < 1000 else ():
            for peer in asked:
                assert unnamed(peer, Question(kind, name, case["version"], each)) == []


@pytest.mark.whole
def test_whole_and_damaged_records(asked: list[Peer], native_codec: Any, vectors: Any) -> None:
    chance = random.Random(202020)
    for case in vectors("records-sample"):
        data = bytes.fromhex(case["hex"])
        if 0 < len(data) < 1500:
            for each, checksums in ((data, 1), (mutated(data, chance), 0)):
                for peer in asked:
                    assert unnamed(peer, Question("records", "", checksums, each)) == []


def test_a_peer_that_ends_itself_is_asked_again(native_codec: Any) -> None:
    """Peers run in processes of their own: kio 0.6.5 aborts on a count that it cannot reserve memory for."""
    here = Peer("gone", lambda: ["false"], lambda answer: Outcome(), lambda question: b"")
    for _ in range(2):
        answer = here.ask(Question("message", "MetadataRequest", 1, b""))
        assert answer is not None
        assert answer.refused == "its process ended with status 1" or "-9" in answer.refused


def test_a_peer_runs_without_what_is_preloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """make asan preloads AddressSanitizer, which reserves more addresses than a peer may have."""
    monkeypatch.setenv("LD_PRELOAD", "")
    # a shell, for under qemu a process of arm64 starts none of its own kind; a frame of one byte: 0 where the variable is not set
    shown = r"""[ -z "${LD_PRELOAD+set}" ]; printf '\000\000\000\001%d' $?"""
    peer = Peer("shown", lambda: ["/bin/sh", "-c", shown], lambda answer: Outcome(answer.decode()), lambda question: b"")
    answer = peer.ask(Question("message", "MetadataRequest", 1, b""))
    peer.close()
    assert answer == Outcome("0")
