"""Hours of a small cluster, analyzed as they come: prints the CPU of the first and last appends, of hours alone, and of their merge."""

from __future__ import annotations

import gzip
import struct
import sys
import time
from pathlib import Path

from captures import EXAMPLE, FILE_HEADER, PACKET_HEADER
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job

SHOWN = 10


def _hour(packets: bytes, number: int, target: Path) -> None:
    """Write the packets that many hours later."""
    raw, at = bytearray(packets), FILE_HEADER.size
    while at < len(raw):
        seconds, _, size, _ = PACKET_HEADER.unpack_from(raw, at)
        struct.pack_into("<I", raw, at, seconds + 3_600 * number)
        at += PACKET_HEADER.size + size
    target.write_bytes(raw)


def _cpu(inputs: list[str], out: Path, **options: bool) -> float:
    began = time.process_time()
    run_job(JobRequest(inputs=tuple(inputs), out=str(out), engine="local", **options))
    return time.process_time() - began


def main(folder: Path, hours: int) -> None:
    packets = gzip.decompress(EXAMPLE.read_bytes())
    files, appends, alone = [], [], []
    for number in range(hours):
        files.append(str(folder / f"trace_{number:05d}.pcap"))
        _hour(packets, number, Path(files[-1]))
        appends.append(_cpu(files, folder / "grown", append=True))
        alone.append(_cpu(files[-1:], folder / f"hour{number}"))
    merged = _cpu([str(folder / f"hour{number}") for number in range(hours)], folder / "merged", merges=True)
    ends = (found[slice(*ends)] for found in (appends, alone) for ends in ((1, 1 + SHOWN), (-SHOWN, None)))
    print(*(sum(each) / SHOWN for each in ends), merged)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
