from kwire.protocol.tracking.connection import Connection as Connection

__all__ = ["Connection"]
