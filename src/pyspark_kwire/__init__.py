"""Spark finds `spark.read.format("kwire")` by this module's name and its `DefaultSource`, from Spark 4.0 on.

Spark imports every module whose name begins with ``pyspark_`` when a session first searches for a data source, so this one is small. The
class keeps its own module's name, so that executors prepared by `kwire.spark.ship` need only the package `kwire`.
"""

from __future__ import annotations

from kwire.spark.source.data_source import KwireDataSource as DefaultSource

__all__ = ["DefaultSource"]
