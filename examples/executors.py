"""kwire on the executors of a cluster: what is there, put it there, use it.

Run it: python examples/executors.py spark://host:7077
"""

from __future__ import annotations

import sys

import kwire.spark


def main(master: str) -> None:
    with kwire.spark.open_session(master, "kwire example") as spark:
        print(kwire.spark.doctor(spark))

        report = kwire.spark.ship(spark)
        print(f"{len(report.executors)} executors with kwire {report.executors[0].kwire}, {report.executors[0].twin}")

        frame = bytes.fromhex("0003 0001 00000007 0003 617070 00000001 0006 6f7264657273")
        frames = spark.createDataFrame([(frame,)], "frame BINARY")
        request = kwire.spark.from_kafka_request("frame", message="MetadataRequest", version=1)
        for row in frames.select(request.alias("r")).select("r.client_id", "r.body.topics.name").collect():
            print(f"{row.client_id} asks for {', '.join(row.name)}")


if __name__ == "__main__":
    main(sys.argv[1])
