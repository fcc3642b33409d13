"""Pseudonyms in PROXY protocol headers (HAProxy's proxy-protocol.txt, versions 1 and 2); lengths stay."""

from __future__ import annotations

from typing import Final

from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
from kwire.protocol.tracking.foreign_protocols import recognise

__all__ = ["proxy_header_of"]

_V1: Final = b"PROXY "
_UNKNOWN: Final = b"PROXY UNKNOWN"
_END: Final = b"\r\n"
_V2_HEAD: Final = 16  # signature, command, family and length
_ADDRESSES: Final = {1: 4, 2: 16}  # bytes of one address, by family
_NO_OPERATION: Final = 4  # the type of a field that says nothing
_FIELD_HEAD: Final = 3


def proxy_header_of(data: bytes, pseudonyms: AddressPseudonyms) -> bytes:
    """Replace addresses in PROXY headers at the beginning of `data` by pseudonyms; the length and all other data stay.

    A text header is replaced by one of an unknown client, because a pseudonym may be longer than the address.
    """
    out = b""
    while data:
        found = recognise(data, len(data)).proxy
        if found is None:
            break
        header, data = data[: found.size], data[found.size :]
        out += _text(header) if header.startswith(_V1) else _binary(header, pseudonyms)
    return out + data


def _text(header: bytes) -> bytes:
    return _UNKNOWN[: len(header) - len(_END)].ljust(len(header) - len(_END), b" ") + _END


def _binary(header: bytes, pseudonyms: AddressPseudonyms) -> bytes:
    size = _ADDRESSES.get(header[13] >> 4, 0)
    at = _V2_HEAD + 2 * size
    if not size or len(header) < at + 4:
        return header[:_V2_HEAD] + bytes(len(header) - _V2_HEAD)  # a local socket's path, or nothing
    source, target = header[_V2_HEAD : _V2_HEAD + size], header[_V2_HEAD + size : at]
    fields = len(header) - at - 4
    quiet = b""
    if fields >= _FIELD_HEAD:
        quiet = bytes((_NO_OPERATION,)) + (fields - _FIELD_HEAD).to_bytes(2, "big")
    return header[:_V2_HEAD] + pseudonyms.packed(source) + pseudonyms.packed(target) + header[at : at + 4] + quiet.ljust(fields, b"\0")
