"""`--to HOST:PORT` over each security protocol of a real broker, and against librdkafka's mock, held against what its own client meets."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient

from kwire.analysis.named_targets import named_targets
from kwire.analysis.release_ranges import target_range
from kwire.analysis.verdicts import Use, judge
from kwire.cli.target_option import target_of
from kwire.errors import InputError
from kwire.schema import Target, catalog, releases

KFAKE = "v0.0.0-20260918054303-01f206a7e32c"
PLAIN = 'sasl.mechanism=PLAIN\nsasl.jaas.config=PlainLoginModule required username="alice" password="{}";\n'
SCRAM = 'sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config=ScramLoginModule required username="alice" password="{}";\n'


@pytest.mark.matrix
@pytest.mark.xdist_group("kafka")
@pytest.mark.parametrize(
    ("port", "properties", "password"),
    [
        ("plain", "security.protocol=PLAINTEXT\n", ""),
        ("sasl", f"security.protocol=SASL_PLAINTEXT\n{PLAIN}", "secret"),
        ("sasl", f"security.protocol=SASL_PLAINTEXT\n{SCRAM}", "scrambled"),
        ("sasl_tls", f"security.protocol=SASL_SSL\n{PLAIN}", "secret"),
        ("sasl_tls", f"security.protocol=SASL_SSL\n{SCRAM}", "scrambled"),
        ("tls", "security.protocol=SSL\n", ""),
    ],
)
def test_a_release_over_each_security_protocol(
    kafka_broker: Callable[[str], Any], broker_certificate: Any, tmp_path: Path, port: str, properties: str, password: str
) -> None:
    newest = releases().newest
    broker = kafka_broker(newest.name)
    config = tmp_path / "client.properties"
    stores = f"ssl.truststore.type=PEM\nssl.truststore.location={broker_certificate.truststore}\n"
    if port == "tls":  # which asks for a client's certificate
        stores += f"ssl.keystore.type=PEM\nssl.keystore.location={broker_certificate.keystore}\n"
    config.write_text(properties.format(password) + stores)
    found = target_of(f"127.0.0.1:{getattr(broker, port)}", str(config))
    assert not isinstance(found, Target)
    assert found.minor == newest.minor
    if password:
        config.write_text(properties.format("guessed") + stores)
        with pytest.raises(InputError, match=r"refuses to log in 'alice': .*SASL_AUTHENTICATION_FAILED") as raised:
            target_of(f"127.0.0.1:{getattr(broker, port)}", str(config))
        assert "guessed" not in str(raised.value)


@pytest.mark.xdist_group("kafka")
def test_the_mock_of_librdkafka() -> None:
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1})
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    address = f"{broker.host}:{broker.port}"
    target = target_of(address, None)
    assert isinstance(target, Target)

    def verdict(api: str, version: int) -> str:
        key = catalog()[f"{api}Request"].api_key
        assert key is not None
        return judge(Use(api_name=api, api_version=version), target_range(target, key)).verdict

    # what the verdicts say of librdkafka's own requests, and what becomes of them
    outcome: list[Any] = []
    producer.produce("orders", b"1", on_delivery=lambda error, _message: outcome.append(error))
    assert producer.flush(10) == 0
    assert (outcome, verdict("Produce", 7)) == ([None], "compatible")
    admin = AdminClient({"bootstrap.servers": address})
    partition = confluent_kafka.TopicPartition("orders", 0, 1)
    with pytest.raises(confluent_kafka.KafkaException) as raised:
        admin.delete_records([partition], request_timeout=10)[partition].result()
    assert raised.value.args[0].code() == confluent_kafka.KafkaError._UNSUPPORTED_FEATURE
    assert verdict("DeleteRecords", 1) == "breaks"


@pytest.mark.matrix
@pytest.mark.xdist_group("kafka")
def test_kfake(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text((Path(__file__).parent / "clients" / "kfake.go").read_text())
    wanted = f"github.com/twmb/franz-go v1.22.3\nrequire github.com/twmb/franz-go/pkg/kfake {KFAKE}\n"
    (tmp_path / "go.mod").write_text(f"module kfake\n\ngo 1.26\n\nrequire {wanted}")
    for command in (["go", "mod", "tidy"], ["go", "build", "-o", "kfake", "."]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with subprocess.Popen([tmp_path / "kfake"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kfake:
        assert kfake.stdout is not None
        address = kfake.stdout.readline().strip()
        live = target_of(address, None)
        assert isinstance(live, Target)
        assert live.ranges == named_targets()["kfake-20260918"].ranges
        # kfake has Produce from v3 on; a client that does not negotiate sends v1
        assert delivered(address, {}) is None
        assert delivered(address, {"api.version.request": False, "broker.version.fallback": "0.9.0"}) is not None
        kfake.communicate()
    judged = [
        judge(Use(api_name="Produce", api_version=v, negotiates=n), target_range(live, 0)).verdict for v, n in ((10, True), (1, False))
    ]
    assert judged == ["compatible", "breaks"]


def delivered(address: str, settings: dict[str, Any]) -> Any:
    """Return the error of a record that is sent."""
    outcome: list[Any] = []
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "message.timeout.ms": 5000, **settings})
    producer.produce("orders", b"1", on_delivery=lambda error, _message: outcome.append(error))
    assert producer.flush(15) == 0
    return outcome[0]
