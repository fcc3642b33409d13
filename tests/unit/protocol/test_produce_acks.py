"""The acks of a Produce whose body is not read: taken by the plan of the request as far as that field, from bytes that may end anywhere."""

from __future__ import annotations

import pytest

from kwire.protocol.tracking.passing import read_acks

# Versions 0 to 2 begin with the acks; from 3 on a transactional id stands before them, compact from 9 on. -1 is "all in-sync replicas".
BODIES = [
    (2, bytes.fromhex("0001 00007530"), 1, 2),
    (3, bytes.fromhex("ffff 0000 00007530"), 0, 4),
    (3, bytes.fromhex("0002 7478 ffff 00007530"), -1, 6),
    (9, bytes.fromhex("00 0001 00007530"), 1, 3),
    (9, bytes.fromhex("03 7478 ffff 00007530"), -1, 5),
    (9, bytes.fromhex("8101") + b"x" * 128 + bytes.fromhex("0000"), 0, 132),
]


@pytest.mark.parametrize(("version", "body", "acks", "end"), BODIES)
def test_acks_and_the_offset_behind_them(version: int, body: bytes, acks: int, end: int) -> None:
    for before in (b"", b"header"):
        assert read_acks(before + body, len(before), version) == (acks, len(before) + end)


@pytest.mark.parametrize(("version", "body", "acks", "end"), BODIES)
def test_nothing_before_the_acks_are_there(version: int, body: bytes, acks: int, end: int) -> None:
    assert [read_acks(body[:size], 0, version) for size in range(end)] == [None] * end
    assert read_acks(body[:end], 0, version) == (acks, end)
    assert read_acks(body, len(body) + 1, version) is None


@pytest.mark.parametrize(
    ("version", "body"), [(3, "7fff 0000"), (9, "ffffffff0f 0000 0000"), (9, "ffffffff7f 0000 0000"), (9, "ffffffffff01 0000")]
)
def test_a_transactional_id_that_cannot_be(version: int, body: str) -> None:
    """Longer than the bytes, than Java's largest array, and varints of more than 32 bits."""
    assert read_acks(bytes.fromhex(body), 0, version) is None
