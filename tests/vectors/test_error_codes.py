"""The error code of every response with one: Kafka's own bytes and JSON in, the column `error_code` out, from captures and request logs."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kwire
from kafka_bytes import framed
from kwire.codec.impl import Twin
from kwire.schema import catalog
from kwire.tables import read_series
from made_packets import CLIENT, SERVER, Wire
from read_by_twins import tables_of, using

_SASL = (17, 36)  # what follows them has no header
Steps = tuple[Any, ...]


def codes(value: Any, path: Steps = ()) -> Iterator[tuple[Steps, int]]:
    """Paths and values of the fields whose names end in `errorCode`, in the order of Kafka's schema, which is that of the wire."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str) and key.lower().endswith("errorcode"):
            yield (*path, key), inner
        else:
            yield from codes(inner, (*path, key))


def with_code(body: Any, path: Steps, code: int) -> Any:
    changed = copy.deepcopy(body)
    struct = changed
    for step in path[:-1]:
        struct = struct[step]
    struct[path[-1]] = code
    return changed


def failing(body: Any) -> list[tuple[Any, int]]:
    """A response as it is, then without its codes one after the other, each with the code that tells its failure."""
    found = [body]
    paths = sorted((path for path, _ in codes(body)), key=lambda path: len(path) > 1)  # stable
    for path in paths:
        found.append(with_code(found[-1], path, 0))
    return [(each, next((code for path in paths for at, code in codes(each) if at == path and code), 0)) for each in found]


def logged(body: Any) -> Any:
    """A body as brokers log it: without records, but with their size."""
    if isinstance(body, list):
        return [logged(each) for each in body]
    if not isinstance(body, dict):
        return body
    return {(f"{key}SizeInBytes" if key == "records" else key): 9 if key == "records" else logged(each) for key, each in body.items()}


def cases(vectors: Any) -> Iterator[tuple[int, int, Any, Any]]:
    """Key and version of each api with a request, and a response with all of its arrays filled."""
    full = {(case["message"], case["version"]): case["json"] for case in vectors("messages-sample") if case["case"] == "full"}
    for key in catalog().api_keys:
        request, response = catalog().request(key), catalog().response(key)
        assert request is not None
        assert response is not None
        for version in request.valid_versions:
            yield key, version, full[request.name, version], full[response.name, version]


def exchanges(vectors: Any) -> Iterator[tuple[int, int, Any, Any, int | None]]:
    """Key, version, request and response with the code that tells its failure."""
    for key, version, request, response in cases(vectors):
        for body, code in failing(response):
            yield key, version, request | ({"acks": 1} if key == 0 else {}), body, code if list(codes(response)) else None


def test_error_codes_on_the_wire(twin: Twin, vectors: Any) -> None:
    wire = Wire()
    wire.shake()
    expected: list[int | None] = []
    for key, version, request, response, code in exchanges(vectors):
        if key in _SASL:
            continue
        names = [catalog().request(key).name, catalog().response(key).name]
        asked, answered = (kwire.from_json(name, body, version) for name, body in zip(names, (request, response), strict=True))
        header = kwire.RequestHeader(api_key=key, api_version=version, correlation_id=len(expected), client_id="c")
        wire.send(CLIENT, framed(kwire.encode_request(header, asked)))
        wire.send(SERVER, framed(kwire.encode_response(len(expected), answered, key, version)))
        expected.append(code)
    found = {row["correlation_id"]: row["error_code"] for row in tables_of(twin, wire.packets)["requests"]}
    assert found == dict(enumerate(expected))
    assert len({*expected}) > 40


def test_error_codes_in_request_logs(twin: Twin, vectors: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    using(monkeypatch, twin)
    if twin == "pure":
        monkeypatch.setattr("kwire.capture.request_logs.folding.typed_reader", lambda _zone, _wanted: None)
    expected: list[int | None] = []
    lines = []
    for key, version, request, response, code in exchanges(vectors):
        header = {"requestApiKey": key, "requestApiVersion": version, "correlationId": len(expected), "clientId": "c"}
        entry = {
            "requestHeader": header, "request": logged(request), "response": logged(response), "totalTimeMs": 1,
            "connection": "10.0.0.1:9092-10.0.0.2:5000-0-1", "principal": "User:ANONYMOUS",
        }  # fmt: skip
        lines.append(json.dumps(entry))
        expected.append(code)
    log = tmp_path / "requests.log"
    log.write_text("\n".join(lines) + "\n")
    with read_series([str(log)]) as rows:
        found = {row["correlation_id"]: row["error_code"] for row in rows.table("requests").to_pylist()}
    assert found == dict(enumerate(expected))
