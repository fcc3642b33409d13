"""What the proxy's Prometheus endpoint says, and to whom."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kwire.errors import InputError
from kwire.protocol.relay.counters import RelayCounters
from kwire.proxy.counts import ConnectionCounts, capped
from kwire.proxy.exchange_metrics import exchange_metrics
from kwire.proxy.metrics import connection_metrics, exposition, rule_metrics
from kwire.proxy.metrics_endpoint import MetricsEndpoint
from kwire.proxy.rules.refusals import Condition, RefusalsRule
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rejected_counts import Rejected
from kwire.proxy.rules.rule import Peer


def samples(text: bytes) -> dict[tuple[str, ...], float]:
    """Value by name and labels' values in the order of labels' names, as Prometheus' own parser reads them."""
    families = text_string_to_metric_families(text.decode())
    return {(each.name, *(value for _, value in sorted(each.labels.items()))): each.value for family in families for each in family.samples}


def test_connections_by_software_and_by_how_they_ended() -> None:
    counts = ConnectionCounts()
    counts.opened.update({("", 1): 3, ("acme", 2): 1})
    counts.ended["", 1, "broker_unreachable"] += 2
    for text in ("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1000)", "wrong version number", "the client hung up"):
        counts.count_handshake("acme", text)
    peers = [
        Peer("10.0.0.9", 1, 1, software_name="sarama", software_version="1.27.2"),
        Peer("10.0.0.9", 2, 1, software_name="sarama", software_version="1.27.2"),
        Peer("10.0.0.9", 3, 2, tenant="acme"),
    ]
    assert samples(exposition(connection_metrics(counts, peers))) == {
        ("kwire_proxy_connections", "sarama", "1.27.2", "1", ""): 2,
        ("kwire_proxy_connections", "unknown", "unknown", "2", "acme"): 1,
        ("kwire_proxy_connections_opened_total", "1", ""): 3,
        ("kwire_proxy_connections_opened_total", "2", "acme"): 1,
        ("kwire_proxy_connections_closed_total", "1", "broker_unreachable", ""): 2,
        ("kwire_proxy_tls_handshakes_failed_total", "wrong version number", "acme"): 2,
        ("kwire_proxy_tls_handshakes_failed_total", "the client hung up", "acme"): 1,
    }


def test_texts_of_clients_are_capped_and_no_count_is_lost() -> None:
    counts = Counter({("a", "1"): 5, ("b", "1"): 1, ("b", "2"): 3, ("c", "1"): 2})
    assert capped(counts, 2, 1) == {("a", "1"): 5, ("b", "1"): 1, ("b", "2"): 3, ("other", "1"): 2}
    assert capped(counts, 0, 1) == {("other", "1"): 8, ("other", "2"): 3}


def test_refusals_and_what_a_rehearsal_would_reject() -> None:
    refusals, rehearsal = RefusalsRule([Condition(software="old*")]), RehearsalRule("4.3.1", "count")
    refusals.count(Peer("10.0.0.9", 1, 1, software_name='old\n"quoted"', software_version="1"), 3)
    for address in ("10.0.0.8", "10.0.0.9"):
        rehearsal.counts.count(Rejected("sarama", "1.27.2", "billing", address, 8, 1))
    assert samples(exposition(rule_metrics([refusals, rehearsal]))) == {
        ("kwire_proxy_refusals_total", "Metadata", 'old\n"quoted"', "1"): 1,
        ("kwire_proxy_rehearsal_rejected_total", "OffsetCommit", "billing", "sarama", "1.27.2", "4.3.1", "1"): 2,
        ("kwire_proxy_rehearsal_others_total",): 0,
    }


def test_refusals_count_a_bounded_number_of_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.proxy.rules.refusals._MOST_COUNTED", 1)
    rule = RefusalsRule([Condition(software="*")])
    for name in ("a", "b", "c", "a"):
        rule.count(Peer("10.0.0.9", 1, 1, software_name=name), 3)
    assert rule.refused == {("a", "", 3): 2, ("other", "other", 3): 2}


