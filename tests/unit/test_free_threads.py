"""Threads that share a catalog and a decoder, and have a connection each, get what one thread gets; a Python without a GIL stays so."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from kwire.codec.classes import CompiledCatalog
from kwire.codec.encoding import FrameWriter
from kwire.codec.impl import Twin, load_twin
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.schema import catalog

THREADS, ROUNDS = 8, 200
# MetadataRequest v12: two topics (zero id and a name), no automatic creation, no authorized operations; no tagged fields.
METADATA = b"".join(
    (b"\x03", bytes(16), b"\x07orders", b"\x00", bytes(16), b"\x09payments", b"\x00", b"\x00", b"\x00", b"\x00")
)  # fmt: skip
NAMES = ["orders", "payments"]


def at_once(work: Callable[[int], list[Any]]) -> list[list[Any]]:
    """What each thread found; all begin together, and an error of one is an error of the test."""
    found: list[list[Any]] = [[] for _ in range(THREADS)]
    errors: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        start.wait()
        try:
            found[number] = work(number)
        except BaseException as error:  # noqa: BLE001 - it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def test_one_catalog(twin: Twin) -> None:
    """Decoders, classes and writers are made of it when they are first asked for: here by all threads."""
    compiled = CompiledCatalog(catalog(), twin)
    names = ["MetadataRequest", "FetchRequest", "ProduceResponse", "JoinGroupRequest", "ApiVersionsResponse"]

    def ask(number: int) -> list[Any]:
        order = names[number % len(names) :] + names[: number % len(names)]
        made = {name: compiled.classes(name)[0] for name in order}
        message = compiled.decoder("MetadataRequest", 12, None).decode_whole(METADATA)
        assert type(message) is made["MetadataRequest"]
        return [made[name] for name in names]

    found = at_once(ask)
    assert all(each == found[0] for each in found)  # one class for each message, whichever thread was first


def test_one_decoder_and_one_writer(twin: Twin) -> None:
    compiled = CompiledCatalog(catalog(), twin)
    decoder, writer = compiled.decoder("MetadataRequest", 12, None), FrameWriter(compiled)

    def decode(number: int) -> list[Any]:
        found = []
        for _ in range(ROUNDS):
            message = decoder.decode_whole(METADATA)
            found.append(([topic.name for topic in message.topics], writer.encode(message, 12)))
        return found

    assert at_once(decode) == [[(NAMES, METADATA)] * ROUNDS] * THREADS


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def test_a_connection_each(twin: Twin) -> None:
    make = PureConnection if twin == "pure" else load_twin("protocol", "tracker", twin).Connection

    def exchange(number: int) -> list[Any]:
        connection, rows = make(), []
        client = f"c{number}"
        for each in range(ROUNDS):
            # Heartbeat v0 of the group g: generation 0, member m; its answer is an error code
            head = b"\0\x0c\0\0" + each.to_bytes(4, "big") + len(client).to_bytes(2, "big") + client.encode()
            connection.receive_request_bytes(framed(head + b"\0\1g" + bytes(4) + b"\0\1m"), each)
            for row in connection.receive_response_bytes(framed(each.to_bytes(4, "big") + bytes(2)), each + 1):
                rows.append((row.correlation_id, row.client_id, row.state))
        return rows

    found = at_once(exchange)
    assert found == [[(each, f"c{number}", "answered") for each in range(ROUNDS)] for number in range(THREADS)]


def test_the_pure_twin_leaves_the_gil_off() -> None:
    """In a Python with a GIL it is on before and after; in one without, no import may turn it on."""
    code = """\
import sys
enabled = getattr(sys, "_is_gil_enabled", lambda: True)
before = enabled()
import kwire, kwire.messages, kwire.protocol, kwire.schema
kwire.decode("MetadataRequest", bytes.fromhex(sys.argv[1]), 12)
print(kwire.backend, before == enabled())"""
    environment = {**os.environ, "KWIRE_PURE": "1", "KWIRE_REQUIRE_NATIVE": "0"}
    done = subprocess.run([sys.executable, "-c", code, METADATA.hex()], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["pure", "True"], done.stderr
