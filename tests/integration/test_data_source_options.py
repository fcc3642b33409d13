"""Options of the data source: names in any case, values that make no sense, and the columns that follow from them."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from pyspark import cloudpickle

from kwire.codec.classes import compiled
from kwire.errors import InputError, KwireError
from kwire.schema import catalog
from kwire.spark.source.data_source import KwireDataSource
from kwire.spark.source.options import source_options
from kwire.tables.schemas import MESSAGE_EVIDENCE
from pyspark_kwire import DefaultSource


def test_values_of_all_kinds() -> None:
    found = source_options(
        {
            "PATHS": '["a.pcap", "s3://b/*.pcap"]', "Table": "Connections", "ports": "9092, 9093", "columns": "client_id, server_port",
            "MODE": "failfast", "series": "match:(\\w+)", "logZone": "Europe/Berlin", "ignoreMissingFiles": "TRUE", "minPartitions": "4",
            "targetReleases": "4.0,4.1", "maxBytesPerTrigger": "64m", "region": "eu-central-1", "pathGlobFilter": "*.pcap",
        }
    )  # fmt: skip
    assert found.paths == ("a.pcap", "s3://b/*.pcap")
    assert (found.table, found.ports, found.columns) == ("connections", (9092, 9093), ("client_id", "server_port"))
    assert (found.reading.mode, found.series, found.log_zone) == ("FAILFAST", "match:(\\w+)", "Europe/Berlin")
    assert (found.ignore_missing_files, found.ignore_corrupt_files, found.min_partitions) == (True, False, 4)
    assert (found.target_releases, found.max_bytes_per_trigger, found.store.region) == (("4.0", "4.1"), 64 << 20, "eu-central-1")
    assert pickle.loads(pickle.dumps(found)) == found


def test_key_logs_are_named_with_commas_or_globs(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("# nothing yet\n")
    logs = tuple(str(tmp_path / name) for name in ("a.log", "b.log"))
    for given in (",".join(logs), str(tmp_path / "*.log")):
        found = source_options({"path": "a", "tlsKeys": given, "tlsCaptureKeys": "false", "tlsUnverified": "true"}).tls
        assert (found.key_logs, found.capture_keys, found.unverified) == (logs, False, True)
    assert source_options({"path": "a"}).tls.key_logs == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, r"has no path"),
        ({"path": "a", "paths": '["b"]'}, r"from the option path or from load"),
        ({"path": "a", "table": "request"}, r"has no table 'request'; its tables are captures, connections, requests,"),
        ({"path": "a", "table": "requests", "message": "MetadataRequest", "version": "1"}, r"a table or a message"),
        ({"path": "a", "message": "MetadataRequest"}, r"needs a version"),
        ({"path": "a", "fields": "topics"}, r"needs a message"),
        ({"path": "a", "message": "MetadataRequest", "version": "twelve"}, r"option version .* not 'twelve'"),
        ({"path": "a", "message": "MetadataRequest", "version": "99"}, r"99"),
        ({"path": "a", "message": "MetadataReqest", "version": "1"}, r"MetadataReqest"),
        ({"path": "a", "message": "MetadataRequest", "version": "1", "fields": "topcs"}, r"topcs"),
        ({"path": "a", "message": "OffsetCommitKey", "version": "1"}, r"OffsetCommitKey is neither"),
        ({"path": "a", "message": "SaslAuthenticateRequest", "version": "2"}, r"kwire does not keep passwords"),
        (
            {"path": "a", "message": "SaslAuthenticateResponse", "version": "2", "fields": "error_code,auth_bytes"},
            r"does not keep passwords",
        ),
        (
            {"path": "a", "message": "SaslAuthenticateResponse", "version": "2", "fields": "error_code", "columnNameOfCorruptRecord": "c"},
            r"does not keep passwords",
        ),
        ({"path": "a", "ports": "9092;9093"}, r"option ports .* a comma-separated list of port numbers, not '9092;9093'"),
        ({"path": "a", "ports": "0"}, r"option ports"),
        ({"path": "a", "mode": "strict"}, r"has no mode STRICT; its modes are PERMISSIVE, DROPMALFORMED, FAILFAST"),
        ({"path": "a", "columnNameOfCorruptRecord": "c"}, r"needs the option message"),
        ({"path": "a", "series": "nam"}, r"option groupFiles .* not 'nam'"),
        ({"path": "a", "series": "match:("}, r"option groupFiles .* regular expression"),
        ({"path": "a", "logZone": "Europe/Bonn"}, r"unknown time zone 'Europe/Bonn'"),
        ({"path": "a", "ignoreMissingFiles": "yes"}, r"option ignoreMissingFiles .* true or false, not 'yes'"),
        ({"path": "a", "maxBytesPerTrigger": "many"}, r"option maxBytesPerTrigger .* not 'many'"),
        ({"path": "a", "minPartitions": "0"}, r"option minPartitions"),
        ({"path": "a", "columns": "client"}, r"has no column 'client' here; its columns are series, capture,"),
        ({"path": "a", "columns": "client_id,client_id"}, r"the column client_id twice"),
        (
            {"path": "a", "message": "MetadataRequest", "version": "1", "columnNameOfCorruptRecord": "topics"},
            r"names the column topics, which exists already",
        ),
        ({"path": "a", "endpoint": "http://user@host"}, r"endpoint"),
        ({"path": "a", "tlsKeys": "there-is-none.log"}, r"no key log there-is-none.log"),
        ({"path": "a", "sslPrincipalMappingRules": "RULE:x"}, r"'RULE:x' is not a rule"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_sentence(options: dict[str, str], said: str) -> None:
    with pytest.raises(KwireError, match=said) as raised:
        KwireDataSource(options).schema()
    assert len(str(raised.value).splitlines()) == 1
    if raised.type is InputError:
        assert raised.traceback[-1].name == "told"  # Spark shows the way from there on


def test_unknown_options_are_told_and_left_out() -> None:
    """As Spark's own readers leave them out, which hides what is misspelt."""
    unknown = {"path": "a", "tabel": "clients", "inferSchema": "true"}
    with pytest.warns(UserWarning, match="has no options inferschema, tabel") as warned:
        source = KwireDataSource(unknown)
    source.schema()
    assert pickle.loads(pickle.dumps(source))._checked.table == "requests"
    assert len(warned) == 1
    with pytest.raises(InputError, match="has no options inferschema, tabel"):
        KwireDataSource({**unknown, "mode": "failfast"})


