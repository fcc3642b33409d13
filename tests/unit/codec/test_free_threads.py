"""Threads that share a catalog and a decoder, and have a connection each, get what one thread gets; a Python without a GIL stays so."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from typing import Any

from kafka_bytes import framed
from kwire.codec.classes import CompiledCatalog
from kwire.codec.encoding import FrameWriter
from kwire.codec.impl import Twin, load_twin
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.schema import catalog
from threads_at_once import ROUNDS, THREADS, at_once

# MetadataRequest v12: two topics (zero id and a name), no automatic creation, no authorized operations; no tagged fields.
METADATA = b"".join(
    (b"\x03", bytes(16), b"\x07orders", b"\x00", bytes(16), b"\x09payments", b"\x00", b"\x00", b"\x00", b"\x00")
)  # fmt: skip
NAMES = ["orders", "payments"]


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


def gil_before_and_after(code: str, *arguments: str, **settings: str) -> list[str]:
    """What a process prints that says whether the GIL is on before and after some code; never a setting of this process's own."""
    program = f"""\
import sys
enabled = getattr(sys, "_is_gil_enabled", lambda: True)
print(enabled())
{code}
print(enabled())"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def test_the_pure_twin_leaves_the_gil_off() -> None:
    """In a Python with a GIL it is on before and after; in one without, no import may turn it on."""
    code = """\
import kwire, kwire.messages, kwire.protocol, kwire.schema
kwire.decode("MetadataRequest", bytes.fromhex(sys.argv[1]), 12)
print(kwire.backend)"""
    said = gil_before_and_after(code, METADATA.hex(), KWIRE_PURE="1", KWIRE_REQUIRE_NATIVE="0")
    assert said == [str(not FREE), "pure", str(not FREE)]


def test_each_native_module_leaves_the_gil_off() -> None:
    """One that does not declare that it can do without turns it on for the whole process, with no more than a warning."""
    code = """\
import importlib, importlib.util, pathlib
import kwire
for file in sorted(pathlib.Path(kwire.__file__).parent.glob("*/_native/*.so")):
    name = f"kwire.{file.parent.parent.name}._native.{file.name.partition('.')[0]}"
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.startswith("kwire"):
            raise
    if FREE and enabled():
        sys.exit(f"{name} turns the GIL on")"""
    assert gil_before_and_after(f"FREE = {FREE}\n{code}") == [str(not FREE)] * 2


def test_the_gil_is_as_this_python_has_it() -> None:
    """Also behind all tests that ran before in the process: without a GIL, none turned it on."""
    assert getattr(sys, "_is_gil_enabled", lambda: True)() == (not FREE)
