"""`--command-config`: TLS and SASL of a live cluster, from properties as Kafka's own tools take them."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from tests.scram_server import ScramCredential, ScramServer

from kwire import messages
from kwire.cli.entry import commands
from kwire.cluster.broker_session import Login
from kwire.cluster.client_properties import read_client_properties
from kwire.errors import InputError
from kwire.protocol.negotiation import NegotiatingBroker
from kwire.protocol.negotiation.outcomes import Send
from listening_port import listening

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="p\\\\"w";'
SCRAM = f"sasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config={JAAS}\n"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trust(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tls") / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return f"ssl.truststore.type=PEM\nssl.truststore.location={path}\n"


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "client.properties"
        path.write_text(text)
        return str(path)

    return write


@contextmanager
def broker(authority: trustme.CA | None, password: str = 'p"w', asks_for_certificates: bool = False, **more: Any) -> Iterator[str]:
    """A broker role, behind TLS where there is an authority, that knows alice by SCRAM and has the subscription x."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if authority is not None:
        authority.issue_cert("127.0.0.1").configure_cert(context)
    if authority is not None and asks_for_certificates:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    known = ScramCredential.of("SCRAM-SHA-256", password, b"salt")
    told = messages.ListConfigResourcesResponse
    answers = {74: lambda _: told(config_resources=[told.ConfigResource(resource_name="x", resource_type=16)])}

    def serve(wire: socket.socket) -> None:
        authenticate = ScramServer(lambda _, name: known if name == "alice" else None, "nonce")
        machine = NegotiatingBroker.of_release("4.1", mechanisms=["SCRAM-SHA-256"], authenticate=authenticate, answers=answers, **more)
        with suppress(OSError), context.wrap_socket(wire, server_side=True) if authority is not None else wire as channel:
            while not machine.over and (data := channel.recv(65536)):
                channel.sendall(b"".join(each.data for each in machine.receive(data, 0) if isinstance(each, Send)))

    with listening(serve) as address:
        yield address


def run(server: str, config: str, *more: str) -> Any:
    return CliRunner().invoke(commands, ["broker", "telemetry", "list", "--bootstrap-server", server, "--command-config", config, *more])


def test_tls_and_scram(written: Any, authority: trustme.CA, trust: str) -> None:
    config = written(f"security.protocol=SASL_SSL\n{SCRAM}{trust}")
    with broker(authority) as server:
        assert run(server, config).output == "x\n"
    with broker(authority, "another") as server:
        result = run(server, config)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "refuses to log in 'alice': Authentication failed during authentication due to invalid credentials" in result.stderr
        assert 'p"w' not in result.stderr


def test_stores_in_pkcs12(written: Any, authority: trustme.CA, tmp_path: Path) -> None:
    """A truststore with the authority, and a keystore with the client's key, as `keytool -storetype PKCS12` writes them."""
    mine = authority.issue_cert("alice.example")
    certificate = x509.load_pem_x509_certificate(mine.cert_chain_pems[0].bytes())
    key = serialization.load_pem_private_key(mine.private_key_pem.bytes(), None)
    ours = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
    locked = serialization.BestAvailableEncryption(b"se cret")
    trust, keys = tmp_path / "trust.p12", tmp_path / "keys.p12"
    trust.write_bytes(pkcs12.serialize_java_truststore([pkcs12.PKCS12Certificate(ours, b"ca")], locked))
    keys.write_bytes(pkcs12.serialize_key_and_certificates(b"alice", key, certificate, None, locked))
    stores = f"ssl.truststore.type=PKCS12\nssl.truststore.location={trust}\nssl.truststore.password=se cret\n"
    mutual = f"ssl.keystore.type=PKCS12\nssl.keystore.location={keys}\nssl.keystore.password=se cret\n"
    with broker(authority, asks_for_certificates=True) as server:
        assert run(server, written(f"security.protocol=SASL_SSL\n{SCRAM}{stores}{mutual}")).output == "x\n"
        assert run(server, written(f"security.protocol=SASL_SSL\n{SCRAM}{stores}"), "--timeout", "5").exit_code == 1
    with pytest.raises(InputError, match="cannot be read: Invalid password"):
        read_client_properties(written(f"security.protocol=SSL\n{stores.replace('se cret', 'wrong')}"))


