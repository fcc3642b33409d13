"""kafka-python as a peer; run as a script, see `asking`."""

from __future__ import annotations

import importlib
import pkgutil
import uuid
import warnings
from functools import cache
from typing import Any

from answering import Unknown, answer_all

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas with a call that 3.11 deprecates
    import kafka.protocol
    from kafka.protocol.api_message import ApiMessage


UNSAID = -1  # how many bytes are left over


@cache
def classes() -> dict[str, Any]:
    for each in pkgutil.walk_packages(kafka.protocol.__path__, "kafka.protocol."):
        if ".old" not in each.name and "generate" not in each.name:
            importlib.import_module(each.name)
    found: dict[str, Any] = {}

    def walk(kind: Any) -> None:
        for each in kind.__subclasses__():
            if each._class_version is None:
                found[each.__name__] = each
            walk(each)

    walk(ApiMessage)
    return found


@cache
def class_of(key: int, suffix: str) -> Any:
    for name, found in classes().items():
        if name.endswith(suffix) and key == found.API_KEY:
            return found
    raise Unknown


def bare(value: Any) -> Any:
    """Values as they are on the wire, in dicts and lists: UUIDs as bytes, sets of bits as a number."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [bare(each) for each in value]
    if isinstance(value, set):
        bits = sum(1 << each for each in value)
        return bits - (bits >> 31 << 32)
    if isinstance(value, uuid.UUID):
        return value.bytes
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


def read(kind: str, name: str, version: int, data: bytes) -> tuple[Any, int]:
    if kind == "records":
        raise Unknown
    if kind == "message":
        found = classes().get(name)
        if found is None or not 0 <= version <= found.max_version:
            raise Unknown
        return bare(found.decode(data, version=version).to_dict(json=False)), UNSAID
    if kind == "request":
        found = class_of(int.from_bytes(data[:2], "big", signed=True), "Request")
        version = int.from_bytes(data[2:4], "big", signed=True)
    else:
        found = class_of(int(name), "Response")
    if not 0 <= version <= found.max_version:
        raise Unknown
    body = found.decode(data, version=version, header=True)
    return {"header": bare(body.header.to_dict(json=False)), "body": bare(body.to_dict(json=False))}, UNSAID


if __name__ == "__main__":
    answer_all(read)
