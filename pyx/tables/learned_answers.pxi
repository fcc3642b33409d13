# Repeated answers of ApiVersions, Metadata and the like: only their times change


@cython.final
cdef class LearnedAnswer:
    """An answer without an error, and the lists of `SeriesFacts` that it fed; they end in a first and a last time."""

    cdef object server
    cdef object request  # where that too may name topics, else None
    cdef object response
    cdef list at_response  # the times are those of responses
    cdef list before_times  # of nodes: rack and cluster id
    cdef list at_request  # those of requests


cdef int move_times(list seen, object time) except -1:
    cdef Py_ssize_t last = len(seen) - 1
    if time is not None:
        if seen[last - 1] is None or <int64_t>time < <int64_t>seen[last - 1]:
            seen[last - 1] = time
        if seen[last] is None or <int64_t>time > <int64_t>seen[last]:
            seen[last] = time
    return 0


cdef inline bint is_same(KindFields fields, LearnedAnswer found, object server, object request, object response) except -1:
    """Whether this answer of a server, to a request that says the same, is the one that was found."""
    if found.server != server or (fields.asks_names and found.request is not request and found.request != request):
        return False
    # an answer to ApiVersions is read once, so it is one object
    return found.response is response or (fields.api_key != API_VERSIONS and found.response == response)


cdef bint learned_again(
    KindFields fields, object server, object request, object response, object arrived, object responded
) except -1:
    """Whether a server has given this answer before, and nothing else was learned of its nodes since; moves the times then."""
    cdef LearnedAnswer found
    cdef Py_ssize_t index, node
    for index, found in enumerate(fields.learned):
        if is_same(fields, found, server, request, response):
            for node, before in enumerate(found.before_times):
                if (<list>found.at_response[node])[:2] != before:
                    return False
            for seen in found.at_response:
                move_times(seen, responded)
            for seen in found.at_request:
                move_times(seen, arrived)
            if index:
                fields.learned.insert(0, fields.learned.pop(index))
            return True
    return False


cdef list learn(KindFields fields, object facts, object server, object request, object response, list events):
    """Take what an answer without an error teaches, and remember it; gives the other events."""
    cdef LearnedAnswer made = LearnedAnswer.__new__(LearnedAnswer)
    cdef list others = []
    made.server, made.response, made.at_response, made.before_times, made.at_request = server, response, [], [], []
    made.request = request if fields.asks_names else None
    for event in events:
        if type(event) is VersionsLearned:
            made.at_response = [facts.learn_versions(f"{server.address}:{server.port}", event)]
        elif type(event) is BrokersLearned:
            made.at_response = facts.learn_nodes(event)
            made.before_times = [each[:2] for each in made.at_response]
        elif type(event) is TopicsNamed:
            made.at_request = facts.learn_topics(event)
        else:
            others.append(event)
    if not others and len(made.at_response) + len(made.at_request) <= MOST_LEARNED_LISTS:
        for index, found in enumerate(fields.learned):
            if is_same(fields, found, server, request, response):
                del fields.learned[index]
                break
        fields.learned.insert(0, made)
        del fields.learned[MOST_LEARNED:]
    return others
