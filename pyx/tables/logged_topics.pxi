# Use of topics by exchanges of a request log: the native form of `kwire.tables.request_logs.topics`


cdef inline object sum_of(object sums, tuple place, object time_ns, object acks):
    """observed_rows.TopicSums.request."""
    found = (<dict>sums.sums).get(place)
    if found is None or (acks is not None and acks not in <set>found.acks):
        return sums.request(place, time_ns, acks)
    found.requests += 1
    found.seen += 1
    if time_ns is not None:
        if found.first is None or <int64_t>time_ns < <int64_t>found.first:
            found.first = time_ns
        if found.last is None or <int64_t>time_ns > <int64_t>found.last:
            found.last = time_ns
    return found


cdef int add_topics(
    tuple shapes, object sums, object client_id, object acks, object time_ns, object request, object response, bint is_whole
) except -1:
    """kwire.tables.request_logs.topics.add_topics, of bodies that are not cut."""
    cdef dict counted = {}
    cdef set unseen = None
    cdef bint records, errors
    direction = "produce" if shapes[0].records else "fetch"
    for shape, message in zip(shapes, (request, response)):
        topics_name, name_name, partitions_name, number_name, records, errors = shape
        topics = getattr(message, topics_name, None)
        if not topics:
            continue
        for topic in topics:
            partitions = getattr(topic, partitions_name, None)
            name = (getattr(topic, name_name, None) or None) if name_name else None
            topic_id = getattr(topic, "topic_id", None)
            topic_id = None if topic_id is None else text_of_id(topic_id)
            if not partitions or (name is None and topic_id is None):
                continue
            place = (name, topic_id)
            found = counted.get(place)
            if found is None:
                found = counted[place] = sum_of(sums, (direction, name, topic_id, client_id), time_ns, acks)
                if not is_whole:
                    unseen = unseen or set()
                    unseen.add(place)
            numbers = found.partitions
            for partition in partitions:
                numbers.add(getattr(partition, number_name))
                if records:
                    found.bytes += getattr(partition, "records_size", None) or 0
                if errors:
                    code = partition.error_code
                    if code:
                        found.errors += 1
                        found.refused.add(code)
    for place in unseen or ():
        counted[place].seen -= 1
        counted[place].unseen += 1
    return 0
