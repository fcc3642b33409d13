"""Frames of Kafka's own classes, and what its converters wrote of them."""

from __future__ import annotations

from typing import Any

from twin_codecs import vectors_of

FRAMES = vectors_of("frames-sample")


def frame(case: dict[str, Any]) -> bytes:
    return bytes.fromhex(case["hex"])[4:]


def one(message: str, version: int) -> dict[str, Any]:
    return next(case for case in FRAMES if (case["message"], case["version"]) == (message, version))
