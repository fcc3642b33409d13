# Fields of messages that request logs need, by API and version


@cython.final
cdef class KindFields:
    """What is read of the messages of an api at a version: `ExchangeKind` as native code takes it."""

    cdef object kind
    cdef object api_name
    cdef int32_t api_key
    cdef int32_t api_version
    cdef int32_t header_version
    cdef list request_columns  # slot and path of each
    cdef list response_columns
    cdef tuple code_tree
    cdef bint has_top_error
    cdef object request_fields
    cdef str topics  # attribute of the array of topics; None where they lie deeper, or there are none
    cdef str topic_name  # as `RequestFields.topic_name`
    cdef object role  # what a peer is that uses the api; None where any client may
    cdef bint is_identifying  # its exchanges say who the client is
    cdef bint uses_topics
    cdef bint says_more
    cdef bint of_groups
    cdef bint asks_names  # its requests too may give names and ids of topics
    cdef bint has_topics  # a request may name some
    cdef list learned  # the latest distinct answers of `LearnedAnswer`; None where an exchange may say more
    cdef tuple shapes  # of `TOPIC_USERS`

    def __init__(self, kind):
        self.kind = kind
        key, self.api_name, version, header_version = kind.row
        self.api_key, self.api_version, self.header_version = key, version, int_or_none(header_version)
        self.role, self.uses_topics, self.says_more, self.of_groups = api_role(key), kind.uses_topics, kind.says_more, kind.of_groups
        self.is_identifying = not kind.may_be_client and self.role is None
        asked, answered = request_fields(key, version), response_fields(key, version)
        self.request_columns = [(slot, asked.columns[each.name]) for slot, each in enumerate(BODY_COLUMNS) if each.name in asked.columns]
        self.response_columns = [
            (slot, answered.columns[each.name]) for slot, each in enumerate(BODY_COLUMNS) if each.name in answered.columns
        ]
        self.code_tree, self.has_top_error = answered.code_tree, TOP_ERROR in answered.error_codes
        self.request_fields, self.topic_name = asked, asked.topic_name
        self.topics = asked.topics[0] if asked.topics is not None and len(asked.topics) == 1 else None
        self.has_topics, self.shapes = asked.topics is not None, TOPIC_USERS.get(key)
        self.asks_names = bool(naming_paths(key, version, False))
        self.learned = [] if kind.names_nodes or kind.names_topics or key == API_VERSIONS else None


cdef inline object value_at(object message, tuple path):
    """first_fields.first_value."""
    if len(path) == 1:
        value = getattr(message, path[0], None)
        if type(value) is not list and type(value) is not tuple:
            return value
    return first_value(message, path)


cdef int first_code(object struct, tuple tree) except? -1:
    """first_fields._first_code."""
    cdef int code
    for name, inner in tree:
        held = getattr(struct, name, None)
        if not inner:
            if held:
                return held
        elif type(held) is list:
            for each in <list>held:
                code = first_code(each, inner)
                if code:
                    return code
        elif held is not None:
            code = first_code(held, inner)
            if code:
                return code
    return 0


cdef inline int32_t error_code_of(KindFields fields, object response) except? -1:
    """first_fields.error_code_of, of a whole response."""
    cdef object top = getattr(response, "error_code", None) if fields.has_top_error else 0
    if top is None or not fields.code_tree:
        return INT32_MIN
    return top or first_code(response, fields.code_tree)


cdef inline bint is_consumer(object request):
    """Whether a Fetch is surely not a follower's (identity._is_replica)."""
    replica_id = getattr(request, "replica_id", -1)
    if replica_id >= 0:
        return False
    state = getattr(request, "replica_state", None)
    return state is None or state.replica_id < 0
