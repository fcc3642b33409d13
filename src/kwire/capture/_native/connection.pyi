from kwire.capture import tcp

__all__ = ["Flow", "TcpConnection"]

class Flow:
    def __getattr__(self, name: str) -> object: ...

class TcpConnection(tcp.TcpConnection):
    @staticmethod
    def of(known: tcp.TcpConnection) -> TcpConnection: ...
    def plain(self) -> tcp.TcpConnection: ...
