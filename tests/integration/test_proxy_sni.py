"""One port of the proxy for several brokers: the name in the TLS handshake says which, and clients are given such names."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

import kwire
from kwire import messages
from kwire.errors import InputError
from kwire.proxy.config import ProxyConfig, SniBroker, SniListenerConfig, TlsConfig
from kwire.proxy.config_file import load_config
from kwire.proxy.server import ProxyServer
from kwire.schema import releases
from proxied_clients import ALL, kafka_python
from proxied_sockets import LOOP
from threaded_proxy import free_port, running

DOMAIN = "kafka.test"
LISTENER = f"""
[[sni_listeners]]
listen = "127.0.0.1:9443"
domain = "{DOMAIN}"
tls = {{ certificate = "cert.pem", key = "key.pem" }}
brokers = [{{ node_id = 1, broker = "kafka-1:9092" }}, {{ node_id = 2, broker = "kafka-2:9092" }}]
"""


pytestmark = pytest.mark.usefixtures("loop")


@pytest.fixture
def tls(tmp_path: Path, authority: trustme.CA) -> TlsConfig:
    made = authority.issue_cert(f"*.{DOMAIN}")
    made.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    made.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    return TlsConfig(certificate=str(tmp_path / "cert.pem"), key=str(tmp_path / "key.pem"))


async def broker(node_id: int) -> asyncio.Server:
    """A broker that answers each Metadata request with the whole cluster, and says its own id as the controller's."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while size := await reader.read(4):
            frame = await reader.readexactly(int.from_bytes(size, "big"))
            entry = messages.MetadataResponse.MetadataResponseBroker
            brokers = [entry(node_id=each, host=f"kafka-{each}", port=9092) for each in (1, 2)]
            body = messages.MetadataResponse(brokers=brokers, controller_id=node_id)
            answer = kwire.encode_response(int.from_bytes(frame[4:8], "big"), body, 3, 1)
            writer.write(len(answer).to_bytes(4, "big") + answer)
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


@asynccontextmanager
async def proxied(tls: TlsConfig) -> AsyncIterator[ProxyServer]:
    made = [await broker(1), await broker(2)]
    ports = [each.sockets[0].getsockname()[1] for each in made]
    where = [SniBroker(node_id=node_id, broker=f"127.0.0.1:{port}") for node_id, port in enumerate(ports, 1)]
    sni = SniListenerConfig(listen="127.0.0.1:0", domain=DOMAIN, brokers=where, tls=tls, advertised_port=443)
    server = ProxyServer(ProxyConfig(sni_listeners=[sni], loop=LOOP["loop"]))  # type: ignore[arg-type]
    await server.open()
    try:
        yield server
    finally:
        await server.close(0.5)
        for each in made:
            each.close()


def framed(body: messages.MetadataRequest) -> bytes:
    frame = kwire.encode_request(messages.RequestHeader(api_key=3, api_version=1, correlation_id=7, client_id="c"), body)
    return len(frame).to_bytes(4, "big") + frame


async def metadata(server: ProxyServer, authority: trustme.CA, name: str | None) -> Any:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    context.check_hostname = name is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", server.ports[0], ssl=context, server_hostname=name or "")
    writer.write(framed(messages.MetadataRequest(topics=None)))
    size = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), 30), "big")
    found = kwire.decode_response(await reader.readexactly(size), 3, 1).body
    writer.close()
    return found


def test_the_name_says_which_broker(tls: TlsConfig, authority: trustme.CA) -> None:
    async def go() -> None:
        async with proxied(tls) as server:
            for node_id in (2, 1, 2):
                found = await metadata(server, authority, f"broker-{node_id}.{DOMAIN}")
                assert found.controller_id == node_id
                assert [(each.node_id, each.host, each.port) for each in found.brokers] == [
                    (1, "broker-1.kafka.test", 443),
                    (2, "broker-2.kafka.test", 443),
                ]

    asyncio.run(go())


def test_bootstrap_leads_to_the_brokers_in_turn(tls: TlsConfig, authority: trustme.CA) -> None:
    async def go() -> Counter[int]:
        async with proxied(tls) as server:
            return Counter([(await metadata(server, authority, f"Bootstrap.{DOMAIN}")).controller_id for _ in range(4)])

    assert asyncio.run(go()) == {1: 2, 2: 2}


