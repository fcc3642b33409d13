"""The functions that give a message of a name. Type checkers read the stub beside this module, which has an overload for each message."""

from __future__ import annotations

from kwire.codec.decoding import decode
from kwire.codec.json_reading import from_json

__all__ = ["decode", "from_json"]
