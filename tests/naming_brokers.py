"""Brokers that name a cluster in their answers to Metadata, and a client that asks for it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import kwire
from kwire import messages
from listening_port import listening

Brokers = dict[int, str]


@contextmanager
def naming(brokers: Brokers) -> Iterator[str]:
    """A broker that answers ApiVersions, and Metadata v1 with `brokers` as they are then, and says its port as the controller."""

    def serve(connection: socket.socket) -> None:
        own = connection.getsockname()[1]
        with connection.makefile("rb") as stream:
            while size := stream.read(4):
                frame = stream.read(int.from_bytes(size, "big"))
                key, version = int.from_bytes(frame[:2], "big"), int.from_bytes(frame[2:4], "big")
                body: Any
                if key == 18:
                    entry = messages.ApiVersionsResponse.ApiVersion
                    body = messages.ApiVersionsResponse(
                        api_keys=[entry(api_key=k, min_version=0, max_version=v) for k, v in ((3, 1), (18, 3))]
                    )
                else:
                    node = messages.MetadataResponse.MetadataResponseBroker
                    ends = {node_id: each.rpartition(":") for node_id, each in brokers.items()}
                    nodes = [node(node_id=node_id, host=host, port=int(port)) for node_id, (host, _, port) in ends.items()]
                    body = messages.MetadataResponse(brokers=nodes, controller_id=own)
                answer = kwire.encode_response(int.from_bytes(frame[4:8], "big"), body, key, version)
                connection.sendall(len(answer).to_bytes(4, "big") + answer)

    with listening(serve) as address:
        yield address


def asked(port: int, tls: ssl.SSLContext | None = None, name: str = "") -> Any:
    """The answer of a port to Metadata v1; None if it closes the connection."""
    header = messages.RequestHeader(api_key=3, api_version=1, correlation_id=7, client_id="c")
    frame = kwire.encode_request(header, messages.MetadataRequest(topics=[]))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as plain, ExitStack() as opened:
        client = plain if tls is None else opened.enter_context(tls.wrap_socket(plain, server_hostname=name))
        stream = opened.enter_context(client.makefile("rb"))
        client.sendall(len(frame).to_bytes(4, "big") + frame)
        try:
            size = stream.read(4)
        except ConnectionError:
            return None
        return kwire.decode_response(stream.read(int.from_bytes(size, "big")), 3, 1).body if size else None
