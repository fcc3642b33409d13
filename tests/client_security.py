"""How a client connects, in the words of each library."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

MODULES = {"PLAIN": "plain.PlainLoginModule", "SCRAM-SHA-256": "scram.ScramLoginModule"}


@dataclass(frozen=True)
class Security:
    """PEM files for TLS (a certificate with its PKCS #8 key before it, as Java wants it), and a SASL mechanism; empty: unused."""

    ca: str = ""
    certificate: str = ""
    mechanism: str = ""
    user: str = ""
    password: str = ""

    @property
    def protocol(self) -> str:
        return ("SASL_" if self.mechanism else "") + ("SSL" if self.ca else "PLAINTEXT")

    def confluent(self) -> dict[str, str]:
        """Properties of librdkafka, with underscores."""
        return _given(
            security_protocol=self.protocol, ssl_ca_location=self.ca, ssl_certificate_location=self.certificate,
            ssl_key_location=self.certificate, sasl_mechanism=self.mechanism, sasl_username=self.user, sasl_password=self.password,
        )  # fmt: skip

    def python(self) -> dict[str, Any]:
        """Arguments of kafka-python and aiokafka."""
        found: dict[str, Any] = {"security_protocol": self.protocol}
        if self.ca:
            found["ssl_context"] = context = ssl.create_default_context(cafile=self.ca)
            if self.certificate:
                context.load_cert_chain(self.certificate)
        if self.mechanism:
            found |= {"sasl_mechanism": self.mechanism, "sasl_plain_username": self.user, "sasl_plain_password": self.password}
        return found

    def java(self) -> dict[str, str]:
        """Properties of Kafka's own clients."""
        found = {"security.protocol": self.protocol}
        if self.ca:
            found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": self.ca}
        if self.certificate:
            found |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": self.certificate}
        if self.mechanism:
            module = f"org.apache.kafka.common.security.{MODULES[self.mechanism]}"
            login = f'{module} required username="{self.user}" password="{self.password}";'
            found |= {"sasl.mechanism": self.mechanism, "sasl.jaas.config": login}
        return found

    def environment(self) -> dict[str, str]:
        return _given(
            KAFKA_CA=self.ca, KAFKA_CERT=self.certificate, KAFKA_KEY=self.certificate, KAFKA_MECHANISM=self.mechanism,
            KAFKA_USER=self.user, KAFKA_PASSWORD=self.password,
        )  # fmt: skip


def _given(**texts: str) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def write_certificate(made: trustme.LeafCert, path: Path) -> str:
    """Key and certificates in one file, the key in PKCS #8; gives its path."""
    key = load_pem_private_key(made.private_key_pem.bytes(), None).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(key + b"".join(each.bytes() for each in made.cert_chain_pems))
    return str(path)
