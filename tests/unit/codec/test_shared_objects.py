"""What threads may share, and what comes of sharing what is for one thread: in a Python without a GIL a second thread is refused with a
RuntimeError while a call runs, and nothing is lost or torn; in one with a GIL each call waits for it."""

from __future__ import annotations

import sysconfig
from typing import Any

import pytest

from kwire.codec import AddPrefix, Edit, EditChanges
from kwire.codec.classes import CompiledCatalog
from kwire.codec.columns import Columns
from kwire.codec.encoding import FrameWriter
from kwire.codec.impl import Twin, load_twin
from kwire.codec.splicing import FrameSplicer
from kwire.protocol.relay import RelayPlan
from kwire.schema import catalog
from threads_at_once import ROUNDS, THREADS, at_once

FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
# MetadataRequest v1 of correlation id 7 and client "c": one topic, "x"; the same with the prefix "a."
REQUEST = bytes.fromhex("0003 0001 00000007 0001 63 00000001 0001 78")
PREFIXED = bytes.fromhex("0003 0001 00000007 0001 63 00000001 0003 612e78")
# MetadataResponse v1: no brokers, controller 7, one topic "c" without error that is not internal, with partition 5 of leader 6
RESPONSE = bytes.fromhex("00000000 00000007 00000001 0000 0001 63 00 00000001 0000 00000005 00000006 00000000 00000000")
ROW = {
    "brokers": [],
    "controller_id": 7,
    "topics": [
        {
            "error_code": 0,
            "name": "c",
            "is_internal": False,
            "partitions": [{"error_code": 0, "partition_index": 5, "leader_id": 6, "replica_nodes": [], "isr_nodes": []}],
        }
    ],
}


@pytest.fixture
def source(twin: Twin) -> CompiledCatalog:
    return CompiledCatalog(catalog(), twin)


def heartbeat(number: int) -> bytes:
    """Heartbeat v0 of client "c": group "g", generation 1, member "m"; with its length."""
    return bytes.fromhex(f"00000015 000c 0000 {number:08x} 0001 63 0001 67 00000001 0001 6d")


def heartbeat_answer(number: int) -> bytes:
    """Its response without an error, with its length."""
    return bytes.fromhex(f"00000006 {number:08x} 0000")


# what all threads may use at once


def test_one_edit(source: CompiledCatalog) -> None:
    edit = Edit("request", 3, 1, EditChanges(topics=AddPrefix("a.")), source=source)
    assert at_once(lambda _: [b"".join(edit.pieces(REQUEST)) for _ in range(ROUNDS)]) == [[PREFIXED] * ROUNDS] * THREADS


def test_one_splicer_whose_names_change(source: CompiledCatalog) -> None:
    """The names are a dictionary of the caller's, which another thread fills and empties."""
    splicer, names = FrameSplicer(source), {"x": "a.x"}
    body, spliced = REQUEST[11:], PREFIXED[11:]

    def splice(number: int) -> set[bytes]:
        found = set()
        for _ in range(ROUNDS):
            if number == 0:
                names.pop("x", None)
                names["x"] = "a." + "x"
            else:
                found.add(splicer.splice(body, {"topics.name": names}, name="MetadataRequest", version=1))
        return found

    assert set().union(*at_once(splice)) <= {body, spliced}


