"""The built-in catalog against what Kafka's JsonConverter classes wrote for a message with every field set."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import kwire.schema
from kwire.schema import Versions, camel_name, catalog
from kwire.schema.layout import LayoutField, fields_at

DATA = Path(__file__).parent / "schema_data"
KINDS = {
    "request": {"request"},
    "response": {"response"},
    "header": {"header"},
    "data": {"data"},
    "coordinator": {"coordinator-key", "coordinator-value"},
    "metadata-record": {"metadata"},
}


@pytest.fixture(scope="module")
def full_cases() -> dict[str, Any]:
    cases: dict[str, Any] = json.loads(gzip.decompress((DATA / "fields_of_full_cases.json.gz").read_bytes()))
    return cases


def _paths(fields: tuple[LayoutField, ...], path: str = "") -> set[str]:
    found = set()
    for field in fields:
        here = path + camel_name(field.name)
        found |= {here} | _paths(field.fields, here + ".")
    return found


def test_every_message_has_the_fields_that_kafka_writes(full_cases: dict[str, Any]) -> None:
    pairs = 0
    for name, case in full_cases.items():
        message = catalog()[name]
        for versions, paths in case["fields"]:
            for version in versions:
                assert _paths(fields_at(message, version)) == set(paths), f"{name} v{version}"
                pairs += 1
    assert (len(full_cases), pairs) == (294, 881)


def test_kinds_keys_versions_and_headers_are_kafkas(full_cases: dict[str, Any]) -> None:
    for name, case in full_cases.items():
        message = catalog()[name]
        assert message.kind in KINDS[case["kind"]], name
        if case["api_key"] is not None:
            assert message.api_key == case["api_key"], name
        for version, (flexible, header) in case["versions"].items():
            assert int(version) in message.valid_versions, f"{name} v{version}"
            assert message.is_flexible(int(version)) == flexible, f"{name} v{version}"
            if header is not None:
                own = [number for versions, number in message.header_versions if int(version) in versions]
                assert own == [header], f"{name} v{version}"


def test_what_the_vectors_do_not_have_is_there_too() -> None:
    known = catalog()
    assert len(known) == len(list(known)) == 299
    assert [field.name for field in known["QuotaRecord"].fields] == ["Entity", "Key", "Value", "Remove"]
    assert known["ListOffsetRequest"].notes[-1] == "The name since then is ListOffsetsRequest."
    assert known["ElectPreferredLeadersRequest"].api_key == 43


def test_an_api_key_finds_the_newest_name() -> None:
    known = catalog()
    assert {key: known.api_name(key) for key in (2, 10, 43, 56, 74)} == {
        2: "ListOffsets",
        10: "FindCoordinator",
        43: "ElectLeaders",
        56: "AlterPartition",
        74: "ListConfigResources",
    }
    assert known.api_keys == list(range(95))
    for key in known.api_keys:
        request, response = known.request(key), known.response(key)
        assert request is not None
        assert response is not None
        assert request.name.removesuffix("Request") == response.name.removesuffix("Response") == known.api_name(key)
        assert request.api_key == response.api_key == key
        assert request.valid_versions == response.valid_versions
    assert known.request(9999) is None
    assert known.api_name(9999) is None
    assert "NoSuchRequest" not in known
    with pytest.raises(KeyError):
        known["NoSuchRequest"]


def test_keys_of_coordinator_records_have_both_spellings() -> None:
    key = catalog()["ConsumerGroupMetadataKey"]
    assert (key.kind, key.api_key, key.topic) == ("coordinator-key", 3, "__consumer_offsets")
    assert 0 in key.valid_versions
    assert 3 in key.valid_versions
    assert fields_at(key, 0) == fields_at(key, 3)


def test_records_know_their_topic() -> None:
    topics = Counter(message.topic for message in catalog().messages.values())
    assert set(topics) == {
        None, "__cluster_metadata", "__consumer_offsets", "__remote_log_metadata", "__share_group_state", "__transaction_state",
    }  # fmt: skip
    assert {message.kind for message in catalog().messages.values() if message.topic == "__cluster_metadata"} == {"metadata"}
    assert catalog()["TransactionLogValue"].topic == "__transaction_state"
    assert catalog()["ShareSnapshotKey"].topic == "__share_group_state"


@pytest.mark.requirement("K1313-2")
def test_the_client_id_of_the_request_header_is_never_compact() -> None:
    header = catalog()["RequestHeader"]
    assert [field.compact for field in fields_at(header, 2) if field.name == "ClientId"] == [False]
    assert [field.name for field in fields_at(header, 0)] == ["RequestApiKey", "RequestApiVersion", "CorrelationId"]
    assert [field.name for field in fields_at(header, 3)][-2:] == ["ClientId", "ClientInstanceId"], "KIP-1313"


def test_a_version_that_does_not_exist_has_no_layout() -> None:
    with pytest.raises(ValueError, match="MetadataRequest has no version 99, only 0-13"):
        fields_at(catalog()["MetadataRequest"], 99)


@pytest.mark.requirement("K35-31")
def test_versions_that_4x_dropped_are_there() -> None:
    known = catalog()
    assert known["ProduceRequest"].valid_versions == Versions(0, 13)
    assert known["FetchRequest"].valid_versions == Versions(0, 18)
    assert known["LeaderAndIsrRequest"].valid_versions == Versions(0, 7)


def test_other_layouts_under_the_same_version_are_noted() -> None:
    notes = " ".join(catalog()["ConsumerGroupDescribeResponse"].notes)
    assert notes.startswith("Version 0 in 3.7.2: Groups.Members.Assignment.Error (int8) is there too;")
    assert catalog()["LeaderChangeMessage"].notes[0] == "Version 0 in 2.7.2: no Version; no GrantingVoters."


def test_the_first_lookup_reads_one_definition() -> None:
    program = (
        "import kwire.schema.stored as stored, kwire.schema as schema; read = stored.read_data; names = [];"
        "stored.read_data = lambda name: (names.append(name), read(name))[1];"
        "schema.catalog()['MetadataResponse']; schema.header_version('request', 18, 3); schema.catalog().api_name(0); print(names)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['index.json', 'messages/MetadataResponse.json', 'messages/ApiVersionsRequest.json']"


def test_the_catalog_is_read_from_a_zip_too(tmp_path: Path) -> None:
    """`spark-submit --py-files` puts a zip on the path."""
    package = Path(kwire.schema.__file__).parent
    whole = tmp_path / "kwire.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("kwire/__init__.py", "")
        for path in package.parent.glob("[!_]*.py"):
            archive.write(path, f"kwire/{path.name}")
        for path in sorted(package.rglob("*")):
            if path.suffix in (".py", ".json"):
                archive.write(path, f"kwire/schema/{path.relative_to(package).as_posix()}")
    program = (
        f"import sys; sys.path.insert(0, {str(whole)!r}); from kwire import schema;"
        "print(schema.__file__); print(schema.header_version('request', 3, 9), len(schema.catalog()), schema.releases().newest.name,"
        "schema.dialect('kip-1313')['OffsetDeleteRequest'].valid_versions)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    where, answer = done.stdout.splitlines()
    assert where.startswith(str(whole))
    assert answer == "2 299 4.4.0 0-1"
