# Part of tracker.pyx: the attributes of the pure twin, for its rules and for callers (kwire/protocol/tracking/connection.py).


def get_protocol(Connection self):
    """Connection.protocol."""
    cdef const Opening* opening = NULL if self.opened[REQUEST] else self.openings[REQUEST]
    if self.state.is_kafka:
        return "kafka"
    if self.protocol_name is not None:
        return self.protocol_name
    if opening is not NULL and opening.skipped and opening.size == opening.skipped:
        return "proxy"
    return "unknown" if self.state.received[0] or self.state.received[1] else "silent"


def get_joined_late(Connection self):
    return bool(self.state.joined_late)


def get_gaps(Connection self):
    return self.state.gaps


def set_gaps(Connection self, value):
    self.state.gaps = value


def get_bytes_lost(Connection self):
    return self.state.bytes_lost


def set_bytes_lost(Connection self, value):
    self.state.bytes_lost = value


def get_received(Connection self):
    return {"request": self.state.received[0], "response": self.state.received[1]}


def set_received(Connection self, value):
    self.state.received[0], self.state.received[1] = value["request"], value["response"]


def get_frames(Connection self):
    return {"request": self.state.frames[0], "response": self.state.frames[1]}


def set_frames(Connection self, value):
    self.state.frames[0], self.state.frames[1] = value["request"], value["response"]


def get_exchange(Connection self):
    return Exchange(self)


def get_hellos(Connection self):
    return self.hellos


def set_hellos(Connection self, value):
    self.hellos = value


def get_protocol_name(Connection self):
    return self.protocol_name


def set_protocol_name(Connection self, value):
    self.protocol_name = value


def get_stray(Connection self):
    return self.stray


def set_stray(Connection self, value):
    self.stray = value


def get_proxied(Connection self):
    return self.proxied


def set_proxied(Connection self, value):
    self.proxied = value


def get_openings(Connection self):
    return {"request": opening_object(self, 0), "response": opening_object(self, 1)}


def set_openings(Connection self, value):
    cdef int side
    for side in range(2):
        take_over_opening(self, side, value[DIRECTIONS[side]])


def get_splitters(Connection self):
    return {"request": Splitter(self, 0), "response": Splitter(self, 1)}


def get_first_seen(Connection self):
    return None if self.state.first_seen == no_long() else self.state.first_seen


def set_first_seen(Connection self, value):
    self.state.first_seen = no_long() if value is None else value


def get_last_seen(Connection self):
    return None if self.state.last_seen == no_long() else self.state.last_seen


def set_last_seen(Connection self, value):
    self.state.last_seen = no_long() if value is None else value


def get_closed(Connection self):
    return {"request": bool(self.state.closed[0]), "response": bool(self.state.closed[1])}


def set_closed(Connection self, value):
    self.state.closed[0], self.state.closed[1] = value["request"], value["response"]


def get_closed_by(Connection self):
    return None if self.state.closed_by < 0 else CLOSED_BY[self.state.closed_by]


def set_closed_by(Connection self, value):
    self.state.closed_by = -1 if value is None else <int8_t>CLOSED_BY.index(value)


def get_reset(Connection self):
    return bool(self.state.reset)


def set_reset(Connection self, value):
    self.state.reset = value