def test_a_certificate_that_is_not_trusted_and_a_name_that_is_not_in_it(written: Any, authority: trustme.CA, trust: str) -> None:
    with broker(authority) as server:
        result = run(server, written(f"security.protocol=SASL_SSL\n{SCRAM}"))
        assert (result.exit_code, "do not agree on TLS" in result.stderr, "certificate" in result.stderr) == (1, True, True)
        port = server.rpartition(":")[2]
        named = written(f"security.protocol=SASL_SSL\n{SCRAM}{trust}")
        assert "do not agree on TLS: Hostname mismatch" in run(f"localhost:{port}", named).stderr
        free = written(f"security.protocol=SASL_SSL\n{SCRAM}{trust}ssl.endpoint.identification.algorithm=\n")
        assert run(f"localhost:{port}", free).output == "x\n"


def test_a_broker_without_tls(written: Any, trust: str) -> None:
    with broker(None) as server:
        assert "do not agree on TLS" in run(server, written(f"security.protocol=SSL\n{trust}"), "--timeout", "2").stderr
        assert run(server, written(f"security.protocol=SASL_PLAINTEXT\n{SCRAM}")).output == "x\n"


def test_one_login_is_enough(written: Any) -> None:
    result = run("127.0.0.1:1", written(f"security.protocol=SASL_PLAINTEXT\n{SCRAM}"), "--sasl-user", "bob")
    assert "Give one of --sasl-user and a --command-config with a login." in result.stderr


def test_the_form_of_java(written: Any) -> None:
    text = """\
        # a comment
        ! another
        bootstrap.servers = passed.over:9092
        security.protocol: sasl_plaintext
        sasl.mechanism  PLAIN
        sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required \\
            username=bob \\
            password="a b=\\u00e4;";
    """
    assert read_client_properties(written(text)) == (Login("bob", "a b=ä;", "PLAIN"), None)
    assert read_client_properties(written("")) == (None, None)


@pytest.mark.parametrize(("text", "why"), [
    ("security.protocol=TLS", "security.protocol is 'TLS', and may be PLAINTEXT, SSL"),
    ("security.protocol=SASL_SSL", "sasl.mechanism is 'GSSAPI', and kwire has PLAIN, SCRAM-SHA-256"),
    ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=x required username=a;", "has to name username and password"),
    ("security.protocol=SSL\nssl.truststore.location=/x.jks",
     "keytool -importkeystore -srckeystore /x.jks -srcstoretype JKS -destkeystore /x.p12 -deststoretype PKCS12"),
    ("security.protocol=SSL\nssl.keystore.location=/x.bks\nssl.keystore.type=BKS",
     "ssl.keystore.type is 'BKS', and kwire reads PEM and PKCS12"),
    ("security.protocol=SSL\nssl.keystore.location=/x.p12\nssl.keystore.type=PKCS12", "cannot be read: No such file"),
    ("sasl.mechanism=\\u00zz", "invalid escape"),
    ("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=/none.pem", "cannot be read: No such file"),
    ("security.protocol=SSL\nssl.truststore.certificates=nothing", "its certificates or keys cannot be read"),
])  # fmt: skip
def test_what_cannot_be_done_is_said(written: Any, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why.replace(".", r"\.")):
        read_client_properties(written(text))


@pytest.mark.parametrize("kind", ["PKCS12", "PEM", "text"])
def test_a_truststore_without_a_certificate(kind: str, written: Any, authority: trustme.CA, tmp_path: Path) -> None:
    """Such a truststore trusts nobody; it must not turn into that of the system."""
    key = serialization.load_pem_private_key(authority.issue_cert("x.example").private_key_pem.bytes(), None)
    store = tmp_path / "store"
    empty = pkcs12.serialize_key_and_certificates(None, key, None, None, serialization.NoEncryption())
    store.write_bytes(empty if kind == "PKCS12" else b"")
    given = "ssl.truststore.certificates=" if kind == "text" else f"ssl.truststore.type={kind}\nssl.truststore.location={store}"
    with pytest.raises(InputError, match="expected certificates"):
        read_client_properties(written(f"security.protocol=SSL\n{given}\n"))


def test_no_such_file() -> None:
    result = run("127.0.0.1:1", "/none/of.properties")
    assert (result.exit_code, result.stderr) == (1, "kwire: /none/of.properties cannot be read: No such file or directory.\n")
