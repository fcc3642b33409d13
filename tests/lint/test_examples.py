"""Each script of examples/ runs as its docstring says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, *arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_tracked_connection_names_its_client() -> None:
    assert run("track_a_connection.py") == [
        "ApiVersions v3 by 'c': answered after 2500 us",
        "the client is apache-kafka-java 2.4.0",
    ]


def test_a_proxy_rewrites_brokers_and_topics() -> None:
    assert run("rewrite_brokers.py") == [
        "the client asks for orders, the broker is asked for acme.orders",
        "broker 1 at 10.0.0.1:9092 is proxy.example.com:20001 to the client",
        "broker 2 at 10.0.0.2:9092 is proxy.example.com:20002 to the client",
        "the client is told of orders",
    ]


def test_who_talks_tells_who_breaks() -> None:
    lines = run("who_talks.py", str(EXAMPLES / "upgrade-fleet.pcap.gz"))
    breaking = {line.split("'")[1] for line in lines if line.endswith("breaks on 4.4.0")}
    # what a real 4.3.1 broker did to these clients, from the notes of the capture
    assert {"legacy-billing-082", "erp-bridge", "stock-sync", "pricing-svc", "clickstream", "geo-enricher"} <= breaking
    assert not {line for line in lines if "apache-kafka-java 3.9.2" in line and line.endswith("breaks on 4.4.0")}


def test_a_frame_goes_to_json_and_back() -> None:
    assert run("frame_to_json_and_back.py") == [
        "MetadataRequest v12 by 'app': "
        '{"topics": [{"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "name": "orders"}], '
        '"allowAutoTopicCreation": true, "includeTopicAuthorizedOperations": false}',
        "42 bytes read, 44 written, of topic 'invoices'",
        "Truncated: the bytes end before the value does at byte 38 in topics[0] (MetadataRequest v12)",
    ]
