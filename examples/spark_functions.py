"""Kafka's bytes in columns of a DataFrame, as structs, records and rows: the functions of `kwire.spark`.

Run it: python examples/spark_functions.py
"""

from __future__ import annotations

import kwire
import kwire.spark
from kwire import messages


def main() -> None:
    with kwire.spark.open_session("local[1]", "kwire example") as spark:
        # two frames, without their 4-byte length; the second one is truncated
        sent = messages.RequestHeader(api_key=12, api_version=0, correlation_id=1, client_id="app")
        heartbeat = messages.HeartbeatRequest(group_id="billing", generation_id=7, member_id="billing-1")
        frame = kwire.encode_request(sent, heartbeat)
        df = spark.createDataFrame([(1, frame), (2, frame[:-3])], "id INT, frame BINARY")

        # one struct per frame: its header, its body as Kafka's JSON, and its error
        read = kwire.spark.from_kafka_request("frame", {"columnNameOfCorruptRecord": "_corrupt_record"})
        df.select("id", read.alias("r")).select("id", "r.message", "r.client_id", "r.body", "r.error", "r.error_path").show(truncate=False)

        # the body typed
        print(kwire.spark.ddl("HeartbeatRequest", 0, "group_id,member_id"))
        typed = kwire.spark.from_kafka_request("frame", message="HeartbeatRequest", version=0, fields="group_id,member_id")
        df.select("id", typed.alias("r")).select("id", "r.body.*").show()

        # decoded only where the header is right
        header = kwire.spark.from_kafka_request("frame", body="none")
        df.where(header["api_key"] == 12).select("id", typed.alias("r")).select("id", "r.body.*").show()

        # and back to a frame, whose other fields have their defaults
        changed = df.select(typed.alias("r")).select(kwire.spark.to_kafka_request("r").alias("frame"))
        print(f"{changed.where('frame IS NOT NULL').count()} frame")

        # the same in SQL
        df.createOrReplaceTempView("frames")
        kwire.spark.register(spark, "heartbeats", message="HeartbeatRequest", version=0)
        spark.sql("SELECT r.body.group_id FROM (SELECT heartbeats(frame) r FROM frames)").show()

        # the bulk form: columns, no struct
        kwire.spark.map_frames(df, "frame", "HeartbeatRequest", 0, "group_id", options={"mode": "DROPMALFORMED"}).show()

        # all versions in one pass
        kwire.spark.map_frames(df, "frame", "HeartbeatRequest", fields="group_id,group_instance_id", keep=()).show()

        # some columns of headers, and sums that the workers make
        kwire.spark.map_frames(df, "frame", columns="api_key,client_id,frame_length").show()
        traffic = kwire.spark.map_frames(df, "frame", columns="api_key,client_id", aggregate="count,sum(frame_length)")
        traffic.show()

        # records of __consumer_offsets, as Spark's Kafka source gives them
        key = bytes.fromhex("0001 0007 62696c6c696e67 0006 6f7264657273 00000002")
        value = bytes.fromhex("0003 000000000000002a 00000001 0000 0000019000000000")
        offsets = spark.createDataFrame([(key, value)], "key BINARY, value BINARY")
        committed = offsets.select(kwire.spark.from_consumer_offsets("key", "value").alias("o"))
        committed.select("o.group", "o.topic", "o.partition", "o.offset_commit.offset").show()

        # the same in SQL
        kwire.spark.register(spark)
        offsets.createOrReplaceTempView("offsets")
        spark.sql("SELECT o.kind, o.offset_commit.leader_epoch FROM (SELECT from_consumer_offsets(key, value) o FROM offsets)").show()


if __name__ == "__main__":
    main()
