"""A folder that a rotating capture fills, as a stream of requests: each request once, however often the query is stopped.

Run it: python examples/follow_captures.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import kwire.spark

CAPTURE = Path(__file__).with_name("upgrade-fleet.pcap.gz")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, kwire.spark.open_session("local[1]", "kwire example") as spark:
        captures, tables, checkpoint = f"{folder}/captures", f"{folder}/tables", f"{folder}/checkpoint"
        Path(captures).mkdir()
        shutil.copy(CAPTURE, captures)

        # what is closed by now; run it again by the hour
        requests = (
            spark.readStream.format("kwire")
            .option("table", "requests")
            .option("stateLocation", checkpoint)
            .option("closedAfter", "0 seconds")
            .option("maxBytesPerTrigger", "1g")
            .load(captures)
        )
        query = (
            requests.writeStream.format("parquet")
            .option("path", f"{tables}/requests")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        written = spark.read.parquet(f"{tables}/requests")
        written.groupBy("software_name", "api_name").count().orderBy("software_name", "api_name").show(5)
        print(f"{written.count()} requests")

        # the capture is over: so are its connections
        over = (
            spark.readStream.format("kwire")
            .option("table", "connections")
            .option("stateLocation", f"{checkpoint}-connections")
            .option("closedAfter", "0 seconds")
            .option("groupEndsAfter", "0 seconds")
            .load(captures)
        )
        query = (
            over.writeStream.foreachBatch(lambda rows, _batch: rows.groupBy("state").count().orderBy("state").show())
            .option("checkpointLocation", f"{checkpoint}-connections")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


if __name__ == "__main__":
    main()
