"""`kwire catalog`: what the schema room knows, on the terminal and as JSON lines."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from kwire.cli.entry import commands


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["catalog", *arguments])


def test_list_names_every_api_that_a_release_accepts() -> None:
    found = [json.loads(line) for line in run("list", "--release", "4.1", "--json").stdout.splitlines()]
    by_name = {row["name"]: row for row in found}
    # KIP-896: 4.x accepts Produce from version 3 on, and has no LeaderAndIsr
    assert by_name["Produce"]["accepted"].startswith("3-")
    assert by_name["Produce"]["api_key"] == 0
    assert "LeaderAndIsr" not in by_name
    table = run("list").stdout
    assert "accepted by" in table
    assert "LeaderAndIsr" in table


@pytest.mark.requirement("K35-33")
def test_show_a_message() -> None:
    text = run("show", "metadata").stdout
    assert "MetadataRequest" in text
    assert "MetadataResponse" in text
    assert "LeaderId" in text
    (message,) = (json.loads(line) for line in run("show", "ConsumerProtocolSubscription", "--version", "1", "--json").stdout.splitlines())
    assert [field["name"] for field in message["fields"] if not field["depth"]] == ["Topics", "UserData", "OwnedPartitions"]


def test_show_by_key_and_version() -> None:
    assert "ClientSoftwareName" in run("show", "18", "--version", "3").stdout
    assert "ClientSoftwareName" not in run("show", "18", "--version", "2").stdout


@pytest.mark.requirement("K35-33")
def test_diff_of_two_releases() -> None:
    text = run("diff", "3.9", "4.1").stdout
    # KIP-896: Produce v0 to v2 and Fetch v0 to v3 go, LeaderAndIsr goes with ZooKeeper; which is not told of every api
    assert "rejects v0-v2" in text
    assert "rejects v0-v3" in text
    assert "the api is gone" in text
    assert "zk_broker" not in text
    rows = {row["name"]: row for row in map(json.loads, run("diff", "3.9", "4.1", "--json").stdout.splitlines())}
    assert rows["Produce"]["versions_removed"] == [0, 1, 2]
    assert rows["LeaderAndIsr"]["after"] is None
    assert "Topics.TopicId" not in text
    assert "TopicData.TopicId" in run("diff", "3.9", "4.1", "--fields").stdout


def test_diff_of_a_release_with_itself() -> None:
    assert run("diff", "4.1.1", "4.1.1").stdout == "No wire changes from 4.1.1 to 4.1.1.\n"


def test_tags() -> None:
    rows = [json.loads(line) for line in run("tags", "--json").stdout.splitlines()]
    # KIP-584: the finalized features epoch of ApiVersions is tag 1
    assert {"message": "ApiVersionsResponse", "path": "FinalizedFeaturesEpoch", "tag": 1, "type": "int64", "versions": "3+"} in rows


def test_what_is_not_there() -> None:
    for arguments, clue in (
        (("show", "Metadat"), "did you mean Metadata "),
        (("diff", "3.9", "9.9"), "unknown Kafka release 9.9"),
        (("show", "3", "--version", "99"), "has no version 99"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert clue in result.stderr


def test_the_releases_that_options_take() -> None:
    """KIP-896's 4.0 and the bridge release 3.9 have patches; each is listed with its minor version."""
    found = [json.loads(line) for line in CliRunner().invoke(commands, ["catalog", "releases", "--json"]).stdout.splitlines()]
    by_minor = {each["minor"]: each["releases"] for each in found}
    assert by_minor["3.9"][:2] == ["3.9.0", "3.9.1"]
    assert "4.0.0" in by_minor["4.0"]
    assert next(iter(by_minor)) == "0.8.0"
    assert "3.9.0, 3.9.1" in CliRunner().invoke(commands, ["catalog", "releases"]).stdout
