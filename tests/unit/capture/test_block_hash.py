"""The hash of a file that several tasks read: the same however it is divided, and what the documented command gives."""

from __future__ import annotations

import hashlib
import io
from itertools import pairwise

import pytest

from kwire.capture.dividing import block_hash as module
from kwire.capture.dividing.block_hash import BLOCK_HASH, BlockDigests, block_hash, block_hash_of

DATA = bytes(range(256)) * 5 + b"end"  # 1,283 bytes


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 100)


def by_hand() -> str:
    """SHA-256 over the SHA-256 of each 100 bytes."""
    blocks = [DATA[at : at + 100] for at in range(0, len(DATA), 100)]
    return BLOCK_HASH + hashlib.sha256(b"".join(hashlib.sha256(block).digest() for block in blocks)).hexdigest()


def read_at(at: int, size: int) -> bytes:
    return DATA[at : at + size]


@pytest.mark.parametrize("borders", [[], [24], [100], [99, 101], [250, 251, 252, 1200], [1282]])
@pytest.mark.parametrize("step", [7, 100, 5000])
def test_a_file_has_one_hash_however_it_is_divided(borders: list[int], step: int) -> None:
    """A range hashes the blocks that begin in it, and reads the last of them to its end; one that no block begins in has none."""
    digests = []
    for start, end in pairwise([0, *borders, len(DATA)]):
        found = BlockDigests(start)
        for at in range(start, end, step):
            found.update(DATA[at : min(end, at + step)])
        digests.append(found.finish(end, len(DATA), read_at))
    assert block_hash(digests) == by_hand()


def test_a_file_that_one_task_reads() -> None:
    assert block_hash_of(io.BytesIO(DATA).read) == by_hand()


def test_an_empty_file() -> None:
    assert block_hash_of(io.BytesIO().read) == BLOCK_HASH + hashlib.sha256(b"").hexdigest()


def test_the_size_of_a_block_is_in_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert f"sha256-{module.BLOCK_BYTES >> 20}MiB:" == BLOCK_HASH


def test_digests_that_are_cut() -> None:
    with pytest.raises(ValueError, match="31 bytes are not a multiple of 32"):
        block_hash([b"x" * 31])
