"""What a JoinGroup, SyncGroup or LeaveGroup says: pointers into the message, put down by the marks of its field_plan (`field_plan.pxd`)."""

from libc.stdint cimport INT32_MIN, int32_t
from libc.string cimport memset

from protocol.field_plan cimport (
    ENTRY_ERROR, ENTRY_NAME, ENTRY_REASON, TOP_GENERATION, TOP_MEMBER, TOP_REASON, TOP_REBALANCE_TIMEOUT, TOP_SESSION_TIMEOUT,
)
from wire.cursor cimport Bytes
from wire.grown cimport grown

cdef enum:
    # Texts and bytes of the message, in the order of their marks
    GROUP_MEMBER = 0
    GROUP_INSTANCE = 1
    GROUP_TYPE = 2
    GROUP_PROTOCOL = 3
    GROUP_LEADER = 4
    GROUP_ASSIGNMENT = 5
    GROUP_REASON = 6
    GROUP_TEXTS = 7

    # Of each member, or of each protocol that is offered, in the order of their marks
    EACH_NAME = 0
    EACH_INSTANCE = 1
    EACH_METADATA = 2
    EACH_REASON = 3
    EACH_TEXTS = 4

# NULL for null and for what is not there.
cdef struct TextSpan:
    Bytes at
    Py_ssize_t size

cdef struct GroupEntry:
    TextSpan texts[EACH_TEXTS]
    int32_t error_code  # INT32_MIN where it was not read

cdef struct GroupFields:
    TextSpan texts[GROUP_TEXTS]
    int32_t generation  # INT32_MIN where it was not read, as the others
    int32_t session_timeout_ms
    int32_t rebalance_timeout_ms
    GroupEntry* entries
    Py_ssize_t count
    Py_ssize_t room


cdef inline void group_clear(GroupFields* group) noexcept nogil:
    memset(&group.texts, 0, sizeof(group.texts))
    group.generation = group.session_timeout_ms = group.rebalance_timeout_ms = INT32_MIN
    group.count = 0


cdef inline bint entry_begin(GroupFields* group) noexcept nogil:
    """The next element; False without memory."""
    cdef GroupEntry* made = <GroupEntry*>grown(group.entries, &group.room, group.count + 1, 8, sizeof(GroupEntry))
    if made is NULL:
        return False
    group.entries = made
    memset(&made[group.count], 0, sizeof(GroupEntry))
    made[group.count].error_code = INT32_MIN
    group.count += 1
    return True


cdef inline void group_take_text(GroupFields* group, int mark, Bytes at, Py_ssize_t size) noexcept nogil:
    """Take a text, or bytes, that are not null."""
    cdef TextSpan* span
    if TOP_MEMBER <= mark <= TOP_REASON:
        span = &group.texts[(mark - TOP_MEMBER) >> 8]
    elif ENTRY_NAME <= mark <= ENTRY_REASON and group.count:
        span = &group.entries[group.count - 1].texts[(mark - ENTRY_NAME) >> 8]
    else:
        return
    span.at = at
    span.size = size


cdef inline void group_take_number(GroupFields* group, int mark, int32_t value) noexcept nogil:
    if mark == TOP_GENERATION:
        group.generation = value
    elif mark == TOP_SESSION_TIMEOUT:
        group.session_timeout_ms = value
    elif mark == TOP_REBALANCE_TIMEOUT:
        group.rebalance_timeout_ms = value
    elif mark == ENTRY_ERROR and group.count:
        group.entries[group.count - 1].error_code = value
