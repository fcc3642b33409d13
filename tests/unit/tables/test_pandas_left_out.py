"""Arrow without pandas, in processes of their own: what a process has imported stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CAPTURES = Path(__file__).resolve().parents[2] / "captures" / "data"


def told_by(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def test_arrow_imports_pandas_by_itself() -> None:
    """Else there would be nothing to leave out."""
    assert told_by("import sys, pyarrow; pyarrow.array([1]); print('pandas' in sys.modules)") == "True"


@pytest.mark.parametrize("table", ["requests", *(pytest.param(table, marks=pytest.mark.whole) for table in ("captures", "telemetry"))])
def test_rows_of_a_capture_want_no_pandas(table: str) -> None:
    capture = min(CAPTURES.glob("*.pcap*"))
    code = f"""\
import sys
from kwire.tables.pandas_left_out import leave_pandas_out
leave_pandas_out()
from kwire.tables import from_capture
rows = from_capture({str(capture)!r}, {table!r})
rows.group_by(rows.column_names[0], use_threads=False).aggregate([])
print("pandas" in sys.modules, [finder for finder in sys.meta_path if "kwire" in type(finder).__module__])"""
    assert told_by(code) == "False []"


def test_pandas_is_there_for_who_asks_by_name() -> None:
    code = """\
from kwire.tables.pandas_left_out import leave_pandas_out
leave_pandas_out()
import pyarrow
frame = pyarrow.table({"a": [1, 2]}).to_pandas()
print(type(frame).__module__, frame["a"].tolist(), pyarrow.array(frame["a"].astype("category")).type)"""
    assert told_by(code) == "pandas.core.frame [1, 2] dictionary<values=int64, indices=int8, ordered=0>"


def test_where_pandas_is_loaded_arrow_goes_on_knowing_it() -> None:
    code = """\
import pandas, pyarrow
from kwire.tables.pandas_left_out import leave_pandas_out
leave_pandas_out()
print(pyarrow.array(pandas.Categorical(["a", "b", "a"])).type)"""
    assert told_by(code) == "dictionary<values=string, indices=int8, ordered=0>"


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "{capture}"],
        *(pytest.param(each, marks=pytest.mark.whole) for each in (["diff", "nowhere", "nowhere"], ["report", "nowhere"])),
    ],
)
def test_commands_leave_it_out(arguments: list[str]) -> None:
    capture = min(CAPTURES.glob("*.pcap*"))
    words = [word.format(capture=capture) for word in arguments]
    code = f"""\
import atexit, sys
from kwire.cli.entry import commands
atexit.register(lambda: print("pandas" in sys.modules, "pyarrow" in sys.modules))
commands.run({words!r})"""
    assert told_by(code).splitlines()[-1] == "False True"
