# Part of tls_connection.pyx: the epochs of one direction (kwire/capture/tls/direction.py).


@cython.freelist(64)
@cython.no_gc
cdef class Epoch:
    def __repr__(self):
        return f"Epoch({self.kind}, {self.sequence})"

    @property
    def next_secret(self):
        if self.following is None:
            self.following = b""
            if self.kind == "data" and self.cipher.is_13:
                self.following = next_secret(self.cipher.secret, self.suite)
        return self.following

    def updated(self):
        return new_epoch("data", self.suite, new_cipher(self.suite, self.next_secret))


cdef Epoch new_epoch(object kind, object suite, RecordCipher cipher):
    cdef Epoch made = Epoch.__new__(Epoch)
    made.kind, made.suite, made.cipher = kind, suite, cipher
    return made


@cython.freelist(64)
@cython.no_gc
cdef class Direction:
    failed = PureDirection.failed
    succeeded = PureDirection.succeeded
    skip = PureDirection.skip
    drop_epoch = PureDirection.drop_epoch

    def __cinit__(self):
        self.stream = RecordStream()
        self.messages = Messages()
        self.epochs = []

    def add_secret(self, kind, suite, bytes secret):
        self.epochs.append(new_epoch(kind, suite, new_cipher(suite, secret)))

    def add_keys(self, suite, keys, encrypt_then_mac):
        self.epochs.append(new_epoch("data", suite, cipher_with_keys(suite, keys, False, encrypt_then_mac)))

    def open(self, int kind, int version, bytes body, int64_t lost):
        if not self.opens(kind, version, <const uint8_t*>PyBytes_AS_STRING(body), PyBytes_GET_SIZE(body), lost):
            return None
        return Opened(self.shape.kind, self.plain[:self.shape.size], self.shape.padding)

    cdef bint opens(self, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1:
        """Direction.open; the plaintext is in `plain`, described by `shape`."""
        cdef Epoch epoch
        cdef Py_ssize_t index
        if self.stopped:
            return False
        lost = min(lost, MOST_SKIPPED)
        for index, epoch in enumerate(self.epochs):
            if self.opens_in(epoch, kind, version, body, size, lost):
                if index:
                    del self.epochs[:index]
                return True
        if lost and self.epochs:
            epoch = self.epochs[len(self.epochs) - 1]
            if epoch.kind == "data" and epoch.next_secret:
                epoch = epoch.updated()
                if self.opens_in(epoch, kind, version, body, size, lost):
                    self.epochs = [epoch]
                    return True
        return False

    cdef bint opens_in(self, Epoch epoch, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1:
        cdef int64_t ahead
        for ahead in range(lost + 1):
            self.plain = epoch.cipher.open_record(epoch.sequence + ahead, kind, version, body, size, &self.shape)
            if self.plain is not None:
                epoch.sequence += ahead + 1
                return True
            self.tried += 1
            self.tried_bytes += size
            if self.tried > MOST_TRIED or self.tried_bytes > MOST_TRIED_BYTES:
                self.stopped = True
                return False
        return False
