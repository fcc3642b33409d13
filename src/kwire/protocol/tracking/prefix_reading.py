"""Reading of truncated or faulty bodies up to the fault; invalid text is replaced and anomalies are recorded."""

from __future__ import annotations

from kwire.codec.plan import Plan
from kwire.codec.prefix import Anomaly, Prefix, read_prefix

__all__ = ["Anomaly", "read_damaged"]


def read_damaged(plan: Plan, data: bytes, offset: int = 0, limit: int | None = None) -> Prefix:
    """Read a message up to a fault or the end of the data; never raise for bytes."""
    return read_prefix(plan, data, min(offset, len(data)), limit=limit, strict=False)
