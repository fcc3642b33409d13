"""Numbers that both twins and the headers of the native one share: enums of Cython cannot be imported, so their sources are read."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path

import pytest

from kwire.codec.column_nodes import Kind
from kwire.codec.plan import Flag, Op
from kwire.codec.records.columns import COLUMNS
from kwire.codec.records.places import Place
from kwire.errors import Fault

HEADERS = Path(__file__).parents[3] / "pyx"


def numbers(header: str) -> dict[str, int]:
    found = re.findall(r"^    ([A-Z][A-Z0-9_]*) = (0x[0-9A-F]+|-?\d+)(?=\s*(?:#|$))", (HEADERS / header).read_text("utf-8"), re.MULTILINE)
    return {name: int(value, 0) for name, value in found}


@pytest.mark.parametrize(
    ("header", "python", "pattern"),
    [
        ("codec/record_layout.pxd", Place, "{}"),
        ("codec/arrow_export.pxd", Kind, "NODE_{}"),
        ("codec/program.pxd", Op, "{}"),
    ],
)
def test_enums_have_the_same_numbers(header: str, python: type[IntEnum], pattern: str):
    native = numbers(header)
    assert {member.name: native[pattern.format(member.name)] for member in python} == {member.name: int(member) for member in python}


def test_flags_have_the_same_numbers():
    native = numbers("codec/program.pxd")
    assert {name: native[f"{name}_FLAG"] for name in ("NULLABLE", "COMPACT", "SKIP")} == {
        name: int(Flag[name]) for name in ("NULLABLE", "COMPACT", "SKIP")
    }


@pytest.mark.parametrize("header", ["wire/cursor.pxd", "codec/record_layout.pxd", "codec/header_columns.pxd"])
def test_faults_have_the_same_numbers(header: str):
    native = {name: number for name, number in numbers(header).items() if name in Fault.__members__}
    assert native
    assert native == {name: int(Fault[name]) for name in native}


def test_columns_of_records_have_the_same_numbers():
    native = numbers("codec/record_rows.pxd")
    names = {"magic": "MAGIC_COLUMN", "partition_leader_epoch": "LEADER_EPOCH", "attributes": "ATTRIBUTE_BITS", "headers": "HEADERS"}
    stored = COLUMNS[: COLUMNS.index("error")]
    assert [native[names.get(name, name.upper())] for name in stored] == list(range(len(stored)))
    assert (native["HEADER_KEY"], native["HEADER_VALUE"], native["COLUMNS"]) == (len(stored), len(stored) + 1, len(stored) + 2)
