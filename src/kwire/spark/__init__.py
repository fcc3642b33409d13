"""Spark: column functions on Kafka's bytes, the session, the analysis job and its output folder."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.runs.job_request import JobReport, JobRequest
    from kwire.spark.body_types import ddl
    from kwire.spark.catalog_tables import register_tables
    from kwire.spark.conversion import Conversion, convert
    from kwire.spark.executor_report import ExecutorReport, doctor
    from kwire.spark.functions import (
        from_consumer_offsets,
        from_kafka_request,
        from_kafka_response,
        from_otlp,
        from_record_batch,
        map_frames,
        register,
        to_kafka_request,
    )
    from kwire.spark.java import ensure_java as ensure_java
    from kwire.spark.job import run_job
    from kwire.spark.session import open_session, prepare
    from kwire.spark.shipping import ship, write_archive

__all__ = [
    "Conversion", "ExecutorReport", "JobReport", "JobRequest", "convert", "ddl", "doctor", "from_consumer_offsets",
    "from_kafka_request", "from_kafka_response", "from_otlp", "from_record_batch", "map_frames", "open_session", "prepare", "register",
    "register_tables", "run_job", "ship", "to_kafka_request", "write_archive",
]  # fmt: skip

# A Spark worker without Arrow, except the one that only looks for data sources: Spark drops the faults of that.
_MAIN = getattr(sys.modules.get("__main__"), "__spec__", None)
_IS_WORKER = _MAIN is not None and _MAIN.name.startswith("pyspark.") and not any(each.endswith("lookup_data_sources") for each in sys.argv)
if _IS_WORKER and find_spec("pyarrow") is None:
    raise ModuleNotFoundError(
        f"kwire.spark needs pyarrow, and the Python of this Spark worker, {sys.executable}, does not have it: run pip install "
        "'kwire[spark]' there, or set PYSPARK_PYTHON to a Python that has it before the session starts, as kwire.spark.prepare() does",
        name="pyarrow",
    )

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(
        globals(),
        dict.fromkeys(("JobReport", "JobRequest"), "kwire.runs.job_request"),
        body_types="ddl",
        catalog_tables="register_tables",
        conversion="Conversion convert",
        executor_report="ExecutorReport doctor",
        functions="from_consumer_offsets from_kafka_request from_kafka_response from_otlp from_record_batch map_frames register "
        "to_kafka_request",
        java="ensure_java",  # an earlier name of prepare: not in __all__
        job="run_job",
        session="open_session prepare",
        shipping="ship write_archive",
    )
