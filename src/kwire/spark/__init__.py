"""Spark: the session, the job that schedules tables and analysis, and the folder that it fills. A lazy facade."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kwire.spark.java import ensure_java
    from kwire.spark.job import JobReport, JobRequest, run_job
    from kwire.spark.session import open_session

_HOME = {"JobReport": "job", "JobRequest": "job", "ensure_java": "java", "open_session": "session", "run_job": "job"}

__all__ = ["JobReport", "JobRequest", "ensure_java", "open_session", "run_job"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'kwire.spark' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"kwire.spark.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
