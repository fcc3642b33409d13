"""Objects to the bytes of whole bodies: both twins, kio and kafka-python to the wire, msgspec to msgpack of the same tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import peers
from frames import BODIES, Corpus

INPUTS = 20
WITH_MSGSPEC = ("MetadataResponse", "FetchRequest", "ApiVersionsResponse")


def name_of(case: str) -> str:
    return case.split("-", 1)[0]


CASES = [
    (who, case, many)
    for case in BODIES
    for many in (False, True)
    for who in ["native", "pure", "kio", "kafka-python", *(["msgspec"] if name_of(case) in WITH_MSGSPEC else [])]
    if not many or (name_of(case) in WITH_MSGSPEC and who in ("native", "msgspec"))
]
IDS = [f"{who}-{case}{'-many' if many else ''}" for who, case, many in CASES]


def prepare(who: str, case: str, many: bool) -> tuple[Callable[[Any], bytes], list[Any]]:
    """The contender's encoder and its objects, made by its own decoder; what it gives for the first one has been checked."""
    api_key, version, kind, make = BODIES[case]
    name = name_of(case)
    corpus = Corpus(many)
    inputs = [make(corpus) for _ in range(INPUTS)]
    if who in peers.TWINS:
        twin: Any = who
        encode, decode = peers.twin_encoder(twin, name, version), peers.twin_decoder(twin, name, version)
    elif who == "kio":
        read = peers.kio_decoder(api_key, version, kind)
        encode, decode = peers.kio_encoder(api_key, version, kind), lambda data: read(data)[0]
    elif who == "kafka-python":
        encode, decode = lambda message: message.encode(), peers.kafka_python_decoder(name, version)
    else:
        native = peers.twin_decoder("native", name, version)
        inputs = [msgspec.msgpack.encode(peers.as_arrays(native(data), name)) for data in inputs]
        encode, decode = msgspec.msgpack.Encoder().encode, peers.msgspec_decoder(name, False)
    messages = [decode(data) for data in inputs]
    assert bytes(encode(messages[0])) == inputs[0]
    return encode, messages


@pytest.mark.parametrize(("who", "case", "many"), CASES, ids=IDS)
def test_encode(race, who, case, many):
    encode, messages = prepare(who, case, many)

    def run() -> None:
        for message in messages:
            encode(message)

    race(f"encode {case}{'-many' if many else ''}", who, run, len(messages))
