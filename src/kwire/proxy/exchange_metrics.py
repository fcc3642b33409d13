"""Prometheus metrics of exchanges; client IDs, API versions and error codes are labels of the counter only, because histograms have many
buckets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from kwire.schema import catalog

__all__ = ["exchange_metrics"]

_SOFTWARE: Final = ("client_software_name", "client_software_version")
# Bucket n of the relays has latencies below 2**n microseconds: from 64 us to 33 s.
_BOUNDS: Final = range(6, 26)


def exchange_metrics(rows: Iterable[tuple[str, Mapping[str, Any]]], dropped: int) -> Iterator[Metric]:
    """Yield the metrics of rows with their tenants."""
    exchanges = CounterMetricFamily(
        "kwire_proxy_exchanges", "Requests that were answered, and Produce requests without an answer",
        labels=(*_SOFTWARE, "tenant", "client_id", "api", "api_version", "error_code"),
    )  # fmt: skip
    answered: Counter[tuple[str, ...]] = Counter()
    octets: Counter[tuple[str, ...]] = Counter()
    histograms: dict[tuple[str, ...], list[int]] = {}
    sums: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for tenant, row in rows:
        api = catalog().api_name(row["api_key"]) or str(row["api_key"])
        software = row["software_name"], row["software_version"], tenant
        client_id = row["client_id"] or ""
        error = "" if row["error_code"] is None else str(row["error_code"])
        answered.update({(*software, client_id, api, str(row["api_version"]), error): row["exchanges"]})
        for side in ("request", "response"):
            octets.update({(*software, client_id, api, side): row[f"{side}_bytes"]})
        called = (*software, api)
        found = histograms.setdefault(called, [0] * len(row["latencies"]))
        histograms[called] = [one + other for one, other in zip(found, row["latencies"], strict=True)]
        sums[called] += row["latency_us"]
    for labels, count in answered.items():
        exchanges.add_metric(labels, count)
    yield exchanges
    size = CounterMetricFamily(
        "kwire_proxy_frame_bytes", "Bytes of the frames of these exchanges", labels=(*_SOFTWARE, "tenant", "client_id", "api", "direction")
    )
    for labels, count in octets.items():
        size.add_metric(labels, count)
    yield size
    latency = HistogramMetricFamily(
        "kwire_proxy_latency_seconds",
        "From the last byte of a request to the last byte of its response",
        labels=(*_SOFTWARE, "tenant", "api"),
    )
    for by_api, counts in histograms.items():
        up_to = list(accumulate(counts))
        buckets = [(f"{2**n / 1e6:g}", up_to[n]) for n in _BOUNDS]
        latency.add_metric(by_api, [*buckets, ("+Inf", up_to[-1])], sums[by_api] / 1e6)
    yield latency
    lost = CounterMetricFamily("kwire_proxy_uncounted_exchanges", "Exchanges beyond the most rows that are kept")
    lost.add_metric((), dropped)
    yield lost
