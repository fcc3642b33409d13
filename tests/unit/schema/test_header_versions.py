"""Header versions: what Kafka 4.4.0 says for every api at known and unknown versions, and what is derived without a map."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kwire.errors import UnknownApi
from kwire.schema import NO_VERSIONS, Versions, header_version
from kwire.schema.header_versions import derive_header_versions

DATA = Path(__file__).parent / "schema_data"


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
