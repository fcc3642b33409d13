"""A connection between a client and a broker, watched without any socket: bytes and a clock value in, events out.

Run it as: python examples/track_a_connection.py
"""

from __future__ import annotations

from kwire import Connection
from kwire.protocol import RequestCompleted

# ApiVersions v3, correlation id 1, client id "c", software apache-kafka-java 2.4.0; and an answer that lists one api
REQUEST = bytes.fromhex("00000025 0012 0003 00000001 0001 63 00 12 6170616368652d6b61666b612d6a617661 06 322e342e30 00")
RESPONSE = bytes.fromhex("00000013 00000001 0000 02 0012 0000 0003 00 00000000 00")


def main() -> None:
    connection = Connection()
    events = connection.receive_request_bytes(REQUEST[:9], 1_000_000)  # bytes may come in any pieces
    events += connection.receive_request_bytes(REQUEST[9:], 1_000_000)
    events += connection.receive_response_bytes(RESPONSE, 3_500_000)
    for event in events:
        if isinstance(event, RequestCompleted):
            print(f"{event.api_name} v{event.api_version} by {event.client_id!r}: {event.state} after {event.latency_us} us")
    summary = connection.summary()
    print(f"the client is {summary.software_name} {summary.software_version}")


if __name__ == "__main__":
    main()
