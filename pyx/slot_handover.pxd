"""A connection from C structs to Python and back: its TCP (`TcpConnection`), and what hangs on it (`Tracked`)."""

from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free

from lane_ends cimport SeriesRows
from lane_handover cimport exchange_export, exchange_import
from lane_series cimport LaneExchange
from lane_slots cimport IN_LANE, IN_PYTHON, STREAMS_ONLY, Slot, slot_free_exchange
from lane_tcp cimport tcp_export, tcp_import
from lane_texts cimport text_object, text_of
from raw_python cimport raw_incref, raw_xdecref

cdef enum:
    # How many packets with payload a connection stays in Python once it left its lane, at least; twice as many each time.
    PATIENCE = 4
    MOST_DOUBLINGS = 6


cdef inline object connection_of(Slot* slot, SeriesRows* rows, object kind):
    """The connection as Python sees it, as it is now; it leaves its lane.

    Arguments:
        kind: `TcpConnection`.
    """
    if slot.mode == IN_LANE:
        leave_lane(slot, rows, kind)
    return streams_of(slot, kind)


cdef inline object streams_of(Slot* slot, object kind):
    """Its TCP as Python sees it, as it is now."""
    if slot.connection is NULL:
        made = kind(<object>slot.key, slot.n, slot.tcp.first_ns)
        made.ignored = bool(slot.ignored)
        raw_incref(<PyObject*>made)
        slot.connection = <PyObject*>made
    if slot.mode != IN_PYTHON:
        tcp_export(&slot.tcp, <object>slot.connection)
    return <object>slot.connection


cdef inline int leave_lane(Slot* slot, SeriesRows* rows, object kind) except -1:
    """From a lane to Python's Conversation."""
    slot.mode = STREAMS_ONLY
    connection = streams_of(slot, kind)
    ends = connection.a, connection.b
    connection.attachment = exchange_export(
        slot.exchange, &rows.lanes, slot.client_side, ends[0].port, ends[1].port,
        text_object(&rows.places, slot.exchange.connection), ends[1 - slot.client_side],
    )
    slot_free_exchange(slot)
    slot.departures += 1
    slot.patience = PATIENCE << min(slot.departures, MOST_DOUBLINGS)
    return 0


cdef inline int enter_lane(Slot* slot, SeriesRows* rows) except -1:
    """From Python's Conversation to a lane, if all is regular."""
    connection = <object>slot.connection
    tracked = connection.attachment
    slot.patience = PATIENCE << min(slot.departures, MOST_DOUBLINGS)
    if tracked.server is None:
        return 0
    slot.client_side = 0 if tracked.server == connection.b else 1
    slot.exchange = <LaneExchange*>calloc(1, sizeof(LaneExchange))
    if slot.exchange is NULL:
        raise MemoryError
    if not exchange_import(
        slot.exchange, &rows.lanes, tracked, text_of(&rows.places, tracked.connection_id),
        text_of(&rows.lanes.texts, f"{tracked.server.address}:{tracked.server.port}"),
    ):
        free(slot.exchange)
        slot.exchange = NULL
        slot.departures += 1
        return 0
    slot.mode = IN_LANE
    raw_xdecref(slot.connection)
    slot.connection = NULL
    return 0


cdef inline int admit(Slot* slot, dict live) except -1:
    """Take TCP back from Python, unless something waits there; `live` holds the connections that are there."""
    if tcp_import(&slot.tcp, <object>slot.connection):
        slot.mode = STREAMS_ONLY
        del live[<object>slot.key]
    return 0
