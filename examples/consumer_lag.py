"""How far each consumer group is behind, from `__consumer_offsets` as Spark's own Kafka source reads it.

Run it as: spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 examples/consumer_lag.py broker:9092
"""

from __future__ import annotations

import json
import sys

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import kwire.spark


def committed_offsets(spark: SparkSession, brokers: str) -> DataFrame:
    """The newest commit of each group and partition: the topic is compacted, and a tombstone takes a commit back."""
    # Spark's source leaves out internal topics where it asks an admin client for offsets; where it asks a consumer it does not.
    spark.conf.set("spark.sql.streaming.kafka.useDeprecatedOffsetFetching", "true")
    records = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("subscribe", "__consumer_offsets")
        .option("kafka.isolation.level", "read_committed")  # commits of transactions that were aborted do not count
        .load()
    )
    read = kwire.spark.from_consumer_offsets("key", "value")
    commits = records.select("offset", read.alias("o")).where("o.kind = 'OffsetCommit'").select("offset", "o.*")
    newest = Window.partitionBy("group", "topic", "partition").orderBy(F.desc("offset"))
    last = commits.withColumn("age", F.row_number().over(newest)).where("age = 1 AND NOT is_tombstone AND error IS NULL")
    return last.select("group", "topic", "partition", F.col("offset_commit.offset").alias("committed"))


def end_offsets(spark: SparkSession, brokers: str, offsets: DataFrame) -> DataFrame:
    """Where the partitions end, as the brokers say."""
    asks = Consumer({"bootstrap.servers": brokers, "group.id": "unused"})  # it joins no group: it never subscribes
    ends = []
    for row in offsets.select("topic", "partition").distinct().collect():
        marks = asks.get_watermark_offsets(TopicPartition(row.topic, row.partition), timeout=30)
        if marks is None:
            raise TimeoutError(f"the brokers did not say where {row.topic}-{row.partition} ends")
        ends.append((row.topic, row.partition, marks[1]))
    asks.close()
    return spark.createDataFrame(ends, "topic STRING, partition INT, end BIGINT")


def main(brokers: str) -> None:
    with kwire.spark.open_session(name="consumer lag") as spark:
        committed = committed_offsets(spark, brokers).cache()
        lag = committed.join(end_offsets(spark, brokers, committed), ["topic", "partition"]).withColumn("lag", F.expr("end - committed"))
        for row in lag.orderBy("group", "topic", "partition").collect():
            print(json.dumps(row.asDict()))


if __name__ == "__main__":
    main(sys.argv[1])
