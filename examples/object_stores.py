"""Captures of a bucket: read in one process, and analyzed by Spark into another bucket.

Run it as: python examples/object_stores.py s3://captures/monday s3://reports/from-python [http://localhost:9000]
"""

from __future__ import annotations

import sys

import pyarrow.parquet

from kwire.analysis import run
from kwire.files.file_systems import StoreOptions, filesystem_of, store_options
from kwire.spark import JobRequest, run_job


def main(captures: str, out: str, endpoint: str | None = None) -> None:
    with store_options(StoreOptions(endpoint=endpoint)):
        tables = run([f"{captures}/*.pcap.gz"])
    print(f"{tables['clients'].num_rows} clients")

    report = run_job(JobRequest(inputs=(captures,), out=out, endpoint=endpoint, overwrite=True))
    print(f"{report.read} files, {report.requests} requests")

    with store_options(StoreOptions(endpoint=endpoint)):
        filesystem, path = filesystem_of(f"{out}/upgrade_impact")
        impact = pyarrow.parquet.read_table(path, filesystem=filesystem)
    print(f"{impact.num_rows} verdicts")


if __name__ == "__main__":
    main(*sys.argv[1:])
