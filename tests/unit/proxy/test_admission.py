"""Which clients a proxy lets in, and how many lines it logs about them."""

from __future__ import annotations

import logging

import pytest

from kwire.proxy.admission import Admission, Slot
from kwire.proxy.config import ListenerConfig, ProxyConfig
from kwire.proxy.quiet_log import QuietLog

PORT, OTHER_PORT = ":19092", ":19093"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def config(**limits: int) -> ProxyConfig:
    listeners = [ListenerConfig(listen=each, broker="kafka:9092", node_id=at) for at, each in enumerate((PORT, OTHER_PORT))]
    return ProxyConfig(listeners=listeners, **limits)


def entered(admission: Admission, limits: ProxyConfig, address: str, port: str = PORT) -> Slot:
    found = admission.enter(limits, port, address)
    assert isinstance(found, Slot)
    return found


def test_a_port_has_so_many_connections_and_gives_back_those_that_left() -> None:
    admission, limits = Admission(Clock()), config(max_connections=2)
    first = entered(admission, limits, "10.0.0.1")
    first.passed()
    entered(admission, limits, "10.0.0.2").passed()
    assert admission.enter(limits, PORT, "10.0.0.3") == "too_many"
    entered(admission, limits, "10.0.0.3", OTHER_PORT)
    first.left()
    entered(admission, limits, "10.0.0.3")


def test_clients_that_send_nothing_leave_half_of_the_connections_to_others() -> None:
    admission, limits = Admission(Clock()), config(max_connections=4)
    silent = [entered(admission, limits, f"10.0.0.{number}") for number in range(2)]
    assert admission.enter(limits, PORT, "10.0.0.9") == "too_many_handshakes"
    silent[0].passed()
    silent[0].passed()  # whole frames come again and again; a handshake ends once
    entered(admission, limits, "10.0.0.9")
    assert admission.enter(limits, PORT, "10.0.0.8") == "too_many_handshakes"
    silent[1].left()
    entered(admission, limits, "10.0.0.8")


def test_one_address_has_limits_of_its_own_over_all_ports() -> None:
    admission, limits = Admission(Clock()), config(max_connections_of_address=2, max_handshakes_of_address=1)
    one = entered(admission, limits, "10.0.0.1")
    assert admission.enter(limits, OTHER_PORT, "10.0.0.1") == "too_many_handshakes_of_address"
    one.passed()
    entered(admission, limits, "10.0.0.1", OTHER_PORT).passed()
    assert admission.enter(limits, PORT, "10.0.0.1") == "too_many_of_address"
    entered(admission, limits, "10.0.0.2")


def test_one_address_opens_so_many_connections_a_second() -> None:
    clock = Clock()
    admission, limits = Admission(clock), config(max_rate_of_address=2)
    for _ in range(2):
        entered(admission, limits, "10.0.0.1").left()
    assert admission.enter(limits, PORT, "10.0.0.1") == "too_fast"
    entered(admission, limits, "10.0.0.2").left()
    clock.now += 1
    entered(admission, limits, "10.0.0.1")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),  # one /64
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
    ],
)
def test_an_ipv6_network_is_one_client(one: str, other: str, is_same: bool) -> None:
    admission, limits = Admission(Clock()), config(max_connections_of_address=1)
    entered(admission, limits, one)
    assert (admission.enter(limits, PORT, other) == "too_many_of_address") is is_same


def test_nothing_is_kept_of_clients_that_left() -> None:
    clock = Clock()
    admission, limits = Admission(clock), config()
    for number in range(100):
        entered(admission, limits, f"10.0.0.{number}").left()
        clock.now += 1
    assert not admission.clients
    assert len(admission._came) <= 1


def test_one_line_a_second_for_each_reason_and_address(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    quiet = QuietLog(logging.getLogger("kwire.proxy"), clock)
    for _ in range(1000):
        quiet.warning("too_many", "10.0.0.1", "turned away")
    quiet.warning("too_many", "10.0.0.2", "another address")
    quiet.warning("tls_failed", "10.0.0.1", "another reason")
    assert caplog.messages == ["turned away", "another address", "another reason"]
    caplog.clear()
    quiet.flush()
    assert caplog.messages == []
    clock.now += 1
    quiet.warning("too_many", "10.0.0.1", "again")
    assert caplog.messages == ["turned away (and 998 more)", "again"]


def test_lines_that_were_left_out_are_counted_a_second_later_and_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    quiet = QuietLog(logging.getLogger("kwire.proxy"), clock)
    for number in range(4):
        quiet.warning("too_many", "10.0.0.1", f"port {number}")
    clock.now += 1
    quiet.flush()
    quiet.flush()
    assert caplog.messages == ["port 0", "port 3 (and 2 more)"]
    quiet.warning("too_many", "10.0.0.2", "port 5")
    quiet.warning("too_many", "10.0.0.2", "port 6")
    quiet.flush(everything=True)
    assert caplog.messages[2:] == ["port 5", "port 6"]


def test_a_cause_that_goes_on_is_said_less_and_less_often(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    quiet = QuietLog(logging.getLogger("kwire.proxy"), clock)
    for _ in range(600):  # a client tries again four times a second, 150 s long
        quiet.warning("broker_unreachable", "10.0.0.1", "closed", ":19092")
        clock.now += 0.25
        quiet.flush()
    assert len(caplog.messages) == 8  # at 0, 1, 3, 7, 15, 31, 63, 123
    quiet.flush(everything=True)
    assert sum(1 + getattr(each, "fields", {}).get("more", 0) for each in caplog.records) == 600
    clock.now += 120
    quiet.flush()
    quiet.warning("broker_unreachable", "10.0.0.1", "again", ":19092")
    assert caplog.messages[-1] == "again"
    quiet.warning("broker_unreachable", "10.0.0.1", "elsewhere", ":19093")
    assert caplog.messages[-1] == "elsewhere"


def test_a_flood_of_addresses_costs_bounded_memory() -> None:
    quiet = QuietLog(logging.getLogger("kwire.nowhere"), Clock())
    quiet._logger.setLevel(logging.CRITICAL)
    for number in range(20_000):
        quiet.warning("too_many", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", "turned away")
    assert len(quiet._said) <= 10_000
