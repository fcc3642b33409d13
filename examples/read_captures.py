"""Captures in Spark: `spark.read.format("kwire")`, tables and the elements of messages.

Run it: python examples/read_captures.py
"""

from __future__ import annotations

from pathlib import Path

import kwire.spark

CAPTURE = str(Path(__file__).with_name("upgrade-fleet.pcap.gz"))


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

        # conditions are applied where the rows are made
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
        failed = spark.read.format("kwire").option("pushFilters", "true").load(CAPTURE).where("error_code <> 0 OR state = 'unanswered'")
        print(f"{failed.count()} requests failed")


if __name__ == "__main__":
    main()
