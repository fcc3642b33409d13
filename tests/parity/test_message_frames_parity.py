"""The frames of a message that the native tracker gives are those of Python's rules: bytes and positions, in captures of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire.codec.impl import load_twin
from kwire.protocol.events import Asked
from kwire.tables import from_capture, impl
from kwire.tables.message_frames import iter_message_frames
from kwire.tables.schemas import MESSAGE_FRAMES


def frames(path: Path, asked: Asked) -> list[dict[str, Any]]:
    found = pa.Table.from_batches(iter_message_frames([str(path)], asked), schema=MESSAGE_FRAMES).to_pylist()
    return sorted(found, key=lambda row: (row["connection_id"], row["stream_offset"]))


def test_frames_of_a_message(capture_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = from_capture(str(capture_path)).select(["api_key", "api_version", "state", "error_code"]).to_pylist()
    seen = sorted({(row["api_key"], row["api_version"]) for row in rows if row["api_version"] is not None})
    for key, version in seen[:: len(seen) // 2 or 1]:
        requests = [row for row in rows if (row["api_key"], row["api_version"]) == (key, version)]
        # a refused ApiVersions request is answered in version 0 (KIP-511)
        answers = [
            row
            for row in rows
            if row["state"] == "answered" and (row["api_key"], 0 if _is_refusal(row) else row["api_version"]) == (key, version)
        ]
        for direction, expected in (("request", requests), ("response", answers)):
            asked = Asked(direction, key, version)  # type: ignore[arg-type]
            with monkeypatch.context() as patch:
                patch.setattr(impl, "_chosen", ("pure", None))
                pure = frames(capture_path, asked)
            with monkeypatch.context() as patch:
                patch.setattr(impl, "_chosen", ("native", load_twin("tables", "bulk", "native")))
                assert frames(capture_path, asked) == pure
            assert len(pure) == len(expected)


def _is_refusal(row: dict[str, Any]) -> bool:
    return row["api_key"] == 18 and row["error_code"] == 35
