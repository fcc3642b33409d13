"""Java's `long` arithmetic, in which Kafka's offsets and timestamps wrap around beyond 64 bits."""

from __future__ import annotations

__all__ = ["java_long"]


def java_long(value: int) -> int:
    """Wrap a sum or difference of two `long`s to 64 bits."""
    return (value + (1 << 63) & 0xFFFFFFFFFFFFFFFF) - (1 << 63)
