from kwire.protocol.tracking.direction_detection import DirectionDetector as DirectionDetector

__all__ = ["DirectionDetector"]
