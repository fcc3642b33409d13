"""The library explains itself: names, docstrings and the errors of usual mistakes."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import subprocess
import sys
import types

import pyarrow as pa
import pytest

import kwire
from kwire import messages
from kwire.codec import decoding
from kwire.errors import InputError, WireError
from kwire.spark.body_types import JSON_BODY
from kwire.spark.frame_rows import HEADER_COLUMNS, FrameRows
from kwire.spark.frame_structs import RequestStruct
from kwire.spark.reading_options import ReadingOptions


@pytest.mark.parametrize(
    "documented", [kwire, decoding.DecodeRequest, decoding.DecodeResponse, decoding.PeekHeader, decoding.DecodeMessage], ids=str
)
def test_examples_run(documented: object) -> None:
    [test] = doctest.DocTestFinder(recurse=False).find(documented, "documented", globs={})
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_records_and_errors_can_be_imported() -> None:
    assert importlib.import_module("kwire.records").decode == kwire.records.decode
    statement = "import kwire; kwire.errors.WireError; kwire.records.encode"
    assert subprocess.run([sys.executable, "-c", statement], check=False).returncode == 0


def test_dir_lists_the_packages() -> None:
    assert {"analysis", "capture", "errors", "report", "records", "spark", "tables"} <= set(dir(kwire))


LAZY = ("", ".codec", ".messages", ".protocol", ".protocol.groups", ".protocol.negotiation", ".protocol.relay", ".protocol.telemetry",
        ".records", ".schema", ".spark", ".telemetry_export")  # fmt: skip


@pytest.mark.parametrize("name", LAZY)
def test_dir_of_a_lazy_package_lists_what_it_has(name: str) -> None:
    package = importlib.import_module(f"kwire{name}")
    listed = dir(package)
    assert listed == sorted(listed)
    assert set(getattr(package, "__all__", ())) <= set(listed)
    assert all(hasattr(package, each) for each in listed)


@pytest.mark.parametrize("source", [messages, kwire.Codec(kwire.schema.catalog(), "pure").messages], ids=["native", "pure"])
def test_a_header_hides_the_field_of_a_draft_that_it_does_not_use(source: types.ModuleType) -> None:
    header = source.RequestHeader(api_key=18, client_id="a")
    assert repr(header) == "RequestHeader(api_key=18, api_version=0, correlation_id=0, client_id='a')"
    assert "client_instance_id=Uuid('AAAAAAAAAAAAAAAAAAAAAQ')" in repr(
        kwire.replace(header, client_instance_id=kwire.Uuid(bytes(15) + b"\1"))
    )
    assert kwire.asdict(header)["client_instance_id"] == kwire.Uuid(16)
    assert "client_instance_id=Uuid('AAAAAAAAAAAAAAAAAAAAAA')" in repr(source.GetTelemetrySubscriptionsRequest())


def test_a_lazy_name_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(kwire.__dict__, "to_arrow", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for module in [name for name in sys.modules if name.startswith("kwire.codec.") and "column" in name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(kwire.codec.__dict__, "to_arrow", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"to_arrow needs pyarrow: run pip install 'kwire\[arrow\]'"):
        kwire.to_arrow  # noqa: B018


def test_the_class_of_an_element_is_found() -> None:
    with pytest.raises(AttributeError, match=r"use messages\.MetadataRequest\.MetadataRequestTopic"):
        messages.MetadataRequestTopic  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match="did you mean MetadataRequest"):
        messages.MetadataReqest  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_is_no_frame(kind: pa.DataType) -> None:
    with pytest.raises(InputError, match="expected a binary column, got"):
        RequestStruct()(pa.array(["00120000"], kind))


def test_spark_columns_name_a_frame_that_begins_with_its_own_length() -> None:
    frame = bytes.fromhex("000c000100000007000163") + bytes.fromhex("000167" + "00000005" + "00016d")  # Heartbeat v1
    column = pa.array([frame, len(frame).to_bytes(4, "big") + frame], pa.binary())
    row = RequestStruct()(column)[1].as_py()
    assert {name: value for name, value in row.items() if value is not None} == {"error": "BAD_LENGTH", "error_offset": 0, "error_path": ""}
    batch = pa.record_batch([column], ["frame"])
    [made] = FrameRows("frame", (), JSON_BODY, ReadingOptions())(iter([batch]))
    assert made.to_pylist()[1] == {**dict.fromkeys(HEADER_COLUMNS), "error": "BAD_LENGTH"}
    assert made.to_pylist()[0]["api_key"] == 12
    with pytest.raises(WireError, match="the first 4 bytes look like a length prefix"):
        RequestStruct(JSON_BODY, ReadingOptions("FAILFAST"))(column)
    with pytest.raises(WireError, match="the first 4 bytes look like a length prefix"):
        list(FrameRows("frame", (), JSON_BODY, ReadingOptions("FAILFAST"))(iter([batch])))


SURFACE = """
import inspect, json, types, kwire, kwire.records, kwire.protocol, kwire.tables
names = [(package.__name__, name, getattr(package, name)) for package in (kwire, kwire.records, kwire.protocol, kwire.tables)
         for name in package.__all__ if callable(getattr(package, name))]
names += [("kwire.protocol", f"{kind.__name__}.{name}", getattr(kind, name))
          for kind in (kwire.protocol.Connection, kwire.protocol.DirectionDetector)
          for name in dir(kind) if not name.startswith("_") and getattr(kind, name).__doc__ and callable(getattr(kind, name))]
def plain(value):
    try:
        given = inspect.signature(value)
    except ValueError:
        return None
    return [(each.name, each.kind.name, str(each.default)) for each in given.parameters.values() if each.name not in ("self", "twin")]
print(json.dumps({f"{package}.{name}": (plain(value), inspect.getdoc(value)) for package, name, value in names}))
"""


def test_both_backends_have_the_same_signatures_and_docstrings() -> None:
    native, pure = (
        json.loads(subprocess.run([sys.executable, "-c", SURFACE], env={**os.environ, **by}, capture_output=True, check=True).stdout)
        for by in ({"KWIRE_PURE": "0"}, {"KWIRE_PURE": "1", "KWIRE_REQUIRE_NATIVE": "0"})
    )
    assert len(native) > 60
    assert {name: both for name in pure if (both := (native.get(name), pure[name]))[0] != both[1]} == {}
    for name in ("kwire.decode_request", "kwire.encode", "kwire.Connection"):
        assert "\nArguments:" in native[name][1]
