"""Spark's data source: captures and request logs as `spark.read.format("kwire")`."""
