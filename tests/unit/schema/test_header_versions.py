"""Header versions: what Kafka 4.4.0 says for every api at known and unknown versions, and the rules of `headerVersions`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kwire.errors import InputError, UnknownApi
from kwire.schema import NO_VERSIONS, Versions, catalog, header_version
from kwire.schema.header_versions import derive_header_versions, parse_header_versions

DATA = Path(__file__).parent / "schema_data"


def _parse(given: Any, **changes: Any) -> list[tuple[str, int]]:
    of: dict[str, Any] = {
        "name": "DeleteGroupsRequest",
        "kind": "request",
        "api_key": 42,
        "valid": Versions(0, 3),
        "flexible": Versions(2, 32767),
        **changes,
    }
    return [(str(versions), header) for versions, header in parse_header_versions(given, **of)]


def test_all_apis_at_all_versions_agree_with_kafka() -> None:
    lines = json.loads(gzip.decompress((DATA / "header_versions.json.gz").read_bytes()))
    assert len(lines) > 1500
    for api_key, version, request, response in lines:
        if (api_key, version) == (27, 0):
            # 4.4.0 has WriteTxnMarkers from version 1 on and says the flexible header for version 0; 3.9.2 writes it with header 1.
            request, response = 1, 0
        assert header_version("request", api_key, version) == request, (api_key, version)
        assert header_version("response", api_key, version) == response, (api_key, version)


@pytest.mark.parametrize(
    ("kind", "api_key", "version", "header"),
    [
        ("request", 18, 2, 1),
        ("request", 18, 3, 2),
        ("request", 18, 999, 2),
        ("response", 18, 0, 0),
        ("response", 18, 4, 0),
        ("response", 18, 32767, 0),
        ("request", 7, 0, 0),
        ("request", 7, 1, 1),
        ("request", 7, 2, 1),
        ("request", 7, 3, 2),
        ("response", 7, 3, 1),
        ("request", 17, 1, 1),
        ("request", 47, 0, 1),
        ("response", 47, 0, 0),
    ],
)
def test_hand_worked(kind: str, api_key: int, version: int, header: int) -> None:
    assert header_version(kind, api_key, version) == header


def test_unknown_apis_and_kinds() -> None:
    with pytest.raises(UnknownApi, match="unknown API key 9999") as caught:
        header_version("request", 9999, 3)
    assert (caught.value.api_key, caught.value.api_version) == (9999, 3)
    with pytest.raises(ValueError, match="only requests and responses"):
        header_version("data", 18, 3)


def test_the_map_of_a_definition_in_any_order() -> None:
    assert _parse({"3+": "3", "0-1": "1", "2": "2"}) == [("0-1", 1), ("2", 2), ("3+", 3)]
    assert _parse({"0": 1, "1": "1", "2+": "3"}) == [("0", 1), ("1", 1), ("2+", 3)], "a header version may be left out (OffsetDelete)"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "the map is empty"),
        ({"": "1"}, "'' is not a version range"),
        ({"x": "1"}, "'x' is not a version range"),
        ({"-1": "1"}, "'-1' is not a version range"),
        ({"+": "1"}, r"'\+' is not a version range"),
        ({"2-1": "1"}, "ends before it begins"),
        ({"0+": ""}, "'' of range 0[+] is not a number"),
        ({"0+": "two"}, "'two' of range 0[+] is not a number"),
        ({"0+": "-1"}, "'-1' of range 0[+] is not a number"),
        ({"0+": None}, "None of range 0[+] is not a number"),
        ({"0+": True}, "True of range 0[+] is not a number"),
        ({"0-1": "1"}, "the last range 0-1 must be open"),
        ({"0+": "1", "2+": "2"}, r"range 0\+ is open, but 2\+ follows it"),
        ({"0-2": "1", "2+": "2"}, r"ranges 0-2 and 2\+ overlap"),
        ({"0": "1", "2+": "2"}, r"gap before range 2\+, expected 1"),
        ({"2+": "2"}, r"range 2\+ comes first, but the map must start at version 0"),
        ({"0-1": "1", "2-3": "2", "4+": "3"}, "starts above the highest valid version 3"),
        ({"0-1": "2", "2+": "1"}, r"range 2\+ falls back to header version 1"),
        ({"0-1": "1", "2+": "4"}, "request header version 4 does not exist"),
        ({"0+": "1"}, r"range 0\+ has flexible versions but header version 1 is not flexible"),
    ],
)
def test_maps_that_kafka_refuses(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=rf"^headerVersions of DeleteGroupsRequest: .*{reason}.*\.$"):
        _parse(given)


def test_the_text_of_kip_1313_lets_a_map_start_at_the_lowest_valid_version() -> None:
    valid = {"valid": Versions(3, 13), "flexible": Versions(9, 32767)}
    assert _parse({"3-8": "1", "9+": "2"}, from_zero=False, **valid) == [("3-8", 1), ("9+", 2)]
    with pytest.raises(InputError, match="must start at version 0"):
        _parse({"3-8": "1", "9+": "2"}, **valid)
    with pytest.raises(InputError, match="version 3 is valid but not covered"):
        _parse({"4-8": "1", "9+": "2"}, from_zero=False, **valid)


def test_responses_have_headers_0_and_1() -> None:
    assert _parse({"0-1": "0", "2+": "1"}, kind="response") == [("0-1", 0), ("2+", 1)]
    with pytest.raises(InputError, match="response header version 2 does not exist"):
        _parse({"0-1": "0", "2+": "2"}, kind="response")


def test_the_apiversions_response_is_pinned_to_header_0() -> None:
    assert _parse({"0+": "0"}, kind="response", api_key=18) == [("0+", 0)]
    with pytest.raises(InputError, match="header version 0 at every version"):
        _parse({"0-1": "0", "2+": "1"}, kind="response", api_key=18)


def test_what_is_derived() -> None:
    def derived(kind: str, api_key: int | None, flexible: Versions) -> list[tuple[str, int]]:
        return [(str(versions), header) for versions, header in derive_header_versions(kind, api_key, flexible)]

    assert derived("request", 3, Versions(9, 32767)) == [("0-8", 1), ("9+", 2)]
    assert derived("response", 3, Versions(9, 32767)) == [("0-8", 0), ("9+", 1)]
    assert derived("request", 17, NO_VERSIONS) == [("0+", 1)]
    assert derived("request", 68, Versions(0, 32767)) == [("0+", 2)]
    assert derived("request", 7, Versions(3, 32767)) == [("0", 0), ("1-2", 1), ("3+", 2)]
    assert derived("response", 18, Versions(3, 32767)) == [("0+", 0)]
    assert derived("data", None, Versions(0, 32767)) == []


def test_every_map_of_the_catalog_keeps_the_rules() -> None:
    for name, message in catalog().messages.items():
        assert bool(message.header_versions) == (message.kind in ("request", "response")), name
        if message.header_versions:
            given = {str(versions): str(header) for versions, header in message.header_versions}
            again = parse_header_versions(
                given,
                name=name,
                kind=message.kind,
                api_key=message.api_key,
                valid=message.valid_versions,
                flexible=message.flexible_versions,
            )
            assert again == message.header_versions
