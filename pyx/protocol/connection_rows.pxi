# Part of tracker.pyx: connections whose rows are C structs of a series, as the bulk reader makes them.


cdef Connection row_connection(EventSink sink, SeriesState* series, bint joined_late, object asked, object known):
    """A connection whose rows go to a series.

    Arguments:
        sink: takes what Python's rules say; it owns the connection, and lives as long.
        series: has to stay as long.
        known: a connection of either twin that made events so far, None at its beginning. The native one is this connection from here on.
    """
    cdef Connection made
    series.classes = &CLASSES
    if known is None:
        made = Connection.__new__(Connection)
        made.series = series
        made.passing = ALL_BODIES
        made.open(joined_late, MAX_FRAME, asked)
    else:
        made = known if isinstance(known, Connection) else import_state(known)
        move_texts(made, series)
        made.state.is_tracked = made.state.asks = False
    made.sink = <PyObject*>sink
    return made


cdef int move_texts(Connection self, SeriesState* series) except -1:
    """A connection that made events names texts of its own: those of a series from here on."""
    cdef TextTable* own = &self.series.texts
    cdef int32_t number
    texts_mark(own)
    exchange_keep_texts(&self.state, own, series.plans.columns.texts)
    for number in range(own.count):
        if own.renamed[number] >= 0:
            own.renamed[number] = text_intern(&series.texts, own.bytes + own.offsets[number], own.offsets[number + 1] - own.offsets[number])
            if own.renamed[number] < 0:
                raise MemoryError
    exchange_rename_texts(&self.state, own, series.plans.columns.texts)
    own_free(self)
    self.series = series
    return 0


cdef void own_free(Connection self) noexcept:
    """Free what a connection has for itself."""
    if self.own is not NULL:
        series_close(self.own)
        free(self.own)
        self.own = NULL


cdef FieldPlans* field_plans() noexcept:
    """Return the field plans of the process."""
    return &BOOK


cdef class EventSink:
    """Takes what Python's rules say of a connection whose rows are C structs."""

    cdef int take_events(self, Connection connection, list events) except -1:
        raise NotImplementedError
