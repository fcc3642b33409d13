#!/usr/bin/env python3
"""Write docs/reference/tables.md, every column of every table, from the schemas: `python tools/build_tables_page.py [--check]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

import pyarrow as pa

from generated_page import write_or_check
from kwire.tables.column_comments import COMMENT
from kwire.tables.schemas import SCHEMAS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "tables.md"

HEADING = """# Tables

Every column of every table that `kwire analyze` writes. `DIR/TABLE/*.parquet` are the files; [query the tables](../how-to/query-tables.md)
shows how to read them. The data source (`spark.read.format("kwire")`) has the same tables. Parquet files carry the
descriptions as column comments, which Spark shows with `DESCRIBE TABLE`.

Times are UTC. A null means that the value was not seen, never zero. `tools/build_tables_page.py` generates this page.
"""

ROWS: Final = {
    "captures": "A row is one file: times, packets, drops, and what was truncated, lost or undecodable.",
    "connections": "A row is one TCP connection: who, how long, which protocol, how it ended.",
    "requests": "A row is one request with its response: API, version, client, latency, error.",
    "violations": "A row is one protocol violation with its position; [every rule](violations.md).",
    "telemetry": "A row is one metric point that a client pushed (KIP-714).",
    "clients": "A row is one client: library and version, how they were identified, client ids, addresses, principals.",
    "brokers": "A row is one broker: addresses, Kafka version, advertised versions.",
    "api_usage": "A row is one API version that a client used.",
    "upgrade_impact": "A row is the verdict on one API version of one client for one target release ([how](../explanation/verdicts.md)).",
    "client_hourly": "A row is one hour of one client at one broker with one API version and one error code.",
    "topic_access": "A row is one topic that a client reads or writes.",
    "group_events": "A row is one event of a consumer group: a member's step, or a rebalance.",
}


def type_of(kind: pa.DataType) -> str:
    """Return the type as a reader of Parquet knows it."""
    return re.sub(r"<(?:item|element): (.*?)(?: not null)?>", r"<\1>", str(kind)).replace("|", "\\|")


def page() -> str:
    parts = [HEADING]
    for table, schema in SCHEMAS.items():
        parts += [f"## {table}", "", ROWS[table], "", "| Column | Type | Unit | Description |", "|---|---|---|---|"]
        for field in schema:
            said = (field.metadata or {})[COMMENT].decode()
            text, unit = re.fullmatch(r"(.*?)(?: \[([^\]]+)\])?", said, re.DOTALL).groups()
            parts.append(f"| `{field.name}` | `{type_of(field.type)}` | {unit or ''} | {text.replace('|', chr(92) + '|')} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page(), __doc__))
