"""`kwire decode`: frames, or a capture, to JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

import click
import cloup

from kwire.cli.capture_options import ports_option
from kwire.cli.catalog_options import catalog_options, chosen_codec
from kwire.cli.store_options import with_store_options
from kwire.cli.tls_options import with_tls_options
from kwire.errors import InputError, WireError

if TYPE_CHECKING:
    from typing import BinaryIO

    from kwire.codec import Codec

__all__ = ["decode", "frames_of"]

_HEX: Final = frozenset(b"0123456789abcdefABCDEF \t\r\n:")
_TEXT: Final = frozenset(b"\t\n\r") | frozenset(range(32, 127))
_HEAD_BYTES: Final = 24


_FRAMES, _CAPTURES, _OUTPUT = map(cloup.OptionGroup, ("Frames", "Captures", "Output"))


@cloup.command(short_help="Decode frames in hex or raw, or a capture, to JSON lines.")
@cloup.argument("file", metavar="[FILE]", default="-")
@cloup.option("--request", "kind", group=_FRAMES, flag_value="request", default="request", help="The frames are requests (the default).")
@cloup.option(
    "--response", "kind", group=_FRAMES, flag_value="response", help="The frames are responses; needs --api-key and --api-version."
)
@cloup.option(
    "--api-key", group=_FRAMES, type=click.IntRange(-32768, 32767), metavar="N", help="Api key of the requests that the responses answer."
)
@cloup.option("--api-version", group=_FRAMES, type=click.IntRange(-32768, 32767), metavar="N", help="Version of those requests.")
@ports_option("Port where brokers listen, for a capture.", group=_CAPTURES)
@cloup.option("--show-secrets", group=_OUTPUT, is_flag=True, help="Show passwords, tokens and other secrets as they are, not as x.")
@catalog_options
@with_tls_options
@with_store_options
def decode(
    file: str,
    kind: str,
    api_key: int | None,
    api_version: int | None,
    ports: tuple[int, ...],
    show_secrets: bool,
    catalog_name: str | None,
    dialects: tuple[str, ...],
) -> int:
    """Decode FILE to JSON lines in the form of a broker's JSON request log.

    FILE (by default standard input) holds frames in hex, one per line, with or without their 4-byte length; or raw frames: one, or several
    with their length before each; or it is a capture: then a line is a request with its response.

    Secrets are x, as in what kwire trim writes: SASL tokens, configuration values, offset metadata, user data of assignors. A broker's log
    shows most of them, and so does --show-secrets: protect that output.

    \b
    Examples:
      echo 00120000000000070003666f6f | kwire decode
      kwire decode --response --api-key 18 --api-version 0 answer.bin
      kwire decode kafka.pcap --port 9092
      kwire decode kafka.pcap --dialect kip-1313
    """
    if kind == "response" and (api_key is None or api_version is None):
        raise click.UsageError("A response does not name its API: give --api-key and --api-version.")
    if kind == "request" and (api_key is not None or api_version is not None):
        raise click.UsageError("A request says its api key and version itself; --api-key and --api-version go with --response.")
    codec = chosen_codec(catalog_name, dialects)
    if file == "-":
        return _decode_stream(codec, sys.stdin.buffer, "standard input", ports, api_key, api_version, show_secrets)
    from kwire.capture.files.source import open_capture  # any path or URI, as captures are opened

    with open_capture(file) as source:
        head = source.read(_HEAD_BYTES)
        if _is_capture(head):
            return _decode_capture(codec, file, ports, show_secrets)
        data = head
        while more := source.read(1 << 20):
            data += more
    return _decode_frames(codec, data, file, api_key, api_version, show_secrets)


def _is_capture(head: bytes) -> bool:
    from kwire.capture.files.formats import identify

    return identify(head) is not None


def _decode_stream(
    codec: Codec, stream: BinaryIO, name: str, ports: tuple[int, ...], api_key: int | None, api_version: int | None, show_secrets: bool
) -> int:
    from io import BufferedReader, RawIOBase

    from kwire.capture.files.formats import compression_of

    buffered: Any = stream if isinstance(stream, BufferedReader) else BufferedReader(cast("RawIOBase", stream))
    head = buffered.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    if compression_of(head) or _is_capture(head):
        return _decode_capture(codec, buffered, ports, show_secrets)
    return _decode_frames(codec, buffered.read(), name, api_key, api_version, show_secrets)


def _decode_capture(codec: Codec, location: str | BinaryIO, ports: tuple[int, ...], show_secrets: bool) -> int:
    from kwire.cli.capture_frames import read_exchanges
    from kwire.cli.terminal import json_line, printable

    def emit(entry: dict[str, Any]) -> None:
        sys.stdout.write(f"{json_line(entry)}\n")

    facts = read_exchanges(location, ports, emit, codec, show_secrets=show_secrets)
    if facts.cut_at is not None:
        said = f"{printable(facts.location)} ends early, at byte {facts.cut_at}: {facts.cut_reason}"
        click.echo(f"kwire: {said}. The data before it is decoded.", err=True)
    return 0


def frames_of(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the position (`line 3`, `byte 120`) of each frame in hex digits or raw bytes, and the frame without its length."""
    if not data.strip():
        raise InputError(f"{name} is empty; give frames in hex (one per line), raw frames or a capture.")
    if _HEX.issuperset(data):
        for number, line in enumerate(data.decode("ascii").splitlines(), 1):
            digits = "".join(line.replace(":", " ").split())
            if len(digits) % 2:
                raise InputError(f"Line {number} of {name} has {len(digits)} hex digits; a byte has two.")
            if digits:
                frame = bytes.fromhex(digits)
                yield f"line {number}", frame[4:] if _lengths(frame) == [len(frame) - 4] else frame
        return
    if _TEXT.issuperset(data):  # every frame begins with a byte of 0: the upper one of its length or its API key
        number, line = next((number, line) for number, line in enumerate(data.decode("ascii").splitlines(), 1) if not _is_hex(line))
        raise InputError(
            f"Line {number} of {name} is not hex: {line[:40]!r}; expected frames in hex (one per line), raw frames or a capture."
        )
    lengths = _lengths(data)
    if lengths is None:
        yield "byte 0", data
        return
    at = 0
    for length in lengths:
        yield f"byte {at}", data[at + 4 : at + 4 + length]
        at += 4 + length


