"""Targets of verdicts: Kafka releases, named targets, and answers to ApiVersions in files.

Files have the output of `kafka-broker-api-versions.sh`, an ApiVersions response in JSON (as in the broker's request log) or as hex, or are
captures or request logs. An answer that a Kafka release or a target of kwire gives is that one, whose accepted versions count; of any
other, those that it advertises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any, Final

from kwire.errors import InputError, WireError
from kwire.json_encoding import encode_json
from kwire.schema import Release, Target, catalog, guess, releases
from kwire.schema.stored import read_data

__all__ = ["answer_json", "in_manifest", "is_release", "of_answer", "read_target", "shipped_targets"]

_API_VERSIONS: Final = 18
_TEXT_BYTES: Final = 1 << 20
_RELEASE: Final = re.compile(r"\s*[0-9]+(\.[0-9]+)*\s*")
# org.apache.kafka.clients.NodeApiVersions: `Produce(0): 0 to 11 [usable: 11]`, `UNKNOWN(99): 0`; those that a node lacks are UNSUPPORTED
_OF_TOOL: Final = re.compile(r"^\s*\w+\(([0-9]{1,5})\): ([0-9]{1,5})(?: to ([0-9]{1,5}))?\b", re.MULTILINE)
_NODE_OF_TOOL: Final = re.compile(r"\) -> \($", re.MULTILINE)
_NOT_OF_NAMES: Final = re.compile(r"[^\w.:\[\]-]+")

Ranges = dict[int, tuple[int, int]]


def is_release(text: str) -> bool:
    """Return whether a text is meant as the number of a Kafka release."""
    return _RELEASE.fullmatch(text) is not None


@cache
def shipped_targets() -> tuple[Target, ...]:
    def ranges(given: Mapping[str, tuple[int, int]]) -> Ranges:
        return {int(key): (low, high) for key, (low, high) in given.items()}

    return tuple(
        Target(
            each["name"],
            ranges(each["ranges"]),
            each["source"],
            each["date"],
            ranges(each.get("accepted", {})),
            *({int(key): libraries for key, libraries in each.get(name, {}).items()} for name in ("unread", "earlier")),
        )
        for each in read_data("targets.json")
    )


def of_answer(name: str, ranges: Mapping[int, tuple[int, int]], source: str, date: str = "") -> Release:
    """Return the Kafka release that gives this answer, of several the newest patch of the oldest minor version; else a target.

    APIs that Kafka does not have, as vendors add them to theirs, do not make another release.
    """
    from kwire.analysis.release_ranges import guess_release

    of_kafka = {key: versions for key, versions in ranges.items() if catalog().api_name(key) is not None}
    found = guess_release(guess(of_kafka))
    if found is not None:
        return releases()[found]
    ranges = {key: (low, high) for key, (low, high) in ranges.items() if 0 <= low <= high}
    same = next((each for each in shipped_targets() if each.ranges == ranges), None)
    return same or Target(name, ranges, source, date or f"{datetime.now(timezone.utc):%Y-%m-%d}")


def answer_json(target: Target) -> dict[str, Any]:
    """Return the form of `read_target` that keeps name, source and date."""
    known = {"name": target.name, "source": target.source, "date": target.date, "apiKeys": _entries(target.ranges)}
    return known | ({"accepted": _entries(target.accepted)} if target.accepted else {})


def _entries(ranges: Mapping[int, tuple[int, int]]) -> list[dict[str, int]]:
    return [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, (low, high) in sorted(ranges.items())]


def in_manifest(targets: Sequence[str | Release], *, redacted: bool) -> dict[str, Any]:
    """Return what the manifest of an analysis says of its targets.

    `targets` is there if one is no Kafka release, `answered` if a broker or file answered as a release.
    """
    names = [each if isinstance(each, str) else each.name for each in targets]
    others = [
        {"name": each.name, "source": "a file" if redacted else each.source, "date": each.date}
        for each in targets
        if isinstance(each, Target)
    ]
    answered = [each.name for each in targets if not isinstance(each, (str, Target))]
    return {"target_releases": names} | ({"targets": others} if others else {}) | ({"answered": answered} if answered else {})


def read_target(path: str) -> Release:
    """Read the answer of a broker from a file; of several brokers, the versions that all have.

    Raises:
        InputError: the file cannot be read, or has no answer to ApiVersions.
    """
    name = _NOT_OF_NAMES.sub("-", Path(path).stem)
    name = name if name[:1].isalpha() else f"target-{name}"
    try:
        with Path(path).open("rb") as file:
            data = file.read(_TEXT_BYTES)
        date = f"{datetime.fromtimestamp(Path(path).stat().st_mtime, timezone.utc):%Y-%m-%d}"
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    facts: dict[str, Any] = {}
    with suppress(ValueError, RecursionError):
        facts = json.loads(data)
    answers = [found for found in (_of_entries(path, each) for each in _lists_of(facts)) if found] or _of_text(data) or _of_capture(path)
    if not answers:
        raise InputError(
            f"{path} has no answer to ApiVersions; expected the output of kafka-broker-api-versions.sh, the response as JSON or hex, or a "
            "capture or request log with it"
        )
    own = facts if isinstance(facts, dict) else {}
    ranges = _shared(answers)
    found = of_answer(name, ranges, path, date)
    if not isinstance(found, Target) or "name" not in own:
        return found
    accepted = _of_entries(path, own.get("accepted", []))
    return Target(str(own["name"]), ranges, str(own.get("source", path)), str(own.get("date", date)), accepted)


def _shared(answers: list[Ranges]) -> Ranges:
    first, *others = answers
    spans = {
        key: (max(one[key][0] for one in answers), min(one[key][1] for one in answers)) for key in first if all(key in o for o in others)
    }
    return {key: (low, high) for key, (low, high) in spans.items() if low <= high}


def _lists_of(value: Any) -> Iterator[list[Any]]:
    """Yield the lists of APIs in an answer, in an entry of a request log, or in a list of either."""
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists_of(each)
    if isinstance(value, dict) and isinstance(value.get("apiKeys"), list):
        yield value["apiKeys"]


def _of_entries(path: str, entries: list[Any]) -> Ranges:
    found = {}
    numbers: tuple[Any, ...]
    for each in entries:
        key, low, high = numbers = tuple(
            each.get(name) if isinstance(each, dict) else None for name in ("apiKey", "minVersion", "maxVersion")
        )
        if not all(type(number) is int and 0 <= number < 1 << 15 for number in numbers) or low > high:
            raise InputError(f"{path}: an entry of apiKeys lacks apiKey, minVersion and maxVersion as numbers: {encode_json(each)[:80]}")
        found[key] = (low, high)
    return found


def _of_text(data: bytes) -> list[Ranges]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return []
    nodes = [{int(key): (int(low), int(high or low)) for key, low, high in _OF_TOOL.findall(node)} for node in _NODE_OF_TOOL.split(text)]
    if any(nodes):
        return [each for each in nodes if each]
    try:
        frame = bytes.fromhex(text)
    except ValueError:
        return []
    return _of_frame(frame[4:] if int.from_bytes(frame[:4], "big") == len(frame) - 4 else frame)


def _of_frame(frame: bytes) -> list[Ranges]:
    from kwire.codec import Codec
    from kwire.schema import catalog

    codec, response = Codec(catalog()), catalog().response(_API_VERSIONS)
    assert response is not None
    for version in sorted(response.valid_versions, reverse=True):
        with suppress(WireError):
            body = codec.decode_response(frame, _API_VERSIONS, version).body
            if body.api_keys:
                return [{each.api_key: (each.min_version, each.max_version) for each in body.api_keys}]
    return []


def _of_capture(path: str) -> list[Ranges]:
    from kwire.analysis.brokers import offers_of
    from kwire.analysis.key_buckets import whole_of
    from kwire.analysis.one_process import merged_series
    from kwire.capture.files.piece_kinds import kind_of

    try:
        kind_of(path)
    except InputError:
        return []
    return list(offers_of(whole_of(merged_series([([path], path, "")], (), lambda _rows: None))).values())
