"""How a connection ended, be it with packets that the capture lacks."""

from __future__ import annotations

import pytest

from kwire.capture.packet_columns import ACK, FIN, RST, SYN
from made_packets import CLIENT, SERVER, Packets
from read_by_twins import read_connections, sink_tables

ENDS = {
    # RFC 9293, 3.5.2: a RST is the answer of a port on which nobody listens
    "a RST answers the SYN": ([(CLIENT, SYN), (SERVER, RST | ACK)], "reset", "server", 1),
    # 3.6: both sides have ended, so there was a connection, although its SYN-ACK is not in the capture
    "FIN of both sides without SYN-ACK": ([(CLIENT, SYN), (CLIENT, FIN | ACK), (SERVER, FIN | ACK)], "complete", "client", 0),
    "FIN of the server first": ([(CLIENT, SYN), (SERVER, FIN | ACK), (CLIENT, FIN | ACK)], "complete", "server", 0),
    "FIN and RST without SYN-ACK": ([(CLIENT, SYN), (CLIENT, FIN | ACK), (SERVER, RST | ACK)], "reset", "client", 0),
    "an ACK answers the SYN": ([(CLIENT, SYN), (SERVER, ACK)], "open", None, 0),
    "all of it": ([(CLIENT, SYN), (SERVER, SYN | ACK), (CLIENT, FIN | ACK), (SERVER, FIN | ACK)], "complete", "client", 0),
}


@pytest.mark.parametrize("name", ENDS)
def test_state_and_refusal(name: str, twin: str) -> None:
    packets, state, closed_by, refused = ENDS[name]
    found = sink_tables(read_connections([[(side, flags, b"") for side, flags in packets]], twin))
    (row,), (counts,) = found["connections"], found["counts"]
    assert (row["state"], row["closed_by"], counts["refused"]) == (state, closed_by, refused)


def test_a_connection_that_is_silent_is_ended_and_another_one_is_not(twin: str) -> None:
    """Packets 1 to 3 are of the first connection, 4 to 6 of the second."""
    shaken: Packets = [(CLIENT, SYN, b""), (SERVER, SYN | ACK, b""), (CLIENT, ACK, b"")]
    found = sink_tables(read_connections([shaken, shaken], twin, silent_ns=10**18 + 4000))
    (row,) = found["connections"]
    assert (row["client_port"], row["state"], row["closed_by"]) == (20_000, "open", None)
