"""Compact strings of more than 32,767 bytes are malformed: Kafka's generated readers say "string field had invalid length" (`> 0x7fff`)."""

from __future__ import annotations

import pytest

from kwire.codec.impl import Twin
from kwire.errors import Fault, WireError
from twin_codecs import codec_of

LONGEST = 32_767


def compact(size: int) -> bytes:
    """A string of `size` letters; its length, one more, is a varint of three bytes."""
    more = size + 1
    return bytes([more & 0x7F | 0x80, more >> 7 & 0x7F | 0x80, more >> 14]) + b"a" * size


def api_versions(size: int) -> bytes:
    return b"\x02x" + compact(size) + b"\0"


def groups(size: int) -> bytes:
    return b"\x03\x02g" + compact(size) + b"\0\0"


@pytest.mark.parametrize("fields", [None, ("client_software_name",), ("client_software_version",)])
def test_a_field(twin: Twin, fields: tuple[str, ...] | None) -> None:
    codec = codec_of(twin)
    codec.decode("ApiVersionsRequest", api_versions(LONGEST), 3, fields)
    with pytest.raises(WireError) as caught:
        codec.decode("ApiVersionsRequest", api_versions(LONGEST + 1), 3, fields)
    assert (caught.value.code, caught.value.offset, caught.value.path) == (Fault.BAD_LENGTH, 2, "client_software_version")


def test_an_element_of_an_array(twin: Twin) -> None:
    codec = codec_of(twin)
    assert len(codec.decode("DescribeGroupsRequest", groups(LONGEST), 5).groups[1]) == LONGEST
    with pytest.raises(WireError) as caught:
        codec.decode("DescribeGroupsRequest", groups(LONGEST + 1), 5)
    assert (caught.value.code, caught.value.offset, caught.value.path) == (Fault.BAD_LENGTH, 3, "groups[1]")
