"""Key logs of TLS: a byte for how much of the text is not read yet, then lines."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.capture_beginnings import DATA
from kwire.capture.tls import key_lines as pure
from kwire.codec.impl import load_twin
from parity.test_key_lines_parity import NAME, SECRET, found


def seeds() -> Iterator[bytes]:
    lines = (DATA / "tls-keys.log").read_bytes().splitlines(keepends=True)
    yield from (bytes([number % 3]) + b"".join(lines[number : number + 4]) for number in range(0, len(lines), 4))
    name, secret = NAME.hex().encode(), SECRET.hex().encode()
    yield b"\0CLIENT_RANDOM " + name + b" " + secret + b"\r\n"
    yield b"\1RSA Session-ID:" + name + b" Master-Key:" + secret + b"\n"
    yield b"\0RSA " + name[:16] + b" " + secret + b"\n"


def compare(data: bytes) -> None:
    text = data[1:]
    size = max(len(text) - (data[0] if data else 0), 0)
    assert found(load_twin("capture", "key_lines", "native"), text, size) == found(pure, text, size)
