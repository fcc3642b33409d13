"""Do two analyses say the same, row by row? `python tests/compare_folders.py BEFORE AFTER`, two output folders of `kwire analyze`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as ds

from kwire.tables.schemas import SCHEMAS

__all__ = ["differences"]


def differences(before: Path, after: Path) -> Iterator[tuple[str, int, str]]:
    """Return rows that one output folder has more often than the other: table, surplus of `after`, and the row as JSON."""
    for table, schema in SCHEMAS.items():
        counted = [Counter[str](), Counter[str]()]
        for rows, folder in zip(counted, (before, after), strict=True):
            if (folder / table).is_dir():
                for batch in ds.dataset(folder / table, schema=schema, format="parquet").to_batches():
                    rows.update(json.dumps(row, default=str, sort_keys=True) for row in batch.to_pylist())
        found, wanted = counted[1], counted[0]
        found.subtract(wanted)
        yield from ((table, number, row) for row, number in sorted(found.items()) if number)


def main() -> int:
    found = list(differences(Path(sys.argv[1]), Path(sys.argv[2])))
    for table, number, row in found[:40]:
        print(f"{table} {number:+d} {row[:400]}")
    print(f"{len(found):,} rows differ")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
