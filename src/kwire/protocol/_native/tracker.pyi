from kwire.protocol.connection import Connection as Connection

__all__ = ["Connection"]
