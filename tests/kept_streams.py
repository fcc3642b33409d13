"""Streams stopped after the first of two files, whose checkpoint and state an earlier kwire wrote.

`python tests/kept_streams.py` writes them again, under the version of kwire that runs. Do so when the form of a state changes, and keep the
files of the version before if the new one reads them.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import kwire
from stream_query import Query, rotate

KEPT = Path(__file__).parent / "captures" / "data" / "streams"
OPTIONS: dict[str, dict[str, str]] = {
    "dribble": {},  # holds back a row of a client that has not said who it is
    "sasl": {"table": "connections"},
    "topicids": {"table": "requests"},
}


def keep(name: str, options: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        query = Query(f"{folder}/in", f"{folder}/state", maxFilesPerTrigger="1", **options)
        rotate(f"{name}.pcap.gz", Path(folder, "in"), 2)
        next(query.batches())
        [states] = Path(folder, "state").iterdir()
        contents: dict[str, Any] = {path.name: path.read_bytes().hex() for path in states.iterdir()}
        kept = {"offset": query.offsets[-1].replace(f"{folder}/in", "FOLDER"), "files": contents}
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}-{kwire.__version__}.json.gz").write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))


if __name__ == "__main__":
    for each, given in OPTIONS.items():
        keep(each, given)
