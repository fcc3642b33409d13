"""Java's `long`, in which Kafka counts offsets and timestamps: a sum beyond 64 bits wraps around, and so it does in both twins."""

from __future__ import annotations

__all__ = ["java_long"]


def java_long(value: int) -> int:
    """The number that Java has for a sum or a difference of two of its `long`s."""
    return (value + (1 << 63) & 0xFFFFFFFFFFFFFFFF) - (1 << 63)
