"""`--to HOST:PORT` over each security protocol of a real broker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.cli.target_option import target_of
from kwire.errors import InputError
from kwire.schema import Target, releases

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
