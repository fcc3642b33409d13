"""Direction detection in Python, the contract of the native one."""

from __future__ import annotations

from kwire.protocol.tracking.direction_detection import DirectionDetector

__all__ = ["DirectionDetector"]
