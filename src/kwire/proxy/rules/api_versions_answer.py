"""Ranges and features of ApiVersions responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import kwire
from kwire.codec import Edit, EditChanges, VersionLimits
from kwire.protocol.relay import CALL, Held, RelayRule
from kwire.schema import catalog

__all__ = ["API_VERSIONS", "changed_answer", "limited_answers", "ranges_of", "wanted_answers", "with_ranges"]

API_VERSIONS = 18


def wanted_answers() -> RelayRule:
    return RelayRule("response", API_VERSIONS, None, CALL)


def limited_answers(limits: VersionLimits) -> Iterator[RelayRule]:
    for version in catalog()["ApiVersionsResponse"].valid_versions:
        yield RelayRule("response", API_VERSIONS, (version,), Edit("response", API_VERSIONS, version, EditChanges(limits=limits)))


def ranges_of(body: Any) -> dict[int, tuple[int, int]]:
    return {each.api_key: (each.min_version, each.max_version) for each in body.api_keys}


def with_ranges(body: Any, ranges: Mapping[int, tuple[int, int]]) -> None:
    entry = kwire.messages.ApiVersionsResponse.ApiVersion
    body.api_keys = [entry(api_key=key, min_version=low, max_version=high) for key, (low, high) in sorted(ranges.items())]


def changed_answer(held: Held, frame: bytes) -> tuple[int, Any]:
    """Return correlation id and body of an ApiVersions response."""
    found = kwire.decode_response(frame, API_VERSIONS, held.api_version)
    return found.header.correlation_id, found.body
