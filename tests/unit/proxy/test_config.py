"""The proxy's configuration: what is taken, and the sentence for what is not."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
import trustme
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat, load_pem_private_key
from jsonschema import Draft202012Validator

from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.proxy import load_config
from kwire.proxy.config import TlsConfig, UpstreamTlsConfig

LISTENER = '[[listeners]]\nlisten = ":19092"\nbroker = "kafka-1:9092"\nnode_id = 1\nadvertised = "proxy:19092"\n'

TENANTS = """
[[listeners]]
listen = ":19092"
broker = "b:9092"
node_id = 1
advertised = "p:19092"
tenant = "acme"

[[listeners]]
listen = ":29092"
broker = "b:9092"
node_id = 1
advertised = "p:29092"
tenant = "globex"

[tenants.acme]
prefix = "acme."

[tenants.globex]
prefix = "globex."
error_texts = "blank"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "proxy.toml"
    path.write_text(text)
    return path


def test_an_encrypted_key_is_refused(tmp_path: Path) -> None:
    """OpenSSL would ask for the password at the terminal, and keep the whole proxy waiting at a reload."""
    made = trustme.CA().issue_cert("proxy.example.com")
    key = load_pem_private_key(made.private_key_pem.bytes(), None)
    made.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    (tmp_path / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    files = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    for config in (TlsConfig(certificate=files[0], key=files[1]), UpstreamTlsConfig(certificate=files[0], key=files[1])):
        with pytest.raises(InputError, match=r"key\.pem cannot be used: the key is encrypted; write it without a password"):
            config.context()


def test_a_whole_configuration(tmp_path: Path) -> None:
    text = (
        'loop = "asyncio"\nthreads = 2\nunknown = "refuse"\nmax_frame = 1000000\nmetrics = "127.0.0.1:9400"\n'
        + LISTENER
        + '[addresses]\nlarge_answers = "hold"\n[versions]\ncap = "3.9"\n[rehearsal]\nrelease = "4.0"\nmode = "break"\n'
        + '[[refusals]]\nsoftware = "sarama"\nversion = "<1.30"\n'
        + f'[telemetry]\nfile = "{tmp_path / "pushed.jsonl"}"\nmetrics = ["org.apache.kafka.consumer."]\n'
    )
    config = load_config(written(tmp_path, text))
    assert (config.loop, config.threads) == ("asyncio", 2)
    assert (config.unknown, config.max_frame, config.addresses.large_answers) == ("refuse", 1_000_000, "hold")
    assert config.rehearsal is not None
    assert (config.rehearsal.release, config.rehearsal.mode) == ("4.0", "break")
    assert config.listeners[0].advertised == "proxy:19092"
    assert not (tmp_path / "pushed.jsonl").exists()  # only a running proxy writes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "no [[listeners]]"),
        ("listeners = []", "no [[listeners]]"),
        ("listeners = [", "is not TOML"),
        (LISTENER + "port = 1", "listeners[0]: object contains unknown field `port`"),
        (LISTENER.replace("node_id = 1", 'node_id = "one"'), "listeners[0].node_id: expected `int`, got `str`"),
        (LISTENER.replace(":19092", "19092", 1), "listen '19092' is not host:port"),
        (LISTENER + LISTENER.replace(":19092", ":19093", 1), "two listeners advertise one node_id"),
        (LISTENER + '[versions]\ncap = "9.9"', "unknown Kafka release 9.9"),
        (LISTENER + '[rehearsal]\nrelease = "4.0"\nmode = "brake"', "rehearsal.mode: invalid enum value 'brake'"),
        (LISTENER + '[tap]\nfile = "tap.pcapng"\nmax_files = 0', "tap.max_files: expected `int` >= 1"),
        ("threads = 0\n" + LISTENER, "threads: expected `int` >= 1"),
        ('loop = "epoll"\n' + LISTENER, "loop: invalid enum value 'epoll'"),
        (LISTENER + '[request_log]\nfile = "log.jsonl"\nsnaplen = 0', "request_log.snaplen: expected `int` >= 1"),
        (LISTENER + '[tap]\nfile = "x"\n[request_log]\nfile = "x"', "tap and request_log name one file"),
        (LISTENER + '[tap]\nfile = "x"\n[telemetry]\nfile = "x"', "tap and telemetry name one file"),
        (LISTENER + '[telemetry]\nfile = "x"\nmax_pushed = 0', "telemetry.max_pushed: expected `int` >= 1"),
        ("raw_sasl_tokens = true" + TENANTS + 'principals = ["User:g"]', "raw tokens hide the principal"),
        ("raw_sasl_tokens = true\n" + LISTENER + '[[refusals]]\nprincipal = "User:x"', "raw_sasl_tokens: raw tokens hide the principal"),
        (LISTENER + "[[quotas]]\nclient_id = 'x'", "a quota without a limit: write request_bytes"),
        (LISTENER + "[[quotas]]\nrequests = 0", "quotas[0].requests: expected `int` >= 1"),
        (LISTENER + "[[quotas]]\nrequests = 1\ntenant = 'acme'", "a quota is of tenant 'acme', and there is no [tenants.acme]"),
        (LISTENER + "[[refusals]]", "would refuse all clients"),
        (LISTENER + '[telemetry]\nfile = "x"\ninterval_ms = 1', "interval.ms is 1"),
        (LISTENER + '[listeners.tls]\ncertificate = "none.pem"\nkey = "none.key"', "none.pem and none.key cannot be used: No such file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(text: str, sentence: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as raised:
        load_config(path)
    assert sentence in str(raised.value)
    assert str(raised.value).startswith(str(path))
    result = CliRunner().invoke(commands, ["proxy", str(path), "--check"])
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("", "", ""),
        ('tenant = "acme"', 'tenant = "acme2"', "there is no [tenants.acme2]"),
        ('prefix = "acme."', 'prefix = ""', "1 to 100 letters"),
        ('prefix = "acme."', 'prefix = "a/b"', "1 to 100 letters"),
        ('prefix = "acme."', 'prefix = "globex.emea."', "'globex' would see the topics of 'acme'"),
        ('prefix = "acme."', 'prefix = "globex."', "would see the topics of"),
        ('prefix = "acme."', 'prefix = "globex_"', "may collide"),
        ('prefix = "acme."', 'prefix = "globex_emea."', "may collide"),
        ('tenant = "globex"', 'tenant = "acme"', "two listeners advertise one node_id"),
        ('"blank"', '"keep"', "tenants"),
        ('"blank"', '"blank"\nprincipals = ["User:g", "User:CN=g,O=x"]', ""),
        ('"blank"', '"blank"\nprincipals = []', "every client would be refused"),
        ('"blank"', '"blank"\nprincipals = ["globex"]', "write User:NAME"),
    ],
)
def test_tenants(old: str, new: str, wrong: str, tmp_path: Path) -> None:
    file = written(tmp_path, TENANTS.replace(old, new) if old else TENANTS)
    if wrong:
        with pytest.raises(InputError) as raised:
            load_config(file)
        assert wrong in str(raised.value)
    else:
        assert load_config(file).tenants.keys() == {"acme", "globex"}