def test_one_columns_reader(source: CompiledCatalog) -> None:
    columns = Columns(source)

    def read(_: int) -> list[Any]:
        return [columns.to_arrow("MetadataResponse", [RESPONSE, None], 1).to_pylist()[0] for _ in range(ROUNDS // 4)]

    assert at_once(read) == [[ROW] * (ROUNDS // 4)] * THREADS


def test_one_object_that_is_filled_when_it_is_looked_at(source: CompiledCatalog) -> None:
    """Whichever thread looks first, all see the same object of defaults."""
    kind = source.classes("FetchResponse")[0]
    partitions = [kind.PartitionData() for _ in range(ROUNDS)]

    def look(_: int) -> list[tuple[int, int, int]]:
        return [(id(each.diverging_epoch), id(each.current_leader), id(each.snapshot_id)) for each in partitions]

    found = at_once(look)
    assert all(each == found[0] for each in found)
    assert {each.current_leader.leader_id for each in partitions} == {-1}


def test_one_message_that_changes_while_it_is_written(source: CompiledCatalog) -> None:
    """A field is written as it was before or after a change of another thread, whole."""
    writer, kind = FrameWriter(source), source.classes("MetadataRequest")[0]
    message = kind(topics=[kind.MetadataRequestTopic(name="x")])
    texts = ("x", "a.x")

    def work(number: int) -> set[bytes]:
        found = set()
        for each in range(ROUNDS):
            if number % 2:
                found.add(writer.encode(message, 1))
            else:
                message.topics[0].name = "".join(texts[each % 2])  # a text of its own, which the next change lets go of
                message.topics = [message.topics[0]]
                assert message == message  # it reads all of it
        return found

    assert set().union(*at_once(work)) <= {REQUEST[11:], PREFIXED[11:]}


def test_relays_of_threads_may_count_in_the_same_counters(twin: Twin) -> None:
    module = load_twin("protocol", "relay", twin)
    counters, plan = module.RelayCounters(), RelayPlan()

    def exchange(_: int) -> int:
        relay = module.Relay(plan, counters=counters)
        for number in range(ROUNDS):
            relay.from_client(heartbeat(number), 1)
            relay.from_server(heartbeat_answer(number), 2)
        return relay.owed

    # without a GIL the counters of the pure twin are for one thread: there the relays come one after the other
    owed = [exchange(each) for each in range(THREADS)] if twin == "pure" and FREE else at_once(exchange)
    assert owed == [0] * THREADS
    assert [row["exchanges"] for row in counters.rows()] == [THREADS * ROUNDS]


# what is for one thread at a time; of the compiled twin, for without a GIL the pure one may say anything but crash


class Tried:
    """Calls of many threads that are let through or refused."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, function: Any, *arguments: Any) -> bool:
        said = ""
        try:
            function(*arguments)
        except RuntimeError as error:
            said = str(error)
        # A relay and a connection call Python while they work, so other threads may meet them with a GIL too.
        texts = (f"two threads use one {self.kind} at once", "two threads use a connection at once", "two calls use a relay at once")
        assert not said or said.startswith(texts)
        assert FREE or not said or self.kind in {"Relay", "Connection"}, "a thread was refused though there is a GIL"
        return not said


def test_a_connection_that_threads_share() -> None:
    connection, tried = load_twin("protocol", "tracker", "native").Connection(), Tried("Connection")

    def feed(number: int) -> int:
        frames = [heartbeat(number * ROUNDS + each) for each in range(ROUNDS)]
        return sum(tried(connection.receive_request_bytes, frame, each) for each, frame in enumerate(frames))

    taken = sum(at_once(feed))
    assert taken >= ROUNDS
    assert connection.received == {"request": 25 * taken, "response": 0}  # 21 bytes and their length
    assert connection.summary().requests == taken


def test_a_relay_that_threads_share() -> None:
    relay, tried = load_twin("protocol", "relay", "native").Relay(RelayPlan()), Tried("Relay")
    taken = sum(at_once(lambda _: sum(tried(relay.from_client, heartbeat(each), each) for each in range(100))))
    assert relay.owed == taken
    assert relay.is_idle is False


def test_a_detector_and_its_connection_have_one_turn() -> None:
    """The thread that asks for the connection does not read what the detector is writing."""
    detector = load_twin("protocol", "direction_detection", "native").DirectionDetector(50000, 9092, ports={9092})
    detector.opened(0, 1)
    feeds, looks = Tried("DirectionDetector"), Tried("Connection")
    connection = detector.connection

    def work(number: int) -> int:
        if number % 2:
            return sum(feeds(detector.receive, 0, heartbeat(each), each) for each in range(ROUNDS))
        return 0 * sum(looks(connection.summary) for _ in range(ROUNDS))

    taken = sum(at_once(work))
    assert detector.connection.received["request"] == 25 * taken


def test_columns_of_records_that_threads_share() -> None:
    columns, tried = load_twin("codec", "record_columns", "native").Columns(), Tried("Columns")
    assert sum(at_once(lambda _: sum(tried(columns.add_all, [b"", None], True, None) for _ in range(ROUNDS)))) >= ROUNDS


def test_a_call_inside_a_call_of_the_same_thread_is_let_through() -> None:
    """Rules of Python ask the connection about itself while it reads: here the name of a client, in an ApiVersions request."""
    connection = load_twin("protocol", "tracker", "native").Connection()
    connection.receive_request_bytes(bytes.fromhex("00000014 0012 0003 00000001 0001 63 00 05 6a617661 02 39 00"), 1)
    connection.receive_response_bytes(bytes.fromhex("0000000e 00000001 0000 01 00000000 00"), 2)
    assert connection.summary().software_name == "java"
