"""How the tracker reads the few bodies that deserve more than a decoder gives: as far as they go, text replaced, anomalies noted.

Those are the bodies that snaplen or a gap has cut (an ApiVersions response has ranges up to the cut), and those in which Java's readers
pass over a fault.
"""

from __future__ import annotations

from kwire.codec.plan import Plan
from kwire.codec.prefix import Anomaly, Prefix, read_prefix

__all__ = ["Anomaly", "read_damaged"]


def read_damaged(plan: Plan, data: bytes, offset: int = 0, limit: int | None = None) -> Prefix:
    """Read a message as far as it goes; never raises for what the bytes do. Arguments as in `PrefixReader.read`.

    A frame may have been cut before its body: of an offset behind the data there is nothing to read.
    """
    return read_prefix(plan, data, min(offset, len(data)), limit=limit, strict=False)
