"""Direction detection in Python: `kwire.protocol.tracking.direction_detection`; it is the contract."""

from __future__ import annotations

from kwire.protocol.tracking.direction_detection import DirectionDetector

__all__ = ["DirectionDetector"]
