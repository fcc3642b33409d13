"""The library explains itself: names, docstrings and the errors of usual mistakes."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import pyarrow as pa
import pytest

import kwire
from kwire import messages
from kwire.codec import decoding
from kwire.errors import InputError
from kwire.spark.frame_structs import RequestStruct


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
