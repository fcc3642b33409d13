"""Catalogs from folders and jars at run time."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import kwire.schema
from kwire.errors import InputError
from kwire.schema import catalog, load

PING = """// comment
{ "apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0-1", "flexibleVersions": "1+",
  "fields": [ { "name": "Text", "type": "string", "versions": "0+" } ] }
"""
PONG = {"apiKey": 900, "type": "response", "name": "PingResponse", "validVersions": "0-1", "flexibleVersions": "none", "fields": []}


def test_a_folder_is_a_catalog(tmp_path: Path) -> None:
    folder = tmp_path / "dialect-1.0"
    (folder / "deeper").mkdir(parents=True)
    (folder / "PingRequest.json").write_text(PING)
    (folder / "deeper" / "PingResponse.json").write_text(json.dumps(PONG))
    (folder / "unrelated.json").write_text('{"some": "settings"}')
    found = load(folder)
    assert found.name == "dialect-1.0"
    assert sorted(found) == ["PingRequest", "PingResponse"]
    assert found.request(900) is found["PingRequest"]
    assert found.response(900) is found["PingResponse"]
    assert found.api_name(900) == "Ping"
    assert found.request(901) is None
    assert found.api_keys == [900]
    assert load(folder, "mine").name == "mine"


def test_a_jar_is_a_catalog(tmp_path: Path) -> None:
    jar = tmp_path / "kafka-clients-9.9.9.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/other.json", '{"type": "request", "validVersions": "0", "name": "NotAMessageFolder"}')
        archive.writestr("common/message/PingRequest.json", PING)
        archive.writestr("common/message/README.md", "not read")
    found = load(jar)
    assert found.name == "kafka-clients-9.9.9"
    assert list(found) == ["PingRequest"]


def test_a_jar_may_hold_its_definitions_anywhere(tmp_path: Path) -> None:
    jar = tmp_path / "storage.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("message/PingRequest.json", PING)
    assert list(load(jar)) == ["PingRequest"]


def test_faults_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^Cannot read message definitions from .*nowhere: No such file or directory\.$"):
        load(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match=r"empty holds no message definitions\.$"):
        load(empty)
    (tmp_path / "text.jar").write_text("not a jar")
    with pytest.raises(InputError, match=r"text\.jar is neither a folder of message definitions nor a jar\.$"):
        load(tmp_path / "text.jar")
    twice = tmp_path / "twice"
    twice.mkdir()
    (twice / "a.json").write_text(PING)
    (twice / "b.json").write_text(PING)
    with pytest.raises(InputError, match=r"b\.json defines PingRequest a second time\.$"):
        load(twice)
    (twice / "b.json").write_bytes(b'{"type": "\xff"}')
    with pytest.raises(InputError, match=r"not UTF-8 text\.$"):
        load(twice)


def test_one_key_is_one_api(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(PING)
    (tmp_path / "b.json").write_text(PING.replace("PingRequest", "PangRequest"))
    (tmp_path / "c.json").write_text(json.dumps(PONG))
    with pytest.raises(InputError, match=r"^PingRequest and PangRequest have the same api key, 900\.$"):
        load(tmp_path)
    # a message that a release has dropped holds no key
    (tmp_path / "b.json").write_text(PING.replace("PingRequest", "PangRequest").replace("0-1", "none"))
    assert load(tmp_path).api_name(900) is not None


def test_the_folder_of_the_built_in_catalog_is_a_catalog() -> None:
    """Messages that were renamed are in it under both names."""
    found = load(Path(kwire.schema.__file__).with_name("messages"))
    assert found.messages == {name: catalog()[name] for name in catalog()}
    assert [found.api_name(key) for key in found.api_keys] == [catalog().api_name(key) for key in catalog().api_keys]
