"""The native state of a connection, and what the connections of a series share: C structs all.

The readable contract is kwire/protocol: Connection, Exchange, ClientIdentity, Pairing and Waiting have the same attributes.

Bounded: each direction keeps at most one unfinished frame; at most `MAX_WAITING` requests wait, with what is kept of them, and at most
`MOST_CLIENT_IDS` client ids are counted, as in Python.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, int8_t, uint32_t, uint64_t, uint8_t

from protocol.request_rows cimport RequestRow
from protocol.topic_uses cimport TopicSums, TopicUse
from protocol.wire_frame cimport WireFrame

cdef enum FrameOutcome:
    FRAME_TAKEN = 0
    FALLBACK = 1  # nothing was changed: Python's rules take the frame

cdef enum:
    MAX_WAITING = 4096  # kwire.protocol.tracking.pairing.MAX_WAITING
    MOST_CLIENT_IDS = 256  # kwire.protocol.tracking.identity.MOST_CLIENT_IDS
    MOST_CLIENT_ID_TEXT = 1 << 16  # kwire.protocol.tracking.identity.MOST_CLIENT_ID_TEXT, in characters
    FEW_WAITING = 12  # that are looked through for an id
    MOST_SPARE = 64  # that were answered, and are kept for the next requests
    MOST_ORDINALS = 1 << 14

cdef enum SoftwareSource:
    # Indices in kwire.protocol.tracking.callbacks.SOURCES
    NOT_OBSERVED = 0
    NOT_SENT = 1
    FROM_API_VERSIONS = 2

cdef enum PeerRole:
    # Indices in kwire.protocol.tracking.callbacks.ROLES
    CLIENT = 0
    BROKER = 1
    CONTROLLER = 2

cdef enum ReportedRule:
    # Reported once per connection, and in Exchange._reported from then on
    REPORTED_REFUSED = 1
    REPORTED_PARTIAL = 2

cdef enum:
    SENT = 0  # in the order of sending
    SAME_SLOT = 1  # among those with the same bits of their id

# A request that waits for its response: kwire.protocol.tracking.pairing.Waiting.
cdef struct WaitingRequest:
    RequestRow row  # times are missing; of a raw SASL token nothing is filled in
    int64_t request_ns
    int64_t kept  # bytes that it keeps beyond what every request keeps
    int32_t losses
    int32_t response_breaks
    int32_t overtaken_by  # less those in the bits of the connection (`overtakes`)
    int32_t use_count
    int32_t body  # where the body begins in the payload
    bint damaged  # bytes of the request are lost behind the payload
    bint is_token  # a raw SASL token, which is answered by a frame without correlation id
    bint may_be_silent  # a Produce whose acks could not be read
    bint is_untimed  # the request's last byte was not seen
    bint is_lost  # its response is among bytes that are missing
    bint noted  # `uses` or `payload` hold what events of the exchange need
    Py_ssize_t size
    TopicUse* uses
    uint8_t* payload  # NULL where nothing is kept
    int64_t ordinal  # in the order of sending
    WaitingRequest* before[2]  # by the order: SENT or SAME_SLOT
    WaitingRequest* after[2]

# Some that were answered, for the next requests: one behind the other by SENT.
cdef struct SpareRequests:
    WaitingRequest* first
    int32_t count

# Those that wait, by the bits of their correlation ids: the first and the last one sent.
cdef struct WaitingSlot:
    WaitingRequest* first
    WaitingRequest* last

cdef struct ClientIdCount:
    int32_t client_id
    int64_t count

# Takes a frame with the row of its request, in place of events.
ctypedef int (*FrameReceiver)(PyObject* receiver, bint is_response, const RequestRow* row, const WireFrame* frame) except -1

cdef struct ExchangeState:
    int32_t connection  # ordinal in the series
    int32_t server  # text: its address and port
    int64_t begun  # packet, with the number of its file
    int64_t received[2]
    int64_t gaps
    int64_t bytes_lost
    int64_t frames[2]
    bint closed[2]
    int64_t first_seen  # NO_LONG before the first byte
    int64_t last_seen
    int8_t closed_by  # -1 neither, 0 client, 1 server
    bint reset
    bint is_kafka
    bint proven  # as in ExchangeState
    bint observed
    uint8_t reported
    int8_t source
    int8_t role
    int32_t software_name
    int32_t software_version
    int32_t named_name
    int32_t named_version
    int32_t instance_id
    uint8_t instance_bytes[16]
    int32_t principal
    PyObject* sasl  # a kwire.protocol.sasl.SaslState, NULL before the first exchange
    bint sasl_pending
    bint sasl_counts  # the tokens of its mechanism are so many, and the answer to none is lost
    bint is_unheard_full  # kwire.protocol.tracking.exchange.MAX_UNHEARD violations wait for the server's first answer
    int32_t judge_client_id
    int32_t last_api  # api key, NO_INT before the first request
    int64_t requests
    int64_t unanswered
    bint introduced  # as in ClientIdentity
    bint doubted
    bint server_unseen  # no packet of the server is in the capture
    int64_t last_answered  # NO_LONG for none
    int32_t losses
    int32_t response_breaks
    ClientIdCount* client_ids
    int32_t client_id_count
    int32_t client_id_room
    int32_t client_id_text  # characters of all of them
    int32_t last_client  # the ordinal of the one that was counted last
    int64_t refused_index  # NO_LONG for none; see Tracked.refused
    int32_t refused_key
    int32_t refused_version
    PyObject* advertised
    WaitingRequest* waiting  # the first that was sent
    WaitingRequest* waiting_last
    int32_t waiting_count
    int64_t waiting_kept
    int32_t waiting_uneven  # raw tokens, and requests that may be silent
    int64_t waiting_next  # the ordinal of the next one
    uint64_t* overtaking  # a bit at the ordinal of each request answered before an earlier one; MOST_ORDINALS of them, NULL for none
    WaitingSlot* slots  # by id; NULL while few wait
    uint32_t slot_mask
    TopicSums topics
    # what follows is of a kwire.protocol.Connection
    bint is_tracked  # what exchanges say becomes events
    bint joined_late
    bint requests_lost
    bint missing  # bytes of the connection were not seen, or its beginning
    bint seeks_responses  # the border of responses is not known now
    bint is_unclear  # as in kwire.protocol.tracking.pairing.Pairing
    bint sasl_raw
    bint reports_frames
    FrameReceiver take_frame  # NULL where frames and rows become events
    PyObject* receiver  # borrowed
    bint asks  # frames of a message are asked for
    const uint8_t* ways  # by api key, what is done with its bodies; NULL where all are read
    PyObject* events  # the list that they are added to; borrowed
    PyObject* reported_rules  # a set: rules of severity info that were reported; NULL for none


cdef inline object sasl_object(const ExchangeState* exchange):
    return None if exchange.sasl is NULL else <object>exchange.sasl
