"""Whole bodies to objects: both twins, kio and kafka-python from the wire, msgspec from msgpack of the same tree."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import peers
from frames import BODIES, Corpus

INPUTS = 20
KEPT = 200
WITH_MSGSPEC = ("MetadataResponse", "FetchRequest")


def name_of(case: str) -> str:
    return case.split("-", 1)[0]


def contenders(case: str) -> list[str]:
    return ["native", "pure", "kio", "kafka-python", *(["msgspec", "msgspec-gc"] if name_of(case) in WITH_MSGSPEC else [])]


CASES = [(who, case, False) for case in BODIES for who in contenders(case)] + [
    (who, case, True) for case in BODIES if name_of(case) in WITH_MSGSPEC for who in contenders(case) if who not in ("pure", "kafka-python")
]
IDS = [f"{who}-{case}{'-many' if many else ''}" for who, case, many in CASES]


def prepare(who: str, case: str, many: bool) -> tuple[Callable[[bytes], Any], list[bytes]]:
    """The contender's decoder and its inputs; what it gives for the first one has been checked."""
    api_key, version, kind, make = BODIES[case]
    name = name_of(case)
    corpus = Corpus(many)
    inputs = [make(corpus) for _ in range(INPUTS)]
    decode = peers.twin_decoder("native", name, version)
    first = decode(inputs[0])
    if who in peers.TWINS:
        decode = peers.twin_decoder("pure" if who == "pure" else "native", name, version)
        assert repr(decode(inputs[0])) == repr(first)
    elif who == "kio":
        decode = peers.kio_decoder(api_key, version, kind)
        assert decode(inputs[0])[1] == len(inputs[0])
    elif who == "kafka-python":
        decode = peers.kafka_python_decoder(name, version)
        assert bytes(decode(inputs[0]).encode()) == inputs[0]
    else:
        native = decode
        inputs = [msgspec.msgpack.encode(peers.as_arrays(native(data), name)) for data in inputs]
        decode = peers.msgspec_decoder(name, who == "msgspec-gc")
        assert msgspec.msgpack.encode(decode(inputs[0])) == inputs[0]
    return decode, inputs


@pytest.mark.parametrize(("who", "case", "many"), CASES, ids=IDS)
def test_decode(race, who, case, many):
    decode, inputs = prepare(who, case, many)

    def run() -> None:
        for data in inputs:
            decode(data)

    race(f"{case}{'-many' if many else ''}", who, run, len(inputs))


@pytest.mark.parametrize("who", ["native", "kio", "msgspec", "msgspec-gc"])
def test_keep_with_the_collector_on(race, who):
    """Many messages kept alive: what the collector's walks over them cost.

    All else that lives in this process is frozen out: a walk over every contender's modules would hit whoever's turn it is.
    """
    decode, inputs = prepare(who, "MetadataResponse-v12-50x6", False)
    kept = inputs * (KEPT // len(inputs))

    def run() -> None:
        gc.freeze()
        gc.enable()
        messages = [decode(data) for data in kept]
        gc.disable()
        gc.unfreeze()
        assert len(messages) == KEPT

    race(f"{KEPT} MetadataResponse-v12-50x6 kept", who, run, KEPT)
