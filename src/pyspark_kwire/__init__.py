"""Spark finds `spark.read.format("kwire")` by this module's name and its `DefaultSource`, from Spark 4.0 on.

Spark imports every module whose name begins with ``pyspark_`` when a session first looks for a data source: nothing heavy here. The class
keeps its own module's name, so that executors, which have what `kwire.spark.ship` brings them, need nothing but the package `kwire`.
"""

from __future__ import annotations

from kwire.spark.source.data_source import KwireDataSource as DefaultSource

__all__ = ["DefaultSource"]
