"""headerVersions: K1313-6 to K1313-20, each check with its sentence."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from kwire.errors import InputError
from kwire.schema import Catalog, Message, Versions, catalog, definition_of, dialect, header_version, load, parse_definition
from kwire.schema.header_versions import derive_header_versions

# The proposal's DeleteGroups
REQUEST: dict[str, Any] = {
    "type": "request", "apiKey": 42, "name": "DeleteGroupsRequest", "validVersions": "0-3", "flexibleVersions": "2+",
    "headerVersions": {"0-1": "1", "2": "2", "3+": "3"},
    "fields": [{"name": "GroupsNames", "type": "[]string", "versions": "0+"}],
}  # fmt: skip
RESPONSE: dict[str, Any] = {
    "type": "response", "apiKey": 42, "name": "DeleteGroupsResponse", "validVersions": "0-2", "flexibleVersions": "2+",
    "headerVersions": {"0-1": "0", "2+": "1"},
    "fields": [{"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"}],
}  # fmt: skip
API_VERSIONS: dict[str, Any] = {
    "type": "response", "apiKey": 18, "name": "ApiVersionsResponse", "validVersions": "0-3", "flexibleVersions": "3+", "fields": [],
}  # fmt: skip


def request(headers: object, **changes: Any) -> Message:
    return parse_definition({**REQUEST, "headerVersions": headers, **changes}, "DeleteGroupsRequest.json")


def shown(message: Message) -> dict[str, int]:
    return {str(versions): header for versions, header in message.header_versions}


def refusal(headers: object, *, of: dict[str, Any] = REQUEST, from_zero: bool = True, **changes: Any) -> str:
    with pytest.raises(InputError) as caught:
        parse_definition({**of, "headerVersions": headers, **changes}, "x.json", from_zero=from_zero)
    sentence = str(caught.value)
    prefix = f"headerVersions of {of['name']}: "
    assert sentence.startswith(prefix)
    return sentence.removeprefix(prefix)


def written(folder: Path, *definitions: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for each in definitions:
        (folder / f"{each['name']}.json").write_text(json.dumps(each))
    return folder


def test_K1313_6_the_proposals_map_of_deletegroups() -> None:
    message = parse_definition(REQUEST, "DeleteGroupsRequest.json")
    assert shown(message) == {"0-1": 1, "2": 2, "3+": 3}
    codec_map = [header_version("request", 42, version, Catalog("x", {message.name: message})) for version in (0, 1, 2, 3, 4, 32767)]
    assert codec_map == [1, 1, 2, 3, 3, 3]
    assert definition_of(message)["headerVersions"] == {"0-1": "1", "2": "2", "3+": "3"}


@pytest.mark.parametrize("key", ["", " ", "x", "-1", "+", "1-", "-", "1-2-3", "1.0", "0 - 1", "٣", "++", "1+2"])
def test_K1313_7_what_is_no_range(key: str) -> None:
    assert refusal({key: "1"}) == f"{key!r} is not a version range."


def test_K1313_7_ranges() -> None:
    assert shown(request({"0": 1, "1-2": "2", "3+": "3"})) == {"0": 1, "1-2": 2, "3+": 3}
    assert refusal({"2-1": "1"}) == "the range 2-1 ends before it begins."
    assert refusal({"0-32768": "1"}) == "the range 0-32768 goes beyond the highest version there can be, 32767."


def test_K1313_8_the_last_range_is_open_and_only_the_last() -> None:
    assert refusal({"0-1": "1"}) == "the last range 0-1 must be open."
    assert refusal({"0-1": "1", "2-3": "2"}) == "the last range 2-3 must be open."
    assert refusal({"0+": "1", "2+": "2"}) == "range 0+ is open, but 2+ follows it."


def test_K1313_9_ranges_do_not_overlap() -> None:
    assert refusal({"0-2": "1", "2+": "2"}) == "ranges 0-2 and 2+ overlap."
    assert refusal({"0-2": "1", "1": "1", "3+": "2"}) == "ranges 0-2 and 1 overlap."


def test_K1313_10_ranges_are_continuous() -> None:
    assert refusal({"0": "1", "2+": "2"}) == "gap before range 2+, expected 1."
    assert refusal({"0": "1", "1": "1", "3+": "2"}) == "gap before range 3+, expected 2."


def test_K1313_11_from_zero_or_from_the_lowest_valid_version(tmp_path: Path) -> None:
    late = {**REQUEST, "validVersions": "3-13", "flexibleVersions": "9+", "headerVersions": {"3-8": "1", "9+": "2"}}
    assert refusal(late["headerVersions"], of=late) == "range 3-8 comes first, but the map must start at version 0."
    assert shown(parse_definition(late, "x", from_zero=False)) == {"3-8": 1, "9+": 2}
    assert refusal({"4-8": "1", "9+": "2"}, of=late, from_zero=False) == "version 3 is valid but not covered."
    folder = written(tmp_path / "late", late)
    assert shown(load(folder, from_zero=False)["DeleteGroupsRequest"]) == {"3-8": 1, "9+": 2}
    with pytest.raises(InputError, match="must start at version 0"):
        load(folder)


def test_K1313_12_no_range_starts_above_the_highest_valid_version() -> None:
    assert refusal({"0-1": "1", "2-3": "2", "4+": "3"}) == "range 4+ starts above the highest valid version 3."


@pytest.mark.parametrize(
    ("headers", "sentence"),
    [
        ({}, "the map is empty."),
        ({" ": "1"}, "' ' is not a version range."),
        ({"0+": ""}, "the header version '' of range 0+ is not a number."),
        ({"0+": " "}, "the header version ' ' of range 0+ is not a number."),
        ({"0-1": "one", "2+": "2"}, "the header version 'one' of range 0-1 is not a number."),
        ({"0-1": "1", "2+": "-2"}, "the header version '-2' of range 2+ is not a number."),
        ({"0+": None}, "the header version None of range 0+ is not a number."),
        ({"0+": 1.5}, "the header version 1.5 of range 0+ is not a number."),
        ({"0+": True}, "the header version True of range 0+ is not a number."),
        ([], "the map is empty."),
    ],
)
def test_K1313_13_what_is_no_map_of_numbers(headers: object, sentence: str) -> None:
    assert refusal(headers) == sentence


def test_K1313_14_the_order_of_the_file_does_not_matter() -> None:
    shuffled = request({"3+": "3", "0-1": "1", "2": "2"})
    assert shuffled == parse_definition(REQUEST, "x")
    assert list(shown(shuffled)) == ["0-1", "2", "3+"]
    assert list(definition_of(shuffled)["headerVersions"]) == ["0-1", "2", "3+"]


def test_K1313_15_header_versions_never_fall() -> None:
    assert refusal({"0-1": "2", "2+": "1"}) == "range 2+ falls back to header version 1."


def test_K1313_15_a_flexible_body_has_a_flexible_header() -> None:
    assert refusal({"0+": "1"}) == "range 0+ has flexible versions but header version 1 is not flexible."
    assert refusal({"0-2": "1", "3+": "2"}) == "range 0-2 has flexible versions but header version 1 is not flexible."
    assert refusal({"0+": "0"}, of=RESPONSE) == "range 0+ has flexible versions but header version 0 is not flexible."
    # a flexible header before a body that is not: the proposal's own OffsetDelete would be one without its new fields
    assert shown(request({"0": "1", "1+": "3"}, flexibleVersions="none")) == {"0": 1, "1+": 3}


def test_K1313_15_the_header_exists() -> None:
    assert refusal({"0-1": "1", "2+": "4"}) == "request header version 4 does not exist."


def test_K1313_15_the_header_exists_in_the_catalogs_own_schema(tmp_path: Path) -> None:
    header = {
        "type": "header", "name": "RequestHeader", "validVersions": "1-2", "flexibleVersions": "2+",
        "fields": [{"name": "CorrelationId", "type": "int32", "versions": "0+"}],
    }  # fmt: skip
    with pytest.raises(InputError) as caught:
        load(written(tmp_path / "no-header-3", header, REQUEST))
    assert str(caught.value) == "headerVersions of DeleteGroupsRequest: range 3+ has header version 3, but RequestHeader has only 1-2."
    # below the lowest header that there is (apache/kafka#23457), unless those versions are dropped as well
    early = {**REQUEST, "headerVersions": {"0": "0", "1": "1", "2+": "2"}}
    with pytest.raises(
        InputError, match=r"^headerVersions of DeleteGroupsRequest: range 0 has header version 0, but RequestHeader has only 1-2\.$"
    ):
        load(written(tmp_path / "no-header-0", header, early))
    assert shown(load(written(tmp_path / "dropped", header, {**early, "validVersions": "1-3"}))["DeleteGroupsRequest"])["0"] == 0
    assert "DeleteGroupsRequest" in load(written(tmp_path / "header-3", {**header, "validVersions": "1-3"}, REQUEST))
    # a folder with no header schema is not asked
    assert "DeleteGroupsRequest" in load(written(tmp_path / "none", REQUEST))


def test_K1313_16_the_apiversions_response_has_header_0() -> None:
    assert shown(parse_definition({**API_VERSIONS, "headerVersions": {"0+": "0"}}, "x")) == {"0+": 0}
    sentence = "the ApiVersions response has header version 0 at every version (KIP-511)."
    assert refusal({"0-2": "0", "3+": "1"}, of=API_VERSIONS) == sentence
    assert refusal({"0+": "1"}, of=API_VERSIONS) == sentence
    assert shown(parse_definition(API_VERSIONS, "x")) == {"0+": 0}
    assert all(header_version("response", 18, version, dialect("kip-1313")) == 0 for version in (0, 3, 4, 5, 999))


def test_K1313_17_what_is_derived_is_what_is_declared() -> None:
    """The maps of the catalog are held against what Kafka's own classes say in test_header_versions.py."""
    for name in catalog():
        message = catalog()[name]
        derived = derive_header_versions(message.kind, message.api_key, message.flexible_versions)
        assert derived == message.header_versions, name


