"""The row of a connection that ends: where it has the columns of `connections`, and what a file's row sums up."""

from libc.stdint cimport int8_t, int32_t, int64_t

from capture.tcp_state cimport TcpState, tcp_refused
from protocol.request_rows cimport microseconds
from protocol.text_table cimport TextTable, text_copied

cdef enum:
    # Where a row has each column, as `connection_cells` names them
    SERIES = 0
    CAPTURE = 1
    CONNECTION_ID = 2
    CLIENT_KEY = 3
    CLIENT_ADDRESS = 4
    CLIENT_PORT = 5
    SERVER_ADDRESS = 6
    SERVER_PORT = 7
    PROXIED_ADDRESS = 8
    NODE_ID = 9
    FIRST_SEEN = 10
    LAST_SEEN = 11
    REQUEST_FRAMES = 12
    RESPONSE_FRAMES = 13
    REQUEST_BYTES = 14
    RESPONSE_BYTES = 15
    GAPS = 16
    BYTES_CUT = 17
    RETRANSMISSIONS = 18
    STATE = 19
    CLOSED_BY = 20
    LAST_API_NAME = 21
    PROTOCOL = 22
    TLS_VERSION = 23
    TLS_CIPHER = 24
    TLS_SNI = 25
    TLS_ALPN = 26
    TLS_CLIENT_SUBJECT = 27
    TLS_DECRYPTED = 28
    TLS_JA3 = 29
    TLS_JA4 = 30
    SASL_MECHANISM = 31
    ATTEMPTED_PRINCIPAL = 32
    PRINCIPAL = 33
    AUTH_FAILURES = 34
    SOFTWARE_NAME = 35
    SOFTWARE_VERSION = 36
    IDENTITY_SOURCE = 37
    CLIENT_ID = 38
    CLIENT_INSTANCE_ID = 39
    ROLE = 40

# What the row of a connection needs of the protocol.
cdef struct ConnectionTotals:
    int64_t request_frames
    int64_t response_frames
    int64_t request_bytes
    int64_t response_bytes
    int64_t bytes_opaque
    int64_t auth_failures
    int64_t refused_index  # as in Tracked.refused; NO_LONG for none
    int32_t refused_key
    int32_t refused_version
    int32_t last_api  # api key, NO_INT for none
    int32_t proxied_address  # texts from here on
    int32_t software_name
    int32_t software_version
    int32_t client_id
    int32_t client_instance_id
    int32_t sasl_mechanism
    int32_t attempted_principal
    int32_t principal
    int8_t state
    int8_t closed_by  # -1, or 0 for the client, 1 for the server
    int8_t source
    int8_t role

# kwire.tables.row_sink.FileCounts
cdef struct FileTotals:
    int64_t connections
    int64_t refused
    int64_t joined_late
    int64_t one_way
    int64_t bytes_lost
    int64_t bytes_opaque
    int64_t bytes_decrypted
    int64_t requests
    int64_t unanswered
    int64_t unseen


cdef inline tuple connection_cells():
    return (
        "series", "capture", "connection_id", "client_key", "client_address", "client_port", "server_address", "server_port",
        "proxied_address", "node_id", "first_seen", "last_seen", "request_frames", "response_frames", "request_bytes", "response_bytes",
        "gaps", "bytes_cut", "retransmissions", "state", "closed_by", "last_api_name", "protocol", "tls_version", "tls_cipher", "tls_sni",
        "tls_alpn", "tls_client_subject", "tls_decrypted", "tls_ja3", "tls_ja4", "sasl_mechanism", "attempted_principal", "principal",
        "auth_failures", "software_name", "software_version", "identity_source", "client_id", "client_instance_id", "role",
    )


cdef inline bint was_refused(const TcpState* tcp) noexcept nogil:
    """A SYN that nothing but a RST answered (RowSink): TcpConnection.refused."""
    return tcp.opened_by >= 0 and tcp_refused(tcp)


cdef inline void count_connection(FileTotals* totals, const TcpState* tcp, int64_t bytes_opaque) noexcept nogil:
    totals.connections += 1
    totals.refused += was_refused(tcp)
    totals.joined_late += tcp.opened_by < 0
    totals.one_way += not (tcp.flows[0].packets and tcp.flows[1].packets)
    totals.bytes_lost += tcp.flows[0].bytes_lost * (tcp.flows[0].packets > 0) + tcp.flows[1].bytes_lost * (tcp.flows[1].packets > 0)
    totals.bytes_opaque += bytes_opaque


cdef inline int put_counters(int64_t* row, const TcpState* tcp, const ConnectionTotals* summary) noexcept nogil:
    """Fill in the numbers of TCP and of the protocol."""
    row[FIRST_SEEN], row[LAST_SEEN] = microseconds(tcp.first_ns), microseconds(tcp.last_ns)
    row[REQUEST_FRAMES], row[RESPONSE_FRAMES] = summary.request_frames, summary.response_frames
    row[REQUEST_BYTES], row[RESPONSE_BYTES] = summary.request_bytes, summary.response_bytes
    row[GAPS] = tcp.flows[0].gaps * (tcp.flows[0].packets > 0) + tcp.flows[1].gaps * (tcp.flows[1].packets > 0)
    row[BYTES_CUT] = tcp.flows[0].bytes_cut + tcp.flows[1].bytes_cut
    row[RETRANSMISSIONS] = tcp.flows[0].retransmissions + tcp.flows[1].retransmissions
    row[AUTH_FAILURES] = summary.auth_failures
    return 0


cdef inline int put_texts(int64_t* row, const ConnectionTotals* summary, TextTable* said, const TextTable* texts) except -1:
    """Fill in what the protocol says as text; the row's texts are numbers in `said`."""
    row[PROXIED_ADDRESS] = text_copied(said, texts, summary.proxied_address)
    row[SASL_MECHANISM] = text_copied(said, texts, summary.sasl_mechanism)
    row[ATTEMPTED_PRINCIPAL] = text_copied(said, texts, summary.attempted_principal)
    row[PRINCIPAL] = text_copied(said, texts, summary.principal)
    row[SOFTWARE_NAME] = text_copied(said, texts, summary.software_name)
    row[SOFTWARE_VERSION] = text_copied(said, texts, summary.software_version)
    row[CLIENT_ID] = text_copied(said, texts, summary.client_id)
    row[CLIENT_INSTANCE_ID] = text_copied(said, texts, summary.client_instance_id)
    return 0
