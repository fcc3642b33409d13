"""A server for the tests of clients: a port of this machine, each of whose connections a function serves in a thread."""

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
        serving: list[threading.Thread] = []

        def whole(connection: socket.socket) -> None:
            with connection:
                serve(connection)

        def accept() -> None:
            while True:
                connection, _ = server.accept()
                if ended.is_set():
                    connection.close()
                    return
                serving.append(threading.Thread(target=whole, args=(connection,), daemon=True))
                serving[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            ended.set()
            socket.create_connection(server.getsockname()).close()
            accepting.join()
            for each in serving:
                each.join(5)
