"""Facts of the classes of kwire/protocol/events.py, for the whole process."""

from cpython.object cimport PyObject, PyTypeObject

from protocol.field_plans cimport KEYS
from protocol.request_rows cimport MOST_COLUMNS

# Where the slots of a RequestCompleted lie, and what rows share; for a whole process.
cdef struct EventClasses:
    PyTypeObject* row_type
    Py_ssize_t request_index, api_key, api_name, api_version, header_version, correlation_id, client_id, client_instance_id, software_name
    Py_ssize_t software_version, principal, request_time, response_time, latency_us, request_bytes, response_bytes, error_code
    Py_ssize_t first_topic, topic_count, state, body, packet_number, stream_offset
    Py_ssize_t columns[MOST_COLUMNS]  # that bodies feed
    PyObject* states[6]  # words, never released
    PyObject* bodies[5]
    PyObject* names[KEYS]  # of apis, NULL where they were not asked for
    PyObject* topics_used  # classes
    PyObject* partition_use
    PyObject* frame_seen
