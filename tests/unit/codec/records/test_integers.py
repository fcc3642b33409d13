"""Numbers of records have one rule in both twins: what `operator.index` takes is an integer, and nothing else is."""

from enum import IntEnum
from uuid import UUID

import numpy as np
import pytest

from kwire.codec.records import RecordBatch, record_reader, record_writer
from kwire.errors import EncodeError


class Priority(IntEnum):
    HIGH = 3


@pytest.fixture(params=["native", "pure"])
def twin(request):
    return request.param


INTEGERS = [(5, 5), (True, 1), (Priority.HIGH, 3), (np.int64(7), 7), (np.uint8(9), 9)]
OTHERS = [1.5, 1700000000000.0, np.float64(1), UUID(int=5), "5", b"5", None]


@pytest.mark.parametrize(("given", "number"), INTEGERS)
def test_integers_of_any_class_are_plain_ones_in_a_record(twin, given, number):
    record = record_reader(twin).Record(offset=given, timestamp=given, sequence=given)
    assert (record.offset, record.timestamp, record.sequence) == (number, number, number)
    assert {type(record.offset), type(record.timestamp), type(record.sequence)} == {int}


@pytest.mark.parametrize("given", OTHERS, ids=repr)
@pytest.mark.parametrize("name", ["offset", "timestamp", "sequence"])
def test_a_record_refuses_what_is_not_an_integer(twin, name, given):
    with pytest.raises(TypeError, match="object cannot be interpreted as an integer"):
        record_reader(twin).Record(**{name: given})


@pytest.mark.parametrize(("name", "bits"), [("offset", 64), ("timestamp", 64), ("sequence", 32)])
def test_a_record_refuses_integers_that_do_not_fit(twin, name, bits):
    make = record_reader(twin).Record
    highest = 2 ** (bits - 1) - 1
    for fits in (highest, -highest - 1):
        assert getattr(make(**{name: fits}), name) == fits
    for given in (highest + 1, -highest - 2, 2**70):
        with pytest.raises(OverflowError, match=f"the {name} does not fit into {bits} bits"):
            make(**{name: given})


@pytest.mark.parametrize(("given", "number"), INTEGERS)
def test_rows_and_batches_take_the_same_integers(twin, given, number):
    writer = record_writer(twin)
    plain = RecordBatch([(b"k", b"v", number)], base_offset=number, partition_leader_epoch=number, max_timestamp=number + 1)
    same = RecordBatch([(b"k", b"v", given)], base_offset=given, partition_leader_epoch=given, max_timestamp=number + 1)
    assert writer.encode(same) == writer.encode(plain)
    old = RecordBatch([(b"k", b"v", given)], base_offset=given, magic=1)
    assert writer.encode(old) == writer.encode(RecordBatch([(b"k", b"v", number)], base_offset=number, magic=1))


@pytest.mark.parametrize("given", OTHERS, ids=repr)
def test_rows_refuse_what_is_not_an_integer(twin, given):
    for magic in (1, 2):
        with pytest.raises(EncodeError, match="a timestamp is a whole number of milliseconds") as caught:
            record_writer(twin).encode(RecordBatch([(b"k", b"v", 1), (b"k", b"v", given)], magic=magic))
        assert caught.value.path == "batches[0].records[1].timestamp"


def test_timestamps_that_are_more_than_64_bits_apart_wrap_around_as_in_java(twin):
    """DefaultRecord.writeTo subtracts longs: 2^63-1 - (-1) is -2^63, whose zigzag varint is ten bytes. Its reader adds and wraps back."""
    make, reader = record_reader(twin).Record, record_reader(twin)
    data = record_writer(twin).encode(RecordBatch([make(timestamp=-1), make(timestamp=2**63 - 1)]))
    # length, attributes, delta of the timestamp, of the offset, key and value null, no headers
    assert data.endswith(bytes.fromhex("1e 00 ffffffffffffffffff01 02 01 01 00"))
    assert [record.timestamp for record in reader.decode(data)[0].records] == [-1, 2**63 - 1]
