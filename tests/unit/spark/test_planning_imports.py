"""What Spark's processes import for the data source: they are started for each query, and users' own functions run in them too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CAPTURE = Path(__file__).resolve().parents[2] / "captures" / "data" / "seed.pcap.gz"
# As `pyspark.sql.worker.create_data_source` and `plan_data_source_read` do; the second of them asks for the schema again.
PLANNED = f"""\
import sys
from pyspark.sql.types import StringType, StructType
from kwire.spark.source.data_source import KwireDataSource

options = dict(each.split("=", 1) for each in sys.argv[1:])
source = KwireDataSource({{"path": {str(CAPTURE)!r}, **options}})
assert source.schema()
columns = StructType().add("api_name" if "message" not in options else "series", StringType())
reader = source.reader(columns)
assert len(reader.partitions()) == 1
print(sorted(name for name in sys.modules if name == "pandas" or name.split(".")[:2] == ["kwire", "analysis"]))"""


def imported(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


@pytest.mark.parametrize("options", [["table=requests"], ["message=MetadataRequest", "version=1"]])
def test_planning_wants_neither_the_analysis_nor_pandas(options: list[str]) -> None:
    assert imported(PLANNED, *options) == "[]"


@pytest.mark.parametrize("module", ["batch", "file_rows", "series_rows", "stream"])
def test_tasks_that_read_rows_import_no_analysis(module: str) -> None:
    code = f"import sys, kwire.spark.source.{module}; print('kwire.analysis' in sys.modules, 'pandas' in sys.modules)"
    assert imported(code) == "False False"