def test_the_endpoint() -> None:
    async def asked(port: int, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        try:
            return await asyncio.wait_for(reader.read(-1), 30)
        finally:
            writer.close()
            await writer.wait_closed()

    reasons = ["", "broker 1 is away"]

    async def unready() -> str:
        return reasons.pop(0)

    async def go() -> list[bytes]:
        metrics = list(connection_metrics(ConnectionCounts(), [Peer("10.0.0.9", 1, 1)]))
        endpoint = MetricsEndpoint(lambda: metrics, unready)
        await endpoint.open("127.0.0.1", 0)
        requests = (b"GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", b"HEAD /metrics HTTP/1.0\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n")
        health = [await asked(endpoint.port, b"GET %b HTTP/1.1\r\n\r\n" % path) for path in (b"/healthz", b"/readyz", b"/readyz")]
        assert [each.partition(b"\r\n")[0] for each in health] == [
            b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK", b"HTTP/1.1 503 Service Unavailable"
        ]  # fmt: skip
        assert health[2].endswith(b"\r\n\r\nbroker 1 is away\n")
        found = [await asked(endpoint.port, each) for each in (*requests, b"POST /metrics HTTP/1.1\r\n\r\n", b"x" * 70_000)]
        other = MetricsEndpoint(list, unready)
        with pytest.raises(InputError, match="cannot be listened on"):
            await other.open("127.0.0.1", endpoint.port)
        endpoint.close()
        await asyncio.sleep(0.05)  # transports end in the loop's next turns
        return found

    metrics, head, elsewhere, posted, endless = asyncio.run(go())
    status, _, body = metrics.partition(b"\r\n\r\n")
    assert status.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n")
    assert b'kwire_proxy_connections{client_software_name="unknown",client_software_version="unknown",node_id="1",tenant=""} 1.0\n' in body
    assert f"Content-Length: {len(body)}\r\n".encode() in status + b"\r\n"
    assert head == status + b"\r\n\r\n"
    assert (elsewhere[:12], posted[:12], endless) == (b"HTTP/1.1 404", b"HTTP/1.1 405", b"")


def test_exchanges_and_their_latencies() -> None:
    # Frames without lengths: a Heartbeat v0 of 18 bytes, its answer of 6. 100 us is over 64 us and below 128 us, 40 s beyond all bounds.
    counters = RelayCounters()
    for latency, error in ((100_000, 0), (100_999, 0), (40_000_000_000, 25)):
        counters.count(("sarama", "1.27.2"), "billing", 12, 0, error, 18, 6, latency)
    counters.count(("sarama", "1.27.2"), None, 0, 7, None, 90, 0, None)  # acks 0
    found = samples(exposition(exchange_metrics((("acme", row) for row in counters.rows()), 3)))
    named = ("sarama", "1.27.2")
    assert found[("kwire_proxy_exchanges_total", "Heartbeat", "0", "billing", *named, "0", "acme")] == 2
    assert found[("kwire_proxy_exchanges_total", "Heartbeat", "0", "billing", *named, "25", "acme")] == 1
    assert found[("kwire_proxy_exchanges_total", "Produce", "7", "", *named, "", "acme")] == 1
    assert found[("kwire_proxy_frame_bytes_total", "Heartbeat", "billing", *named, "request", "acme")] == 54
    assert found[("kwire_proxy_frame_bytes_total", "Heartbeat", "billing", *named, "response", "acme")] == 18
    buckets = {labels[-2]: value for labels, value in found.items() if labels[:2] == ("kwire_proxy_latency_seconds_bucket", "Heartbeat")}
    assert [buckets[bound] for bound in ("6.4e-05", "0.000128", "33.5544", "+Inf")] == [0, 2, 2, 3]
    assert found[("kwire_proxy_latency_seconds_count", "Heartbeat", *named, "acme")] == 3
    assert found[("kwire_proxy_latency_seconds_sum", "Heartbeat", *named, "acme")] == pytest.approx(40.0002)
    assert found[("kwire_proxy_latency_seconds_count", "Produce", *named, "acme")] == 0
    assert found["kwire_proxy_uncounted_exchanges_total",] == 3


def test_the_dashboard_asks_for_metrics_that_the_page_lists() -> None:
    root = Path(__file__).parents[3]
    dashboard = json.loads((root / "deploy" / "proxy" / "grafana-dashboard.json").read_text("utf-8"))
    asked = {name for panel in dashboard["panels"] for target in panel["targets"] for name in re.findall(r"kwire_\w+", target["expr"])}
    listed = set(re.findall(r"`(kwire_proxy_\w+)`", (root / "docs" / "how-to" / "proxy.md").read_text("utf-8")))
    assert {name.removesuffix("_bucket") for name in asked} == listed


def test_exchanges_of_several_threads_are_added_up() -> None:
    threads = [RelayCounters(), RelayCounters()]
    for counters in threads:
        counters.count(("sarama", "1.27.2"), "billing", 12, 0, 0, 18, 6, 100_000)
    found = samples(exposition(exchange_metrics((("", row) for counters in threads for row in counters.rows()), 0)))
    assert found["kwire_proxy_exchanges_total", "Heartbeat", "0", "billing", "sarama", "1.27.2", "0", ""] == 2
    assert found["kwire_proxy_latency_seconds_count", "Heartbeat", "sarama", "1.27.2", ""] == 2
