"""Two threads that use one connection at once: a RuntimeError that says so, and what the first one does goes on undisturbed."""

from __future__ import annotations

import pickle
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_bytes import framed, heartbeat
from kwire.protocol.tracking.connection import TWO_THREADS


@pytest.fixture
def hasty_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_a_call_while_another_runs_is_refused(make: Callable[..., Any]) -> None:
    """A profiler that is called in the middle of a call stands for the other thread."""
    connection = make()
    calls: list[Callable[[], Any]] = [
        lambda: connection.receive_request_bytes(heartbeat(1), 1),
        lambda: connection.receive_response_bytes(framed(bytes(6)), 1),
        lambda: connection.lost("request", 5, 1),
        lambda: connection.closed("request", False, 1),
        lambda: connection.finish(1),
        lambda: pickle.dumps(connection),
    ]
    refused: list[str] = []

    def meanwhile(frame: Any, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "read_request":
            sys.setprofile(None)
            for call in calls:
                with pytest.raises(RuntimeError) as found:
                    call()
                refused.append(str(found.value))

    sys.setprofile(meanwhile)
    try:
        connection.receive_request_bytes(heartbeat(0), 0)
    finally:
        sys.setprofile(None)
    assert refused == [TWO_THREADS] * len(calls)
    (row,) = connection.receive_response_bytes(framed(bytes(6)), 2)
    assert (row.correlation_id, row.state) == (0, "answered")
    assert pickle.loads(pickle.dumps(connection)).finish(3) == []


def test_a_call_that_fails_leaves_the_connection_free(make: Callable[..., Any]) -> None:
    connection = make()
    for _ in range(2):
        with pytest.raises(TypeError):
            connection.receive_request_bytes("text", 0)
    connection.receive_request_bytes(heartbeat(0), 0)
    assert len(connection.finish(1)) == 1


def test_threads_get_nothing_but_that_error(make: Callable[..., Any], hasty_switches: None) -> None:
    connection, errors = make(), Counter[str]()

    def ask() -> None:
        for number in range(1000):
            try:
                connection.receive_request_bytes(heartbeat(number), number)
            except Exception as error:  # noqa: BLE001
                errors[f"{type(error).__name__}: {error}"] += 1

    def answer() -> None:
        for number in range(1000):
            try:
                connection.receive_response_bytes(framed(number.to_bytes(4, "big") + bytes(2)), number)
            except Exception as error:  # noqa: BLE001
                errors[f"{type(error).__name__}: {error}"] += 1

    threads = [threading.Thread(target=work) for work in (ask, answer, ask, answer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(errors) <= {f"RuntimeError: {TWO_THREADS}"}
