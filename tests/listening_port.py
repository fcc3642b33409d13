"""A server for the tests of clients: a port of this machine, whose connections a function serves one after the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Gives the address as HOST:PORT; each connection is closed when `serve` is done with it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = threading.Event()

        def accept() -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    if ended.is_set():
                        return
                    serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            socket.create_connection(server.getsockname()).close()
            thread.join()
