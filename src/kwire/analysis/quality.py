"""Limits beyond which an analysis is too incomplete to trust, for scripts that check the exit status."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MOST_LOST", "MOST_ONE_WAY", "MOST_OPAQUE", "too_little"]

MOST_LOST: Final = 0.10
"""Maximum share of packets, or of bytes, that may be missing."""

MOST_ONE_WAY: Final = 0.5
"""Maximum share of connections captured in one direction only."""

MOST_OPAQUE: Final = 0.9
"""Maximum share of bytes that are TLS or not Kafka."""

_PACKETS: Final = "pcap"


def too_little(captures: pa.Table) -> list[str]:
    """Return reasons, as sentences, why the captures are too incomplete to trust, the most serious first; empty if they are not."""

    def total(name: str, rows: pa.Table = captures) -> int:
        found: Any = pc.sum(rows.column(name)).as_py()
        return found or 0

    found = []
    if not total("requests") and pc.all(pc.is_valid(captures.column("requests"))).as_py():
        found.append("No Kafka request was found, so nothing is known of any client.")
    packets = captures.filter(pc.field("source") == _PACKETS)
    dropped, seen, lost, size = (total(name, packets) for name in ("packets_dropped", "packets", "bytes_lost", "bytes"))
    if dropped > MOST_LOST * (dropped + seen):
        found.append(f"The capturing machine dropped {dropped:,} of {dropped + seen:,} packets.")
    if lost > MOST_LOST * (lost + size):
        found.append(f"{lost:,} bytes are missing inside connections, beside {size:,} that were captured.")
    unread = total("packets_unread", packets)
    if unread > MOST_LOST * seen:
        found.append(f"{unread:,} of {seen:,} packets have link types that kwire does not read.")
    one_way, connections = total("one_way", packets), total("connections", packets) - total("connections_refused", packets)
    if one_way > MOST_ONE_WAY * connections:
        found.append(f"{one_way:,} of {connections:,} connections were captured in one direction only.")
    opaque = total("bytes_opaque", packets)
    if opaque > MOST_OPAQUE * size:
        found.append(f"{opaque:,} of {size:,} bytes are TLS or no Kafka.")
    return found
