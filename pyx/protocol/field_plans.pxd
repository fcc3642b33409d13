"""Field plans of a process by api and version, each asked of `kwire.protocol.tracking.field_plans` when it is first needed."""

from cpython.object cimport PyObject
from libc.stdint cimport INT32_MIN, int32_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from protocol.field_plan cimport LEFT_TO_PYTHON, NOT_ASKED, READY, FieldPlan, field_plan_free, field_plan_load
from protocol.request_rows cimport MOST_COLUMNS, NO_TEXT
from wire.free_threading cimport flag_left, flag_taken, publish, published
from wire.raw_python cimport raw_incref

cdef enum:
    KEYS = 128
    VERSIONS = 32
    REQUEST_HEADERS = 3
    RESPONSE_HEADERS = 2

cdef enum Trait:
    # The numbers of kwire.protocol.tracking.field_plans.Trait
    PRODUCE = 1
    FETCH = 2
    API_VERSIONS = 4
    CONTROLLER_API = 8
    BROKER_API = 16
    LEARNS = 32
    KEEPS_REQUEST = 64
    WATCHED = 128
    WATCHED_ON_ERROR = 256
    USES_TOPICS = 512
    SASL = 1024
    CHECKS_GROUP = 2048

# The columns of `requests` that bodies feed (kwire.protocol.row_columns), by their slots in a `RequestRow`.
cdef struct BodyColumns:
    PyObject* names  # a tuple, never released
    int32_t count
    uint32_t texts  # bit sets of slots: those that are texts
    uint32_t of_requests  # those that requests feed, and not responses
    int32_t acks  # slots of those that the tracker itself reads
    int32_t group_id
    int32_t nulls[MOST_COLUMNS]  # what a row has where nothing is known

# How to read each api version, for a whole process; a field_plan is made when it is first needed.
cdef struct FieldPlans:
    FieldPlan* requests  # KEYS * VERSIONS
    FieldPlan* responses
    FieldPlan request_headers[REQUEST_HEADERS]
    FieldPlan response_headers[RESPONSE_HEADERS]
    FieldPlan up_to_acks[VERSIONS]  # of a Produce, by version
    BodyColumns columns


cdef inline void plans_close(FieldPlans* plans) noexcept:
    cdef Py_ssize_t index
    if plans.requests is not NULL and plans.responses is not NULL:
        for index in range(KEYS * VERSIONS):
            field_plan_free(&plans.requests[index])
            field_plan_free(&plans.responses[index])
    for index in range(REQUEST_HEADERS):
        field_plan_free(&plans.request_headers[index])
    for index in range(RESPONSE_HEADERS):
        field_plan_free(&plans.response_headers[index])
    for index in range(VERSIONS):
        field_plan_free(&plans.up_to_acks[index])
    free(plans.requests)
    free(plans.responses)
    memset(plans, 0, sizeof(FieldPlans))


cdef inline int field_plan_ask(FieldPlan* field_plan, str kind, int api_key, int version) except -1:
    """Make a field_plan, with what kwire.protocol.tracking.field_plans says."""
    from kwire.protocol.tracking.field_plans import field_plan_of

    cdef FieldPlan made
    known = field_plan_of(kind, api_key, version)
    memset(&made, 0, sizeof(FieldPlan))
    made.state = LEFT_TO_PYTHON
    try:
        if known is not None:
            field_plan_load(&made, known.plan, known.marks, known.defaults, known.traits, known.header_version)
            made.program.checks_text = known.checks_text
    finally:
        field_plan_keep(field_plan, &made)
    return 0


cdef inline void field_plan_keep(FieldPlan* field_plan, FieldPlan* made) noexcept:
    """Fill a field_plan, unless another thread was quicker. Its state is published last."""
    cdef int state = made.state
    while not flag_taken(&field_plan.filling):
        pass  # it is held for a few instructions
    if field_plan.state == NOT_ASKED:
        made.state, made.filling = NOT_ASKED, True
        field_plan[0] = made[0]
        publish(<int*>&field_plan.state, state)
    else:
        field_plan_free(made)
    flag_left(&field_plan.filling)


cdef inline const FieldPlan* known_plan(FieldPlan* plans, str kind, int api_key, int version) except? NULL:
    """Return the plan of a message; NULL for an api or a version that no release has. `kind` is `request` or `response`."""
    cdef FieldPlan* field_plan
    if not (0 <= api_key < KEYS and 0 <= version < VERSIONS):
        return NULL
    field_plan = &plans[api_key * VERSIONS + version]
    if published(<const int*>&field_plan.state) == NOT_ASKED:
        field_plan_ask(field_plan, kind, api_key, version)
    return field_plan


cdef inline const FieldPlan* ready_plan(FieldPlan* plans, str kind, int api_key, int version, int headers) except? NULL:
    """Return the plan of a message whose header has `headers` versions; NULL if Python must read it. Arguments as above."""
    cdef const FieldPlan* known = known_plan(plans, kind, api_key, version)
    return known if known is not NULL and known.state == READY and 0 <= known.header_version < headers else NULL


cdef inline const FieldPlan* acks_plan(FieldPlans* plans, int version) except NULL:
    """kwire.protocol.tracking.passing.plan_up_to_acks, of a released version."""
    cdef FieldPlan* field_plan = &plans.up_to_acks[version]
    if published(<const int*>&field_plan.state) == NOT_ASKED:
        field_plan_ask(field_plan, "up_to_acks", 0, version)
    return field_plan


cdef inline int columns_open(BodyColumns* columns) except -1:
    """Take the numbers of columns from the table; an ImportError when a row has no room for them."""
    from kwire.protocol.row_columns import BODY_COLUMNS, MOST_BODY_COLUMNS

    cdef int slot
    if len(BODY_COLUMNS) > MOST_COLUMNS or MOST_BODY_COLUMNS != MOST_COLUMNS:
        raise ImportError(f"rows have room for {MOST_COLUMNS} columns that bodies feed, not for {len(BODY_COLUMNS)}")
    names = tuple([column.name for column in BODY_COLUMNS])
    columns.count = <int32_t>len(names)
    for slot in range(MOST_COLUMNS):
        columns.nulls[slot] = INT32_MIN
    for slot, column in enumerate(BODY_COLUMNS):
        if column.type not in ("int32", "string"):
            raise ImportError(f"column {column.name}: a body feeds int32 and string, not {column.type}")
        if column.type == "string":
            columns.texts |= <uint32_t>1 << <uint32_t>slot
            columns.nulls[slot] = NO_TEXT
        columns.of_requests |= <uint32_t>(column.source.side == "request") << <uint32_t>slot
    columns.acks, columns.group_id = names.index("acks"), names.index("group_id")
    raw_incref(<PyObject*>names)
    columns.names = <PyObject*>names
    return 0


cdef inline int plans_open(FieldPlans* plans) except -1:
    """Make an empty plans; only headers are read up, and the table of columns."""
    cdef int version
    memset(plans, 0, sizeof(FieldPlans))
    plans.requests = <FieldPlan*>calloc(KEYS * VERSIONS, sizeof(FieldPlan))
    plans.responses = <FieldPlan*>calloc(KEYS * VERSIONS, sizeof(FieldPlan))
    if plans.requests is NULL or plans.responses is NULL:
        plans_close(plans)
        raise MemoryError
    columns_open(&plans.columns)
    for version in range(REQUEST_HEADERS):
        field_plan_ask(&plans.request_headers[version], "request_header", -1, version)
    for version in range(RESPONSE_HEADERS):
        field_plan_ask(&plans.response_headers[version], "response_header", -1, version)
    return 0