def _is_hex(line: str) -> bool:
    return _HEX.issuperset(line.encode("ascii"))


def _lengths(data: bytes) -> list[int] | None:
    """Return the lengths of frames that follow each other to the very end, None for other data."""
    found, at = [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big", signed=True)
        if length < 0 or at + 4 + length > len(data):
            return None
        found.append(length)
        at += 4 + length
    return found


def _decode_frames(codec: Codec, data: bytes, name: str, api_key: int | None, api_version: int | None, show_secrets: bool) -> int:
    from kwire.capture.request_logs.json_entries import error_entry, read_request, read_response, request_entry, response_entry
    from kwire.cli.terminal import json_line
    from kwire.protocol.secrets.frame_blanking import FrameBlanker

    blanker = FrameBlanker(source=codec.compiled)
    faulty: list[str] = []
    count = 0
    for place, frame in frames_of(data, name):
        count += 1
        entry: dict[str, Any]
        try:
            if api_key is None or api_version is None:
                blanked = frame if show_secrets else blanker.request(frame)
                entry = request_entry(read_request(codec, frame, blanked), codec)
            else:
                blanked = frame if show_secrets else blanker.response(frame, api_key, api_version)
                entry = response_entry(read_response(codec, frame, blanked, api_key, api_version), codec=codec)
        except WireError as error:  # a header that cannot be read
            entry = {"error": error_entry(error)}
        if "error" in entry:
            entry = {"at": place, **entry}
            faulty.append(f"{place}: {entry['error']['message']}")
        click.echo(json_line(entry))
    if faulty:
        raise InputError(f"{len(faulty)} of {count} frames of {name} cannot be decoded; first {faulty[0]}.")
    return 0
