"""KIP-511's rule for software names, with what Kafka's own ApiVersionsRequest said."""

from __future__ import annotations

import pytest

from kwire.protocol.negotiation import is_valid_software

VALID = [
    ("apache-kafka-java", "4.4.0"), ("librdkafka", "2.3.0"), ("confluent-kafka-python", "2.3.0-rdkafka-2.3.0"), ("kgo", "v1.17.0"),
    ("a", "1"),
    ("A", "Z"), ("0", "0"), ("a.b-c", "1.0-SNAPSHOT"), ("a..b", "1"), ("a--b", "1"), ("unknown", "unknown"), ("name", "1.0.0-rc.1"),
    ("a" * 240, "1"),
]  # fmt: skip
INVALID = [
    ("", ""), ("name", ""), ("", "1"), ("-name", "1"), ("name-", "1"), (".name", "1"), ("name.", "1"), ("name", "-1"), ("name", "1-"),
    ("name", ".1"), ("name", "1."), ("my client", "1"), ("name", "1 0"), ("my_client", "1"), ("name", "1_0"), ("name/x", "1"),
    ("name", "1+build.5"), ("naïve", "1"), ("日本", "1"), ("name", "1\n"), ("name\n", "1"), ("-", "-"), (".", "."), ("a", "."), ("😀", "1"),
    (" name", "1"), ("name ", "1"), ("na\tme", "1"), ("$(date)", "1"), ("a;b", "1"), ("sarama", "(devel)"),
]  # fmt: skip


@pytest.mark.requirement("K511-23")
@pytest.mark.parametrize(("name", "version"), VALID)
def test_what_kafka_takes(name: str, version: str) -> None:
    assert is_valid_software(name, version)


@pytest.mark.requirement("K511-23")
@pytest.mark.parametrize(("name", "version"), INVALID)
def test_what_kafka_refuses(name: str, version: str) -> None:
    assert not is_valid_software(name, version)