def test_the_source_is_read_only() -> None:
    for write in (KwireDataSource({"path": "a"}).writer, KwireDataSource({"path": "a"}).streamWriter):
        with pytest.raises(InputError, match="is read-only: write with another format"):
            write(None, False)


def without_comments(ddl: str) -> str:
    return re.sub(r" COMMENT '(?:[^'\\]|\\.|'')*'", "", ddl)


def test_columns_as_ddl() -> None:
    source = KwireDataSource({"path": "a", "table": "telemetry", "columns": "time,attributes,value,terminating"})
    assert without_comments(source.schema()) == "`time` TIMESTAMP, `attributes` MAP<STRING, STRING>, `value` DOUBLE, `terminating` BOOLEAN"
    message = {"message": "MetadataResponse", "version": "12", "fields": "topics.name,topics.partitions.leader_id"}
    assert without_comments(KwireDataSource({"path": "a", **message}).schema()).endswith(
        "`time` TIMESTAMP, `packet_number` BIGINT, `stream_offset` BIGINT, `topics.name` STRING, `topics.partitions.leader_id` INT, "
        "`error` STRING, `error_offset` BIGINT, `error_path` STRING"
    )
    assert "`time` TIMESTAMP COMMENT 'time of the point or step [UTC]'" in source.schema()


def test_no_message_has_a_field_named_as_what_stands_beside_it() -> None:
    beside = {*MESSAGE_EVIDENCE.names, "error", "error_offset", "error_path"}
    names = [name for name in catalog() if catalog()[name].kind in ("request", "response")]
    fields = {name: {field.attribute for field in compiled().message(name).structs[name].fields} for name in names}
    assert {name: each & beside for name, each in fields.items() if each & beside} == {}


def test_executors_need_nothing_but_the_package_kwire() -> None:
    """`kwire.spark.ship` brings them no module that only Spark's driver looks for."""
    source = DefaultSource({"path": "a"})
    assert source.name() == "kwire"
    travelled = cloudpickle.dumps((type(source), source))
    assert b"kwire.spark.source.data_source" in travelled
    assert b"pyspark_kwire" not in travelled
