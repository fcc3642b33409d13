"""Received metrics in a file and at a collector: a small server that reads OTLP with OpenTelemetry's own classes."""

from __future__ import annotations

import gzip
import json
import math
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest, ExportMetricsServiceResponse

import kwire
from kwire.errors import BadLength, InputError
from kwire.protocol.telemetry import MemoryReceiver, SubscriptionTable, TelemetryReceiver, decode_metrics
from kwire.protocol.telemetry.labels import PrivateLabels
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.protocol.telemetry.receivers import PushContext
from kwire.telemetry_export import ExportFailed, JsonLinesReceiver, OtlpHttpReceiver

HERE = PushContext(connection="c1", client_id="app", principal="User:alice", source_address="10.0.0.7")
PAYLOAD = encode_metrics(
    [
        {"metric": "org.apache.kafka.producer.x", "type": "gauge", "value": 1.5, "time_unix_nano": 9, "resource": {"group_id": "g\nö"}},
        {"metric": "org.apache.kafka.producer.y", "type": "sum", "value": 3, "temporality": "delta", "attributes": {"node_id": "1"}},
        {"metric": "org.apache.kafka.producer.z", "type": "gauge", "value": math.nan},
    ]
)


class Collector(ThreadingHTTPServer):
    """Keeps what is posted, answers `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.requests: list[tuple[str, dict[str, str], ExportMetricsServiceRequest]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.requests.append((self.path, dict(self.headers), ExportMetricsServiceRequest.FromString(body)))
        answer = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def push(*receivers: Any, metrics: bytes = PAYLOAD) -> int:
    table = SubscriptionTable()
    table.set("all", {"metrics": "*"})
    role = TelemetryReceiver(table, receivers)
    told = role.answer(kwire.messages.GetTelemetrySubscriptionsRequest(), HERE, 0)
    request = kwire.messages.PushTelemetryRequest(
        client_instance_id=told.client_instance_id, subscription_id=told.subscription_id, metrics=metrics
    )
    code: int = role.answer(request, HERE, 1).error_code
    return code


@pytest.mark.parametrize("compress", [True, False])
def test_K714_54_a_collector_gets_the_points_that_were_pushed(collector: Collector, compress: bool) -> None:
    memory = MemoryReceiver()
    assert push(memory, OtlpHttpReceiver(collector.endpoint, headers={"X-Tenant": "t"}, compress=compress)) == 0
    ((path, headers, request),) = collector.requests
    assert (path, headers["Content-Type"], headers["X-Tenant"]) == ("/v1/metrics", "application/x-protobuf", "t")
    got = decode_metrics(request.SerializeToString(), 0)
    assert repr(got) == repr(memory.points[0])  # NaN is equal to nothing
    assert [point["value"] for point in got[:2]] == [1.5, 3]
    assert got[0]["resource"]["principal"] == "User:alice"


@pytest.mark.parametrize(("status", "retryable"), [(503, True), (429, True), (400, False)])
def test_a_collector_that_refuses_is_a_bad_record_for_the_client(collector: Collector, status: int, retryable: bool) -> None:
    collector.status = status
    receiver = OtlpHttpReceiver(collector.endpoint + "/own/path", headers={"Authorization": "Bearer secret"})
    assert push(receiver) == 87
    assert collector.requests[0][0] == "/own/path"
    assert "secret" not in repr(receiver)
    payload = MemoryReceiver()
    push(payload)
    with pytest.raises(ExportFailed, match=f"answered {status}") as failed:
        receiver.export(*payload.payloads[0])
    assert (failed.value.status, failed.value.retryable) == (status, retryable)


def test_a_collector_that_is_not_there_is_told() -> None:
    memory = MemoryReceiver()
    push(memory)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        receiver = OtlpHttpReceiver(f"http://127.0.0.1:{nobody.getsockname()[1]}", timeout_s=2)
        with pytest.raises(ExportFailed) as failed:
            receiver.export(*memory.payloads[0])
    assert (failed.value.status, failed.value.retryable) == (None, True)


@pytest.mark.parametrize("endpoint", ["localhost:4318", "grpc://h:4317", "http://"])
def test_an_endpoint_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(InputError, match="is not the address of a collector"):
        OtlpHttpReceiver(endpoint)


def test_K714_55_points_become_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    memory = MemoryReceiver()
    with JsonLinesReceiver(path) as lines:
        assert push(memory, lines) == 0
        assert push(lines, metrics=PAYLOAD[:-1]) == 87
    rows = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert [(row["metric"], row["value"]) for row in rows] == [
        ("org.apache.kafka.producer.x", 1.5), ("org.apache.kafka.producer.y", 3), ("org.apache.kafka.producer.z", "NaN"),
    ]  # fmt: skip
    assert {row.pop("terminating") for row in rows} == {False}
    assert rows[:2] == memory.points[0][:2]
    assert rows[0]["resource"]["group_id"] == "g\nö"


@pytest.mark.requirement("K714-96")
def test_lines_are_cleaned_before_they_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with JsonLinesReceiver(path, clean=PrivateLabels("drop").clean) as lines:
        push(lines)
    text = path.read_text()
    assert "producer.x" in text
    for secret in ("alice", "10.0.0.7", "app", "g\\n"):
        assert secret not in text.replace("org.apache", "")


def test_a_payload_that_cannot_be_read_is_not_sent(collector: Collector) -> None:
    memory = MemoryReceiver()
    push(memory)
    context, payload = memory.payloads[0]
    broken = type(payload)(instance_id=payload.instance_id, data=b"\xff")
    with pytest.raises(BadLength):
        OtlpHttpReceiver(collector.endpoint).export(context, broken)
    assert not collector.requests
