# Part of tls_connection.pyx: the epochs of one direction (kwire/capture/tls/direction.py).

cdef tuple KINDS = ("early", "handshake", "data")


cdef class _Accepts:
    """What says of a candidate behind a loss whether it is a record."""

    cdef TlsConnection tls
    cdef Direction direction

    def __call__(self, int kind, int version, bytes body, int64_t lost):
        return is_record(self.tls, self.direction, kind, version, body, lost)


cdef int add_ciphers_12(TlsConnection self, bytes master, object suite, object server) except -1:
    """Add the epochs of both directions: key_schedule.keys_12."""
    cdef int number
    both = keys_12(master, self.client_hello.random, field(server, SERVER_RANDOM), suite)
    for number in range(2):
        cipher = cipher_with_keys(suite, both[number], False, field(server, SERVER_ENCRYPT_THEN_MAC))
        self.of(self.client if number == 0 else 1 - self.client).epochs.append(new_epoch(DATA, suite, cipher))
    return 0


@cython.freelist(64)
@cython.no_gc
cdef class Epoch:
    def __repr__(self):
        return f"Epoch({KINDS[self.kind]}, {self.sequence})"

    cdef bytes next_secret(self):
        if self.following is None:
            self.following = b""
            if self.kind == DATA and self.cipher.is_13:
                self.following = following_secret(self.cipher.secret, self.suite)
        return self.following

    def plain(self):
        made = PureEpoch(KINDS[self.kind], self.suite, self.cipher.plain(), self.next_secret())
        made.sequence = self.sequence
        return made


cdef Epoch new_epoch(EpochKind kind, object suite, RecordCipher cipher):
    cdef Epoch made = Epoch.__new__(Epoch)
    made.kind, made.suite, made.cipher = kind, suite, cipher
    return made


cdef Epoch epoch_of_secret(EpochKind kind, object suite, bytes secret):
    return new_epoch(kind, suite, new_cipher(suite, secret))


@cython.freelist(64)
@cython.no_gc
cdef class Direction:
    def __cinit__(self):
        self.stream = RecordStream()
        self.epochs = []
        self.pending = b""
        self.padding = -2

    cdef bint opens(self, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1:
        """Direction.open; the plaintext is in `plain`, as `shape` says."""
        cdef Epoch epoch, last
        cdef Py_ssize_t index
        if self.stopped:
            return False
        lost = min(lost, MOST_SKIPPED)
        for index in range(len(self.epochs)):
            epoch = self.epochs[index]
            if self.opens_in(epoch, kind, version, body, size, lost):
                if index:
                    del self.epochs[:index]
                return True
        if lost and self.epochs:
            last = self.epochs[len(self.epochs) - 1]
            if last.kind == DATA and last.next_secret():
                epoch = epoch_of_secret(DATA, last.suite, last.next_secret())
                if self.opens_in(epoch, kind, version, body, size, lost):
                    self.epochs = [epoch]
                    return True
        return False

    cdef bint opens_in(self, Epoch epoch, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1:
        cdef int64_t ahead
        for ahead in range(lost + 1):
            if self.deciphers(epoch, epoch.sequence + ahead, kind, version, body, size):
                epoch.sequence += ahead + 1
                return True
            self.tried += 1
            self.tried_bytes += size
            if self.tried > MOST_TRIED or self.tried_bytes > MOST_TRIED_BYTES:
                self.stopped = True
                return False
        return False

    cdef bint deciphers(self, Epoch epoch, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size) except -1:
        """RecordCipher.open; the plaintext is in `plain`, as `shape` says."""
        self.plain = epoch.cipher.open_record(sequence, kind, version, data, size, &self.shape)
        return self.plain is not None

    cdef int drop_epoch(self, EpochKind kind) except -1:
        while len(self.epochs) > 1 and (<Epoch>self.epochs[0]).kind == kind:
            del self.epochs[0]
        return 0