def test_K1313_17_definitions_without_a_map_load(tmp_path: Path) -> None:
    old = {key: value for key, value in REQUEST.items() if key != "headerVersions"}
    first = {**old, "apiKey": 7, "name": "ControlledShutdownRequest", "validVersions": "0-3", "flexibleVersions": "3+"}
    answer = {key: value for key, value in RESPONSE.items() if key != "headerVersions"}
    folder = written(tmp_path / "old", old, {**answer, "validVersions": "0-3"}, API_VERSIONS, first)
    known = load(folder)
    assert {name: shown(known[name]) for name in known} == {
        "ApiVersionsResponse": {"0+": 0},
        "ControlledShutdownRequest": {"0": 0, "1-2": 1, "3+": 2},
        "DeleteGroupsRequest": {"0-1": 1, "2+": 2},
        "DeleteGroupsResponse": {"0-1": 0, "2+": 1},
    }


def test_K1313_17_the_map_may_be_mandatory(tmp_path: Path) -> None:
    old = {key: value for key, value in REQUEST.items() if key != "headerVersions"}
    with pytest.raises(InputError) as caught:
        load(written(tmp_path / "old", old), header_versions="required")
    assert str(caught.value) == (
        'DeleteGroupsRequest has no headerVersions, which are required; by its flexible versions they are {"0-1": "1", "2+": "2"}.'
    )
    dropped = {**old, "validVersions": "none"}
    data = {"type": "data", "name": "Some", "validVersions": "0", "fields": []}
    assert len(load(written(tmp_path / "new", REQUEST, data), header_versions="required")) == 2
    assert len(load(written(tmp_path / "dropped", dropped), header_versions="required")) == 1


def test_K1313_18_a_header_version_may_be_left_out() -> None:
    assert shown(request({"0": "1", "1+": "3"}, validVersions="0-1", flexibleVersions="1+")) == {"0": 1, "1+": 3}


def test_K1313_19_responses_have_headers_0_and_1() -> None:
    assert refusal({"0-1": "0", "2+": "2"}, of=RESPONSE) == "response header version 2 does not exist."
    assert refusal({"0-1": "0", "2+": "3"}, of=RESPONSE) == "response header version 3 does not exist."
    assert shown(parse_definition(RESPONSE, "x")) == {"0-1": 0, "2+": 1}


def test_K1313_20_request_and_response_have_the_same_versions(tmp_path: Path) -> None:
    folder = written(tmp_path / "proposal", REQUEST, RESPONSE)
    with pytest.warns(UserWarning, match="DeleteGroupsResponse") as told:
        known = load(folder)
    assert [str(each.message) for each in told] == [f"{folder}: DeleteGroupsRequest has versions 0-3, but DeleteGroupsResponse has 0-2."]
    assert known["DeleteGroupsRequest"].valid_versions == Versions(0, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(written(tmp_path / "mended", REQUEST, {**RESPONSE, "validVersions": "0-3"}))
