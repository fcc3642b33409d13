"""Spark: the session, the job that schedules tables and analysis, and the folder that it fills. A lazy facade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.spark.java import ensure_java
    from kwire.spark.job import JobReport, JobRequest, run_job
    from kwire.spark.session import open_session

_HOME = {
    **dict.fromkeys(("JobReport", "JobRequest", "run_job"), "kwire.spark.job"),
    "ensure_java": "kwire.spark.java",
    "open_session": "kwire.spark.session",
}

__all__ = ["JobReport", "JobRequest", "ensure_java", "open_session", "run_job"]

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), _HOME)


def __dir__() -> list[str]:
    return sorted(__all__)
