"""Reading of cut or faulty bodies as far as they go, with replaced text and noted anomalies.

Those are bodies cut by snaplen or a gap (an ApiVersions response has ranges up to the cut), and those in which Java's readers ignore a
fault.
"""

from __future__ import annotations

from kwire.codec.plan import Plan
from kwire.codec.prefix import Anomaly, Prefix, read_prefix

__all__ = ["Anomaly", "read_damaged"]


def read_damaged(plan: Plan, data: bytes, offset: int = 0, limit: int | None = None) -> Prefix:
    """Read a message as far as it goes; never raise for bytes. Arguments as in `PrefixReader.read`.

    A frame may have been cut before its body: from an offset behind the data nothing is read.
    """
    return read_prefix(plan, data, min(offset, len(data)), limit=limit, strict=False)
