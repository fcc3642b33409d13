from kwire.capture import sink

__all__ = ["StreamSink"]

class StreamSink:
    def __init__(self, target: sink.StreamSink | None = None) -> None: ...
