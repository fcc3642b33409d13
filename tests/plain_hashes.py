"""Rows of `captures` whose files were divided have a hash over the hashes of blocks; those of one task have the plain one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from kwire.capture.dividing.block_hash import BLOCK_HASH, block_hash_of


def with_plain_hash(row: str) -> str:
    """A file that was divided has a hash over blocks; where it is right, give the row the plain one."""
    told = json.loads(row)
    if not (told["sha256"] or "").startswith(BLOCK_HASH):
        return row
    path = Path(told["capture"])
    with path.open("rb") as file:
        assert told["sha256"] == block_hash_of(file.read)
    return json.dumps(told | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}, default=str, sort_keys=True)