@pytest.mark.parametrize("key", ["client_ca", "ca"])
@pytest.mark.parametrize("kind", ["nothing", "a key", "revocations", "no name"])
def test_a_truststore_without_a_certificate(key: str, kind: str, tmp_path: Path) -> None:
    """Without this, `ca` would trust the system's authorities or nobody, and the fault would show with the first client."""
    made = trustme.CA().issue_cert("proxy.example.com")
    signer = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(timezone.utc)
    named = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")])
    revocations = x509.CertificateRevocationListBuilder(named, now, now + timedelta(1)).sign(signer, hashes.SHA256())
    texts = {"nothing": b"", "a key": made.private_key_pem.bytes(), "revocations": revocations.public_bytes(Encoding.PEM)}
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(texts.get(kind, b""))
    made.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "own.pem"))
    own = f'certificate = "{tmp_path / "own.pem"}"\nkey = "{tmp_path / "own.pem"}"\n'
    table = f'[listeners.{"tls" if key == "client_ca" else "upstream_tls"}]\n{own}{key} = "{"" if kind == "no name" else trusted}"\n'
    with pytest.raises(InputError, match="cannot be used: expected certificates"):
        load_config(written(tmp_path, LISTENER + table))


SECOND = LISTENER.replace("node_id = 1", "node_id = 2")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        *((f"{key} = -1\n{LISTENER}", f"{key}: expected `int` >= 1") for key in (
            "max_frame", "max_held", "max_held_in_all", "max_connections", "max_connections_of_address", "max_handshakes_of_address",
            "max_rate_of_address",
        )),
        *((f"{key} = {value}\n{LISTENER}", f"{key}: expected `float` >") for value in ("-0.5", "-inf", "nan") for key in (
            "first_frame_seconds", "connect_seconds", "drain_seconds",
        )),
        ("first_frame_seconds = 0\n" + LISTENER, "first_frame_seconds: expected `float` > 0"),
        ("connect_seconds = inf\n" + LISTENER, "connect_seconds: expected `float` <= 86400"),
        ("max_frame = 2147483648\n" + LISTENER, "max_frame: expected `int` <= 2147483647"),
        (LISTENER.replace("kafka-1:9092", ":0"), "broker ':0' needs a host and a port from 1 to 65535"),
        (LISTENER.replace("kafka-1:9092", ":9092"), "broker ':9092' needs a host"),
        (LISTENER.replace("proxy:19092", "localhost:0"), "advertised 'localhost:0' needs a host and a port"),
        (LISTENER.replace("node_id = 1", ""), "advertised 'proxy:19092' needs the node_id of its broker"),
        (LISTENER + SECOND, "listen ':19092' and listen ':19092' are one port"),
        (LISTENER.replace(":19092", "0.0.0.0:19092", 1) + SECOND.replace(":19092", "10.0.0.1:19092", 1), "are one port"),
        (LISTENER.replace(":19092", "[::]:19092", 1) + SECOND.replace(":19092", "[::1]:19092", 1), "are one port"),
        ('metrics = "127.0.0.1:19092"\n' + LISTENER, "listen ':19092' and metrics '127.0.0.1:19092' are one port"),
    ],
)  # fmt: skip
def test_the_check_refuses_a_configuration_that_cannot_work(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        load_config(written(tmp_path, text))
    assert sentence in str(raised.value)


@pytest.mark.parametrize(("one", "other"), [("0.0.0.0", "[::1]"), ("127.0.0.1", "127.0.0.2"), ("[::]", "10.0.0.1")])
def test_addresses_that_share_a_port_number_alone(one: str, other: str, tmp_path: Path) -> None:
    text = LISTENER.replace(":19092", f"{one}:19092", 1) + SECOND.replace(":19092", f"{other}:19092", 1)
    assert len(load_config(written(tmp_path, text)).listeners) == 2


def test_the_published_schema() -> None:
    schema = json.loads((Path(__file__).parents[3] / "docs" / "reference" / "proxy.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    check = Draft202012Validator(schema)
    assert check.is_valid(msgspec.toml.decode(TENANTS))
    for text in ("port = 1\n", "max_frame = -1\n", 'loop = "epoll"\n', "connect_seconds = 0\n", "[tap]\n"):
        assert not check.is_valid(msgspec.toml.decode(text)), text


def test_the_command_checks_a_listener_without_a_file() -> None:
    result = CliRunner().invoke(commands, ["proxy", "--listen", ":19092", "--broker", ":0", "--check"])
    assert result.exit_code == 1
    assert "broker ':0' needs a host" in result.stderr


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_config(tmp_path / "none.toml")


def test_the_command_checks_a_configuration(tmp_path: Path) -> None:
    file = written(tmp_path, LISTENER)
    result = CliRunner().invoke(commands, ["proxy", str(file), "--check"])
    assert (result.exit_code, result.output) == (0, f"{file}: valid (1 listener)\n")


@pytest.mark.parametrize(
    "arguments",
    [[], ["--listen", ":1"], ["x.toml", "--listen", ":1", "--broker", "b:1"], ["--listen", ":1", "--broker", "b:1", "--break"]],
)  # fmt: skip
def test_options_that_do_not_go_together(arguments: list[str]) -> None:
    result = CliRunner().invoke(commands, ["proxy", *arguments])
    assert result.exit_code == 2
