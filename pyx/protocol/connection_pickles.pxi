# Part of tracker.pyx: pickles hold the state as the pure twin has it.


def copied(to, of, names):
    """Copy attributes from one form of a connection's state to the other."""
    for name in names:
        setattr(to, name, getattr(of, name))


# What a pickle holds: attributes that both twins have under the same names.
OF_CONNECTION = (
    "_closed", "_closed_by", "_first_seen", "_frames", "_hellos", "_last_seen", "_openings", "_protocol", "_proxied", "_reset", "_stray",
    "bytes_lost", "gaps", "received",
)
OF_EXCHANGE = (
    "_reported", "_unheard", "advertised", "is_kafka", "last_api_name", "losses", "missing", "named", "proven", "requests",
    "requests_lost", "response_breaks", "seeks_responses", "unanswered",
)
OF_SPLITTER = (
    "_base", "_buffer", "_marks", "_need", "_broken", "_skip", "_skipped_time", "_sought_from", "_pending", "_candidates", "_scanned",
    "_unproven", "bytes_opaque", "seeking",
)


def import_state(pure):
    """A connection that makes events, in the state of one of the pure twin: what comes out of a pickle."""
    exchange = pure._exchange
    made = Connection(
        pure.joined_late, max_frame=pure._splitters["request"].max_frame, frames=exchange.frames, bodies=exchange.passing.bodies,
        asked=exchange.asked,
    )
    copied(made, pure, OF_CONNECTION)
    native = made._exchange
    copied(native, exchange, OF_EXCHANGE)
    copied(native.identity, exchange.identity, _identity.ClientIdentity.__slots__)
    copied(native.sasl, exchange.sasl, SaslState.__slots__)
    copied(native.judge, exchange.judge, ("client_id",))
    copied(native.pairing, exchange.pairing, ("waiting", "_held", "is_unclear", "last_answered"))
    for direction in DIRECTIONS:
        copied(made._splitters[direction], pure._splitters[direction], OF_SPLITTER)
    native.authenticated()
    return made


cdef object plain_connection(Connection self):
    """The same connection as the pure twin has it."""
    cdef object made, exchange
    if self.busy:
        raise RuntimeError(_connection.TWO_THREADS)
    made = _connection.Connection(
        bool(self.state.joined_late), max_frame=self.cutters[0].max_frame, frames=bool(self.state.reports_frames),
        bodies=self.passing.bodies, asked=self.asked,
    )
    exchange = made._exchange
    copied(made, self, OF_CONNECTION)
    copied(exchange, self._exchange, OF_EXCHANGE)
    copied(exchange.identity, self._exchange.identity, _identity.ClientIdentity.__slots__)
    copied(exchange.sasl, self._exchange.sasl, SaslState.__slots__)
    copied(exchange.judge, self._exchange.judge, ("client_id",))
    exchange.pairing.import_waiting(self._exchange.pairing.waiting)
    copied(exchange.pairing, self._exchange.pairing, ("_held", "is_unclear", "last_answered", "losses"))
    exchange.left = self.state.closed_by == REQUEST
    for direction in DIRECTIONS:
        copied(made._splitters[direction], self._splitters[direction], OF_SPLITTER)
    return made
