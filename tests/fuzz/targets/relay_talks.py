"""A relay between a client and a model of Kafka's broker: the input chooses what each does next."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fuzz.byte_choices import ByteChoices
from relay_model import KINDS, TOKENS, Talk

SIZES = (1, 3, 9, 20, 1 << 20)
MOST_STEPS = 300


def seeds() -> Iterator[bytes]:
    for seed in range(30):
        yield random.Random(seed).randbytes(1000)


def compare(data: bytes) -> None:
    talked(ByteChoices(data[:5000]), min(len(data), MOST_STEPS))


def talked(chance: random.Random, steps: int) -> Talk:
    talk = Talk(
        sasl=chance.random() < 0.75,
        again=chance.random() < 0.75,
        **{flag: chance.random() < 0.5 for flag in ("kerberos", "called", "raw_gssapi")},
        mechanisms=chance.choice([tuple(TOKENS), (b"PLAIN",)]),
        unknown=chance.choice(["pass", "refuse", "close"]),
        base=chance.choice([0, 0x60820000, 0x05040000]),
        max_held=chance.choice([200, 5000, 5000, 5000]),
    )
    if talk.broker.sasl and chance.random() < 0.8:
        talk.queue(chance.choice(["login", "raw login"]), chance.choice(talk.broker.mechanisms), 0)
    for _ in range(steps):
        if talk.is_over:
            break
        step = chance.randrange(20)
        if step < 3:
            talk.queue(chance.choice(KINDS), chance.choice(list(TOKENS)), chance.randrange(6))
        elif step < 8:
            talk.client_writes(chance.choice(SIZES))
        elif step < 11:
            talk.broker_serves(chance.random() < 0.8)
        elif step < 15:
            talk.broker_writes(chance.choice(SIZES))
        elif step < 18:
            talk.settle(chance.randrange(3), chance.random() < 0.2)
        elif talk.time > MOST_STEPS // 4:
            talk.ends(chance.randrange(2))
    talk.finish()
    return talk
