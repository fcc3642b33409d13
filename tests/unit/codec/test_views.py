"""Views for people."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone

import pytest

import kwire
from kwire.codec.views import api_name, api_versions, error_name, same_uuid, timestamp, uuid_of
from kwire.schema import Versions


def test_times():
    assert timestamp(0) == datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert timestamp(1_700_000_000_123) == datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=timezone.utc)
    assert timestamp(253402300799999) == datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc)
    assert [timestamp(value) for value in (-1, -(2**63), 253402300800000, 2**63 - 1)] == [None] * 4


def test_names():
    assert (error_name(35), error_name(0), error_name(32000)) == ("UNSUPPORTED_VERSION", "NONE", "32000")
    assert (api_name(3), api_name(32000)) == ("Metadata", "32000")


@pytest.mark.requirement("K1313-46", "K1313-47", "K1313-48")
def test_one_uuid_in_many_spellings():
    one = uuid.UUID("fbff0102-0304-0506-0708-090a0b0c0d0e")
    spellings = (
        one, one.bytes, one.hex, str(one), str(one).upper(), f"{{{one}}}", "-_8BAgMEBQYHCAkKCwwNDg", "+/8BAgMEBQYHCAkKCwwNDg==",
        kwire.Uuid(one.bytes),
    )  # fmt: skip
    assert {uuid_of(each) for each in spellings} == {kwire.Uuid(one.bytes)}
    assert all(same_uuid(spellings[0], each) for each in spellings)
    assert not same_uuid(one, uuid.UUID(int=1))
    assert str(uuid_of(one)) == "-_8BAgMEBQYHCAkKCwwNDg"
    # letters that no alphabet has, which Python's decoders pass over: 22 of which 18 count would be 13 bytes
    odd = ("-_8B!gME!QYH!AkK!wwNDg", "-_8BAgMEBQYHCAkK CwwNDg", "-_8BAgMEBQYHCAkKCww\u00f1Dg", "-_8BAgMEBQYHCAkKCwwNDg=A")
    for wrong in ("", "x", b"", bytes(15), "-_8BAgMEBQYHCAkKCwwND", *odd):
        with pytest.raises(ValueError):
            uuid_of(wrong)


@pytest.mark.requirement("K511-9")
def test_versions_by_key():
    body = bytes.fromhex("00000000000300030000000c001200000003000300010009")
    versions = api_versions(kwire.decode("ApiVersionsResponse", body, 0))
    assert versions == {3: Versions(1, 9), 18: Versions(0, 3)}
    assert 3 in versions[18]
    assert api_versions(kwire.decode_prefix("ApiVersionsResponse", body[:-1], 0)[0]) == {3: Versions(0, 12), 18: Versions(0, 3)}
    assert api_versions(kwire.decode_prefix("ApiVersionsResponse", b"\0", 0)[0]) == {}
