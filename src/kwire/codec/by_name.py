"""Functions whose result type depends on the message name; the stub has an overload for each message."""

from __future__ import annotations

from kwire.codec.decoding import decode, decode_response
from kwire.codec.json_reading import from_json

__all__ = ["decode", "decode_response", "from_json"]
