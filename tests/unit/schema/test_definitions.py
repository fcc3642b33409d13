"""Kafka's JSON shape into the model and back: comments, what definitions leave out, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.errors import InputError
from kwire.schema import Versions, catalog, definition_of, parse_definition
from kwire.schema.definitions import read_definition

COMMENTED = """// a licence, in "quotes"
{
  "apiKey": 3, "type": "request",   // who asks
  "name": "WalkRequest", "listeners": ["broker"],
  // "name": "NotThisOne",
  "validVersions": "0-2", "flexibleVersions": "2+",
  "fields": [
    { "name": "Link", "type": "string", "versions": "1+", "default": "http://x//y", "about": "with a // in it" },
    { "name": "Extra", "type": "int32", "tag": "0", "taggedVersions": "2+", "default": -1, "ignorable": true },
    { "name": "Wide", "type": "[]Step", "versions": "0+", "nullableVersions": "1+", "default": null, "fields": [
      { "name": "Key", "type": "string", "versions": "0+", "mapKey": true, "entityType": "topicName" }
    ]}
  ]
}
} // a brace too many, as in DescribeProducersRequest of Kafka 2.8
"""


def _small(**changes: Any) -> dict[str, Any]:
    return {
        "name": "SmallRequest",
        "type": "request",
        "apiKey": 0,
        "validVersions": "0-3",
        "flexibleVersions": "2+",
        "fields": [],
        **changes,
    }


def test_a_definition_with_comments_is_read() -> None:
    message = parse_definition(read_definition(COMMENTED, "walk.json"), "walk.json")
    assert (message.name, message.kind, message.api_key, message.listeners) == ("WalkRequest", "request", 3, ("broker",))
    link, extra, wide = message.fields
    assert link.default == "http://x//y"
    assert link.versions == Versions(1, 32767)
    assert (extra.tag, extra.default, extra.ignorable) == (0, "-1", True)
    assert extra.versions == extra.tagged_versions == Versions(2, 32767), "a tagged field may leave its versions out"
    assert wide.default is None, 'a JSON null is no default; the text "null" is'
    assert wide.nullable_versions == Versions(1, 32767)
    assert (wide.fields[0].map_key, wide.fields[0].entity_type) == (True, "topicName")


def test_every_definition_of_the_catalog_is_written_back_as_it_was_read() -> None:
    for name, message in catalog().messages.items():
        assert parse_definition(definition_of(message), name) == message


def test_json_faults_name_line_and_column() -> None:
    with pytest.raises(InputError, match=r"^walk\.json is not a message definition: .* at line 2, column 11\.$"):
        read_definition('{\n  "name": , }', "walk.json")


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        (_small(type="question"), "unknown type 'question'"),
        ({"type": "data", "validVersions": "0"}, "'name' is missing"),
        (_small(validVersions="a-b"), "invalid literal"),
        (_small(fields=[{"name": "X", "type": "int32"}]), "'versions' is missing"),
        (_small(fields=[17]), "int"),
        (_small(fields=[{"name": "A", "type": "[]Nowhere", "versions": "0+"}]), "'Nowhere' is missing"),
        (_small(fields=[{"name": "a; b", "type": "int8", "versions": "0+"}]), "invalid field name 'a; b'"),
        (_small(fields=[{"name": "__class__", "type": "int8", "versions": "0+"}]), "invalid field name '__class__'"),
        (
            _small(fields=[{"name": "A", "type": "[]B", "versions": "0+", "fields": [{"name": "", "type": "int8", "versions": "0+"}]}]),
            "name ''",
        ),
    ],
)
def test_what_kafka_would_refuse_is_refused(definition: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError, match=rf"^x\.json is not a message definition: .*{reason}"):
        parse_definition(definition, "x.json")


def test_the_latest_version_may_be_unstable() -> None:
    assert parse_definition(_small(latestVersionUnstable=True), "x").unstable_versions == Versions(3, 3)
    assert not parse_definition(_small(latestVersionUnstable=False), "x").unstable_versions
