"""The codec by twin, and what Kafka's own Java classes wrote, for tests and fuzz targets."""

from __future__ import annotations

import gc
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from kwire.codec.classes import CompiledCatalog
from kwire.codec.decoding import FrameReader
from kwire.codec.encoding import FrameWriter
from kwire.codec.impl import Twin
from kwire.schema import catalog

__all__ = ["TwinCodec", "codec_of", "keep", "vectors_of"]

VECTORS = Path(__file__).parent / "vectors" / "data"


def keep() -> None:
    """What was made so far stays for the whole run: the collector need not look at it again, and tests that call it are quicker."""
    gc.collect()
    gc.freeze()


class TwinCodec:
    def __init__(self, twin: Twin) -> None:
        self.twin = twin
        self.compiled = CompiledCatalog(catalog(), twin)
        self.frames = FrameReader(self.compiled)
        self.writer = FrameWriter(self.compiled)

    def decode(self, name: str, data: Any, version: int, fields: tuple[str, ...] | None = None) -> Any:
        return self.compiled.decoder(name, version, fields).decode_whole(data)

    def encode(self, message: Any, version: int) -> bytes:
        return self.writer.encode(message, version)

    def message_class(self, name: str) -> Any:
        return self.compiled.classes(name)[0]


@cache
def codec_of(twin: Twin) -> TwinCodec:
    made = TwinCodec(twin)
    keep()
    return made


@cache
def vectors_of(name: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        made = [json.loads(line) for line in lines]
    assert made, name
    keep()
    return made
