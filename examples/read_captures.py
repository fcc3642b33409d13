"""Captures in Spark: `spark.read.format("kwire")`, tables and the elements of messages.

Run it: python examples/read_captures.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

import kwire.spark
from kwire import messages

CAPTURE = str(Path(__file__).with_name("upgrade-fleet.pcap.gz"))
FRAMES = str(Path(tempfile.gettempdir()) / "kwire-frames.parquet")
HEADERS = str(Path(tempfile.gettempdir()) / "kwire-headers")


def main() -> None:
    with kwire.spark.open_session("local[2]", "kwire example") as spark:
        # one row per request; Spark finds the format by its name
        requests = spark.read.format("kwire").load(CAPTURE)
        produced = requests.where("api_name = 'Produce'").groupBy("client_id", "api_version").count()
        produced.orderBy("client_id", "api_version").show(3)

        # another table, some of its columns
        connections = spark.read.format("kwire").option("table", "connections").option("columns", "software_name,client_id,state")
        connections.load(CAPTURE).groupBy("software_name").count().orderBy("software_name").show(3)

        # one message: one row per element, with its place in the capture
        leaders = (
            spark.read.format("kwire")
            .option("message", "MetadataResponse")
            .option("version", 12)
            .option("fields", "topics.name,topics.partitions.partition_index,topics.partitions.leader_id")
            .load(CAPTURE)
        )
        named = leaders.where("`topics.name` IS NOT NULL")
        named.select("client_id", "packet_number", "`topics.name`", "`topics.partitions.leader_id`").show(2)

        # the same in SQL
        spark.sql(f"CREATE TEMPORARY VIEW violations USING kwire OPTIONS (path '{CAPTURE}', table 'violations')")
        spark.sql("SELECT rule, severity, count(*) AS rows FROM violations GROUP BY ALL ORDER BY rule").show(truncate=False)

        # frames in a binary column of a Parquet file, which the tasks open themselves
        heartbeat = kwire.encode_request(
            messages.RequestHeader(api_key=12, api_version=0, correlation_id=1, client_id="app"),
            messages.HeartbeatRequest(group_id="billing", generation_id=7, member_id="billing-1"),
        )
        pq.write_table(pa.table({"day": ["monday", "tuesday"], "frame": [heartbeat, heartbeat]}), FRAMES)
        stored = spark.read.format("kwire").option("source", "parquet").option("column", "frame")
        stored.option("keep", "day").option("columns", "api_key,client_id").load(FRAMES).show()

        # the same summed in the tasks, and their sums in Spark
        sums = stored.option("columns", "api_key").option("aggregate", "count").load(FRAMES)
        sums.groupBy("api_key").agg(F.sum("count").alias("requests")).show()

        # the same rows as a Parquet table, written by the tasks
        report = kwire.spark.convert(FRAMES, HEADERS, source="parquet", column="frame", keep="day", overwrite=True)
        spark.read.parquet(HEADERS).show()
        print(report.rows, report.errors)

        # conditions are applied where the rows are made
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
        failed = spark.read.format("kwire").option("pushFilters", "true").load(CAPTURE).where("error_code <> 0 OR state = 'unanswered'")
        print(f"{failed.count()} requests failed")


if __name__ == "__main__":
    main()
