"""Numbers at a byte of each element of a binary column, in bytes worked by hand."""

from __future__ import annotations

import array

import pyarrow as pa
import pytest

from kwire.codec.binary_chunks import BinaryChunk, chunks_of, numbers_at


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_numbers_of_slices_nulls_and_short_elements(kind):
    column = pa.array([b"left out", b"\x00\x01\xff\xfe", None, b"\x00\x02\x03", b"", b"\x80\x00\x00\x07"], kind).slice(1)
    [chunk] = chunks_of(column)
    for place, told in ((0, [1, None, 2, None, -32768]), (2, [-2, None, None, None, 7]), (4, [None] * 5)):
        numbers, held = numbers_at(chunk, place, ">i2")
        assert [number if known else None for number, known in zip(numbers.tolist(), held.tolist(), strict=True)] == told
        assert not numbers[~held].any()


@pytest.mark.parametrize("offsets", [(0, 4, 9), (-4, 4, 8), (0, 4, 1 << 30)])
def test_offsets_outside_of_the_bytes(offsets):
    with pytest.raises(ValueError, match="leave its bytes"):
        numbers_at(BinaryChunk(array.array("i", offsets), bytes(8), None, 0, 2, False), offsets[-1] - offsets[-2] - 2, ">i2")


def test_offsets_shorter_than_the_array():
    with pytest.raises(ValueError):
        numbers_at(BinaryChunk(array.array("i", (0, 4)), bytes(8), None, 0, 2, False), 0, ">i2")
