"""What a proxy between a client and its brokers does to frames: the client sees the proxy's addresses and its own names of topics.

Every broker has a port of its own at the proxy; the tenant's topics have a prefix at the broker, which the client does not know of. All
other bytes pass as they came. Run it as: python examples/rewrite_brokers.py
"""

from __future__ import annotations

import kwire
from kwire import messages
from kwire.codec.broker_addresses import BrokerAddress

PROXY, FIRST_PORT = "proxy.example.com", 20_000
PREFIX = "acme."
METADATA, VERSION = 3, 12


def address(found: BrokerAddress) -> tuple[str, int]:
    """Where clients reach a broker. Controllers, which DescribeQuorum lists, are not behind the proxy."""
    if found.listener == "CONTROLLER":
        return found.host, found.port
    return PROXY, FIRST_PORT + (found.node_id or 0)


def to_broker(frame: bytes) -> bytes:
    """A request as the broker is to see it; clients may send bytes behind it, which brokers pass over."""
    return kwire.rename_topics(frame, lambda name: PREFIX + name, strict=False)


def to_client(frame: bytes, api_key: int, api_version: int) -> bytes:
    """A response as the client is to see it."""
    renamed = kwire.rename_topics(frame, lambda name: name.removeprefix(PREFIX), api_key, api_version)
    return kwire.rewrite_brokers(renamed, address, api_key, api_version)


def main() -> None:
    topic = messages.MetadataRequest.MetadataRequestTopic(name="orders")
    header = messages.RequestHeader(api_key=METADATA, api_version=VERSION, correlation_id=7, client_id="shop")
    request = kwire.encode_request(header, messages.MetadataRequest(topics=[topic]))
    asked = kwire.decode_request(to_broker(request)).body
    print(f"the client asks for {topic.name}, the broker is asked for {asked.topics[0].name}")

    answer = messages.MetadataResponse(
        brokers=[messages.MetadataResponse.MetadataResponseBroker(node_id=node, host=f"10.0.0.{node}", port=9092) for node in (1, 2)],
        topics=[messages.MetadataResponse.MetadataResponseTopic(name=PREFIX + "orders")],
    )
    response = kwire.encode_response(7, answer, METADATA, VERSION)
    seen = kwire.decode_response(to_client(response, METADATA, VERSION), METADATA, VERSION).body
    for before, after in zip(answer.brokers, seen.brokers, strict=True):
        print(f"broker {after.node_id} at {before.host}:{before.port} is {after.host}:{after.port} to the client")
    print(f"the client is told of {seen.topics[0].name}")


if __name__ == "__main__":
    main()