@pytest.mark.parametrize("loop", ["native"], indirect=True)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_is_resumed_for_its_own_name_only(version: ssl.TLSVersion, tls: TlsConfig, authority: trustme.CA) -> None:
    """RFC 6066, 3: a server must not resume a session for another name."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    context.minimum_version = context.maximum_version = version
    request = framed(messages.MetadataRequest(topics=None))

    def asked(port: int, node_id: int, session: ssl.SSLSession | None) -> tuple[int, bool, ssl.SSLSession | None]:
        plain = socket.create_connection(("127.0.0.1", port), 30)
        with plain, context.wrap_socket(plain, server_hostname=f"broker-{node_id}.{DOMAIN}", session=session) as secured:
            secured.sendall(request)
            with secured.makefile("rb") as answers:
                frame = answers.read(int.from_bytes(answers.read(4), "big"))
            return kwire.decode_response(frame, 3, 1).body.controller_id, bool(secured.session_reused), secured.session

    async def go() -> list[tuple[int, bool]]:
        found, session = [], None
        async with proxied(tls) as server:
            for node_id in (1, 1, 2, 2):
                *said, session = await asyncio.to_thread(asked, server.ports[0], node_id, session)
                found.append(tuple(said))
        return found

    assert asyncio.run(go()) == [(1, False), (1, True), (2, False), (2, True)]


@pytest.mark.parametrize("name", ["broker-3.kafka.test", "kafka.test.example.com", None])
def test_other_names_fail_the_handshake(name: str | None, tls: TlsConfig, authority: trustme.CA, caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> None:
        async with proxied(tls) as server:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await metadata(server, authority, name)
            while ("", -1, "tls_failed") not in server.counts.ended:
                await asyncio.sleep(0.01)
            assert (await metadata(server, authority, f"broker-1.{DOMAIN}")).controller_id == 1

    asyncio.run(go())
    assert f"TLS asks for {name!r}," in caplog.text or (name is None and "TLS asks for no name," in caplog.text)


def test_names_that_no_broker_has_are_one_line_a_second(
    tls: TlsConfig, authority: trustme.CA, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with proxied(tls) as server:
            monkeypatch.setattr(server.quiet, "_clock", lambda: 1.0)
            for number in range(3):
                with pytest.raises((ssl.SSLError, ConnectionError)):
                    await metadata(server, authority, f"broker-{number}.elsewhere.test")

    asyncio.run(go())
    lines = [each.getMessage() for each in caplog.records if "TLS asks for" in each.getMessage()]
    assert [line.partition(": ")[2] for line in lines] == [
        "TLS asks for 'broker-0.elsewhere.test', which is not a name of this listener",
        "TLS asks for 'broker-2.elsewhere.test', which is not a name of this listener (and 1 more)",
    ]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (f'"{DOMAIN}"', '"*.kafka.test"', "'*.kafka.test' of an SNI listener is not a domain name"),
        ("node_id = 2", "node_id = 1", "two listeners advertise one node_id"),
        ("127.0.0.1:9443", "127.0.0.1:0", "set advertised_port"),
        ("tls = {", 'tenant = "acme"\ntls = {', "of tenant 'acme', and there is no [tenants.acme]"),
        ("tls = {", "t = {", "contains unknown field `t`"),
        ('"kafka-2:9092"', '"kafka-2"', "broker 'kafka-2' is not host:port"),
        (
            '[{ node_id = 1, broker = "kafka-1:9092" }, { node_id = 2, broker = "kafka-2:9092" }]',
            "[]",
            "SNI listener kafka.test has no brokers: add them, or [cluster]",
        ),
    ],
)
def test_the_configuration(old: str, new: str, sentence: str, tmp_path: Path, tls: TlsConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "proxy.toml"
    path.write_text(LISTENER)
    assert dict(load_config(path).sni_listeners[0].addresses()) == {1: ("broker-1.kafka.test", 9443), 2: ("broker-2.kafka.test", 9443)}
    assert old in LISTENER
    path.write_text(LISTENER.replace(old, new))
    with pytest.raises(InputError) as raised:
        load_config(path)
    assert sentence in str(raised.value)


@pytest.mark.xdist_group("kafka")
def test_a_real_client(kafka_broker: Callable[[str], Any], tls: TlsConfig, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> None:
    """kafka-python begins at the bootstrap name and is led to broker 1 under its own; both names resolve to the proxy."""
    looked_up: list[str] = []
    resolve = socket.getaddrinfo

    def resolved(host: Any, *more: Any, **given: Any) -> Any:
        if str(host).endswith(DOMAIN):
            looked_up.append(host)
            host = "127.0.0.1"
        return resolve(host, *more, **given)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    brokers = [SniBroker(node_id=1, broker=kafka_broker(releases().newest.name).address)]
    port = free_port()
    sni = SniListenerConfig(listen=f"127.0.0.1:{port}", domain=DOMAIN, brokers=brokers, tls=tls)
    with running(ProxyServer(ProxyConfig(sni_listeners=[sni], loop=LOOP["loop"]))):  # type: ignore[arg-type]
        found = kafka_python(
            f"bootstrap.{DOMAIN}:{port}", "by-name", shown=f"broker-1.{DOMAIN}:{port}", security_protocol="SSL", ssl_context=context
        )
    assert found == ALL
    assert set(looked_up) == {f"bootstrap.{DOMAIN}", f"broker-1.{DOMAIN}"}
