"""The built-in catalog is what Kafka's published jars say: parts of it are rebuilt from jars and compared.

Needs Maven and Java and, on the first run, the network; jars are kept in `.cache/kafka-jars`.
"""

from __future__ import annotations

import functools
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from kwire.schema import Catalog, Message, Versions, catalog, load, parse_definition, release_catalog, releases
from kwire.schema.catalog_diff import diff_catalogs
from kwire.schema.layout import LayoutField, fields_at
from quick_spark import OPTIONS

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("jars")]  # they are fetched once

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "kafka-jars"
SCHEMA = ROOT / "src" / "kwire" / "schema"

NEWEST = releases().newest.name
MERGED = [NEWEST, releases().resolve("3").name]
ASKED = [NEWEST, "4.0.0", releases().resolve("3").name]


@pytest.fixture(scope="module", autouse=True)
def _tools_on_path() -> None:
    sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture(scope="module", autouse=True)
def _quick_java() -> Iterator[None]:
    """The oracle lives for seconds: its JVM compiles its source, and has no use for its own code compiled well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", " ".join(OPTIONS))
        yield


def _tool(name: str) -> ModuleType:
    return __import__(name)


@functools.cache
def _published() -> list[str]:
    """The newest release that is published, be it one that the catalog was not built from."""
    return [_tool("kafka_jars").newest_published(CACHE)]


@pytest.fixture(scope="module")
def cache(_tools_on_path: None) -> Path:
    """The folder with all jars that the tests of this file read, fetched in one go."""
    missing = [tool for tool in ("mvn", "java") if shutil.which(tool) is None]
    assert not missing, f"{' and '.join(missing)} cannot be found (Debian: apt-get install maven default-jre)"
    jars, build = _tool("kafka_jars"), _tool("build_releases")
    clients = [("kafka-clients", release) for release in dict.fromkeys([*ASKED, "0.11.0.3", *_published()])]
    jars.fetch([*jars.definition_jars(MERGED), *clients, *build.BESIDE], CACHE)
    return CACHE


def _there(fields: tuple[LayoutField, ...]) -> tuple[LayoutField, ...]:
    """A layout without `ignorable`, which says nothing of a version that has the field."""
    return tuple(replace(each, ignorable=False, fields=_there(each.fields)) for each in fields)


def _ignorable(message: Message) -> dict[tuple[str, str], bool]:
    """Whether a field is ignorable, for those that some version lacks."""
    return {
        (struct.name, field.name): field.ignorable
        for struct in message.structs.values()
        for field in struct.fields
        if any(version not in field.versions for version in message.valid_versions if version in struct.versions)
    }


def _former_names(definition: object) -> set[tuple[str, str]]:
    """Take the former names out of a definition, and return them with the current ones."""
    found: set[tuple[str, str]] = set()
    if isinstance(definition, dict):
        found = {(definition["name"], former) for key in ("formerNames", "namesInCode") for former in definition.pop(key, ())}
    for each in definition.values() if isinstance(definition, dict) else definition if isinstance(definition, list) else ():
        found |= _former_names(each)
    return found


def _differences(known: Catalog, published: Catalog) -> list[str]:
    """What a published jar says of its versions that the catalog does not: a new message, a new version, another layout."""
    found = []
    for name, theirs in published.messages.items():
        if not theirs.valid_versions:
            continue
        if name not in known:
            found.append(f"{name} is new")
            continue
        ours = known[name]
        for version in theirs.valid_versions:
            if version not in ours.valid_versions:
                found.append(f"{name} v{version} is new")
            elif _there(fields_at(ours, version)) != _there(fields_at(theirs, version)) or ours.is_flexible(version) != theirs.is_flexible(
                version
            ):
                found.append(f"{name} v{version} is another")
    return found


def test_no_published_release_says_more_than_the_catalog(cache: Path) -> None:
    """Drift: Kafka has released something that the catalog was not built from. `tools/README.md` says what to do."""
    (newest,) = _published()
    assert _differences(catalog(), load(cache / f"kafka-clients-{newest}.jar")) == []
    # and against releases that say less than the newest, it is seen what the newest says more
    older = load(cache / "kafka-clients-4.0.0.jar")
    found = _differences(older, load(cache / f"kafka-clients-{newest}.jar"))
    assert "ProduceRequest v13 is new" in found
    assert "AlterShareGroupOffsetsRequest is new" in found


@pytest.mark.parametrize("release", ["3.9.2", "4.0.0", NEWEST])
def test_a_release_and_the_definitions_in_its_jar_are_one(release: str, cache: Path) -> None:
    """What brokers of a release accept is what its definitions say, and the catalog has them byte for byte."""
    found = diff_catalogs(release_catalog(release), load(cache / f"kafka-clients-{release}.jar"))
    assert found.apis == ()


@pytest.mark.parametrize("artifact", ["kafka-clients", "kafka-group-coordinator", "kafka-metadata"])
def test_definitions_of_the_newest_release_are_the_catalogs(artifact: str, cache: Path) -> None:
    path = cache / f"{artifact}-{NEWEST}.jar"
    known = catalog()
    compared = 0
    for name, theirs in load(path).messages.items():
        if not theirs.valid_versions:
            continue
        ours = known[name]
        assert (ours.kind, ours.api_key, ours.listeners) == (theirs.kind, theirs.api_key, theirs.listeners), name
        for version in theirs.valid_versions:
            assert _there(fields_at(ours, version)) == _there(fields_at(theirs, version)), f"{name} v{version}"
            assert ours.is_flexible(version) == theirs.is_flexible(version), f"{name} v{version}"
            compared += 1
        lacking = _ignorable(theirs)
        assert {field: ignorable for field, ignorable in _ignorable(ours).items() if field in lacking} == lacking, name
    assert compared > 25


def test_rebuilding_from_two_releases_gives_the_same_files(cache: Path, tmp_path: Path) -> None:
    build = _tool("build_messages")
    merged = build.build(MERGED, cache)
    build.write(merged, tmp_path)
    assert len(merged) > 280
    notes = "notes"
    differing = set()
    for path in sorted((tmp_path / "messages").glob("*.json")):
        rebuilt, kept = json.loads(path.read_text()), json.loads((SCHEMA / "messages" / path.name).read_text())
        assert _former_names(rebuilt) <= _former_names(kept), path.stem  # of other releases the two know no names
        if {**rebuilt, notes: None} != {**kept, notes: None}:
            differing.add(path.stem)
    # Keys that 4.0 still had under their record type: two releases cannot tell those of groups that 3.9 did not have.
    assert differing == {
        "ConsumerGroupRegularExpressionKey", "ShareGroupCurrentMemberAssignmentKey", "ShareGroupStatePartitionMetadataKey",
        "ShareGroupTargetAssignmentMemberKey", "ShareGroupTargetAssignmentMetadataKey", "ShareUpdateKey",
    }  # fmt: skip


def test_former_names_are_those_of_the_releases(cache: Path) -> None:
    """By hand from the definitions in the jars of 4.4.0 and 3.9.2."""
    merged = _tool("build_messages").build(MERGED, cache)
    found = {
        name: {(field.name, *each) for struct in message.structs.values() for field in struct.fields for each in field.former_names}
        for name, message in merged.items()
    }
    assert {name: names for name, names in found.items() if names} == {
        "TxnOffsetCommitRequest": {("GenerationIdOrMemberEpoch", "GenerationId", "3.9")},
        "VoteRequest": {
            ("ReplicaEpoch", "CandidateEpoch", "3.9"), ("ReplicaId", "CandidateId", "3.9"),
            ("ReplicaDirectoryId", "CandidateDirectoryId", "3.9"),
        },
    }  # fmt: skip


def test_names_of_requests_that_were_defined_in_code(cache: Path) -> None:
    """OffsetCommitRequest of 0.11: Schema OFFSET_COMMIT_REQUEST_V2 in org.apache.kafka.common.protocol.Protocol."""
    layouts = _tool("build_messages").coded_layouts(["0.11.0.3"], cache)["request", 8]
    (fields,) = (fields for _, version, fields in layouts if version == 2)
    assert [(field.name, field.type) for field in fields] == [
        ("GroupId", "string"), ("GroupGenerationId", "int32"), ("MemberId", "string"), ("RetentionTime", "int64"), ("Topics", "[]struct"),
    ]  # fmt: skip
    merged = _tool("merge_definitions").with_former_names(catalog()["OffsetCommitRequest"], [], layouts)
    names = {field.name: field.names_in_code for field in merged.fields}
    assert names["GenerationIdOrMemberEpoch"] == (("GroupGenerationId", "0.11.0"),)
    assert names["RetentionTimeMs"] == (("RetentionTime", "0.11.0"),)


def test_kafkas_own_classes_say_what_the_table_says(cache: Path) -> None:
    facts = _tool("build_releases").ask(ASKED, cache, "apis")
    assert {fact["release"] for fact in facts} == set(ASKED)
    for fact in facts:
        release, key = releases()[fact["release"]], fact["api_key"]
        for listener in release.listeners:
            for what, versions in (("accepts", release.accepts(key, listener)), ("advertises", release.advertises(key, listener))):
                said = fact[what].get(listener)
                assert (None if versions is None else [versions.lowest, versions.highest]) == said, (fact["release"], key, listener, what)


def test_error_names_are_those_of_the_newest_release(cache: Path) -> None:
    named = {int(code): name for code, name in json.loads((SCHEMA / "error_codes.json").read_text()).items()}
    said = dict(_tool("build_releases").ask([NEWEST], cache, "errors"))
    assert said.items() <= named.items()
    assert len(said) > 130


def _definition(release: str, valid: str, fields: list[dict[str, object]], flexible: str = "2+") -> tuple[str, Message]:
    definition = {"name": "StepRequest", "type": "request", "apiKey": 7000, "validVersions": valid, "flexibleVersions": flexible}
    return release, parse_definition({**definition, "fields": fields}, release)


def _field(name: str, versions: str = "0+", **more: object) -> dict[str, object]:
    return {"name": name, "type": "int32", "versions": versions, **more}


def test_merging_takes_each_version_from_the_newest_release_that_has_it() -> None:
    tool = _tool("merge_definitions")
    sources = [
        tool.Source(*_definition("9.1", "2-4", [_field("Id"), _field("Tail", "3+"), _field("Mark", "4+", taggedVersions="4+", tag=0)])),
        tool.Source(*_definition("9.0", "0-3", [_field("Old", "0-1"), _field("Id", "1+", nullableVersions="1"), _field("Tail", "3+")])),
        tool.Source(*_definition("8.0", "0-2", [_field("Old", "0-1"), _field("Id", "1+"), _field("Gone", "2+")])),
    ]
    merged, taken = tool.merge(sources)
    assert taken == {4: "9.1", 3: "9.1", 2: "9.1", 1: "9.0", 0: "9.0"}
    assert merged.valid_versions == Versions(0, 4)
    assert [(field.name, str(field.versions), str(field.nullable_versions)) for field in merged.fields] == [
        ("Old", "0-1", "none"),
        ("Id", "1+", "1"),
        ("Tail", "3+", "none"),
        ("Mark", "4+", "none"),
    ]
    assert str(merged.fields[3].tagged_versions) == "4+"
    assert tool.check(merged, taken, sources) == [
        "Version 1 in 8.0: Id has nullable false.",
        "Version 2 in 8.0: Gone (int32) is there too.",
    ]


def test_a_merge_that_lost_something_is_found() -> None:
    tool = _tool("merge_definitions")
    sources = [
        tool.Source(*_definition("9.1", "1-2", [_field("Id")])),
        tool.Source(*_definition("9.0", "0-1", [_field("Old"), _field("Id")])),
    ]
    merged, taken = tool.merge(sources)
    tool.check(merged, taken, sources)
    spoilt = replace(merged, fields=(replace(merged.fields[0], versions=Versions(0, 2)), *merged.fields[1:]))
    with pytest.raises(tool.MergeError, match="StepRequest v1 is not as in 9"):
        tool.check(spoilt, taken, sources)


def test_definitions_that_no_single_one_can_tell_are_refused() -> None:
    tool = _tool("merge_definitions")
    sources = [
        tool.Source(*_definition("9.1", "1", [_field("A"), _field("B")])),
        tool.Source(*_definition("9.0", "0", [_field("B"), _field("A")])),
    ]
    with pytest.raises(tool.MergeError, match="no order fits"):
        tool.merge(sources)
