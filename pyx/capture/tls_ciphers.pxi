# Part of tls_connection.pyx: one protected record to its plaintext (kwire/capture/tls/record_ciphers.py, direction.py).


@cython.no_gc  # no cycle goes through these
cdef class RecordCipher:
    """What opens the records of one direction under one set of keys; keys and cipher are made with the first record."""

    def __repr__(self):
        return f"RecordCipher({self.suite.name})"

    cdef int begin(self) except -1:
        """Derive the keys, and make the cipher."""
        cdef Hmac secret
        if self.key is None:
            hmac_begin(&secret, hash_number(self.suite.hash), <const uint8_t*>PyBytes_AS_STRING(self.secret), PyBytes_GET_SIZE(self.secret))
            self.key = expanded(&secret, b"key", 3, self.suite.key_bytes)
            self.iv = expanded(&secret, b"iv", 2, IV_BYTES)
        if self.cipher == GCM:
            self.decrypt = AESGCM(self.key).decrypt
        elif self.cipher == CHACHA20:
            self.decrypt = ChaCha20Poly1305(self.key).decrypt
        elif self.cipher == CCM:
            self.decrypt = AESCCM(self.key, tag_length=8 if self.suite.cipher == "ccm_8" else 16).decrypt
        else:
            # What stands before a block is all that CBC needs: one context takes record behind record, and the block of the IV is dropped.
            self.decrypt = BlockCipher(AES(self.key), CbcMode(bytes(16))).decryptor().update
            self.begin_mac()
        return 0

    cdef int begin_mac(self) except -1:
        """Hash the key of the MAC: the inner and the outer hash of each HMAC go on from there (RFC 2104, 4)."""
        begin = HASHES[self.suite.mac]
        padded = self.mac_key + bytes(begin().block_size - len(self.mac_key))
        self.inner, self.outer = begin(padded.translate(INNER)).copy, begin(padded.translate(OUTER)).copy
        return 0

    cdef object open_cbc(self, int64_t sequence, int kind, int version, bytes body):
        """RecordCipher._open_cbc; None for a record that does not verify."""
        cdef Py_ssize_t size = len(body) - (self.mac_bytes if self.encrypt_then_mac else 0)
        cdef Py_ssize_t end, at
        cdef const uint8_t* padded
        cdef int pad
        cdef bytes opened
        if size < 0:
            return None
        if self.encrypt_then_mac:
            if not compare_digest(body[size:], self.mac(sequence, kind, version, body[:size])):
                return None
            body = body[:size]
        if size < 32 or size % 16:
            return None
        opened = self.decrypt(body)[16:]
        padded = <const uint8_t*>PyBytes_AS_STRING(opened)
        size -= 16
        pad = padded[size - 1]
        end = size - 1 - pad
        if end < 0:
            return None
        for at in range(end, size):
            if padded[at] != pad:
                return None
        if self.encrypt_then_mac:
            return opened[:end]
        at = max(end - self.mac_bytes, 0)
        data = opened[:at]
        return data if compare_digest(opened[at:end], self.mac(sequence, kind, version, data)) else None

    cdef bytes mac(self, int64_t sequence, int kind, int version, data):
        cdef uint8_t additional[13]
        put_additional(additional, sequence, kind, version, len(data))
        inner, outer = self.inner(), self.outer()
        inner.update(PyBytes_FromStringAndSize(<const char*>additional, 13))
        inner.update(data)
        outer.update(inner.digest())
        return outer.digest()

    def plain(self):
        """As the pure twin has it."""
        if self.decrypt is None:
            self.begin()
        return PureCipher(
            self.suite, Keys(self.key, self.iv, self.mac_key), is_13=bool(self.is_13), encrypt_then_mac=bool(self.encrypt_then_mac)
        )


cdef RecordCipher new_cipher(object suite, bytes secret, bint is_13, bint encrypt_then_mac):
    """What is derived of a secret of TLS 1.3; one with other keys is given them."""
    cdef RecordCipher made = RecordCipher.__new__(RecordCipher)
    name = suite.cipher
    made.suite, made.secret, made.is_13, made.encrypt_then_mac = suite, secret, is_13, encrypt_then_mac
    made.cipher = GCM if name == "gcm" else CHACHA20 if name == "chacha20" else CBC if name == "cbc" else CCM
    made.overhead = (8 if name == "ccm_8" else 16) + (0 if is_13 or made.cipher == CHACHA20 else EXPLICIT)
    made.mac_bytes = MAC_BYTES[suite.mac] if made.cipher == CBC else 0
    return made


cdef int add_ciphers_12(TlsConnection self, bytes master, object suite, object server) except -1:
    """Add the epochs of both directions: key_schedule.keys_12."""
    cdef RecordCipher cipher
    cdef Direction direction
    cdef uint8_t block[MOST_KEY_BLOCK]
    cdef Py_ssize_t key_bytes = suite.key_bytes
    cdef Py_ssize_t iv_bytes, mac_bytes
    cdef int number
    cdef const char* at = <const char*>block
    for number in range(2):
        cipher = new_cipher(suite, None, False, server.encrypt_then_mac)
        mac_bytes = cipher.mac_bytes
        iv_bytes = 0 if cipher.cipher == CBC else IV_BYTES if cipher.cipher == CHACHA20 else 4
        if number == 0:
            key_block(
                master, self.client_hello.random, server.random, hash_number(suite.hash), block, 2 * (mac_bytes + key_bytes + iv_bytes)
            )
        cipher.mac_key = PyBytes_FromStringAndSize(at + number * mac_bytes, mac_bytes)
        cipher.key = PyBytes_FromStringAndSize(at + 2 * mac_bytes + number * key_bytes, key_bytes)
        cipher.iv = PyBytes_FromStringAndSize(at + 2 * (mac_bytes + key_bytes) + number * iv_bytes, iv_bytes)
        direction = self.of(self.client if number == 0 else 1 - self.client)
        direction.epochs.append(new_epoch(DATA, suite, cipher))
    return 0


@cython.no_gc
cdef class Epoch:
    """One set of keys; see `kwire.capture.tls.direction.Epoch`."""

    def __repr__(self):
        return f"Epoch({KINDS[self.kind]}, {self.sequence})"

    cdef bytes next_secret(self):
        if self.following is None:
            self.following = b""
            if self.kind == DATA and self.cipher.is_13:
                self.following = following_secret(self.cipher.secret, self.suite)
        return self.following

    def plain(self):
        """As the pure twin has it."""
        made = PureEpoch(KINDS[self.kind], self.suite, self.cipher.plain(), self.next_secret())
        made.sequence = self.sequence
        return made


cdef Epoch new_epoch(EpochKind kind, object suite, RecordCipher cipher):
    cdef Epoch made = Epoch.__new__(Epoch)
    made.kind, made.suite, made.cipher = kind, suite, cipher
    return made


cdef Epoch epoch_of_secret(EpochKind kind, object suite, bytes secret):
    """Epoch.of_secret, with nothing derived yet."""
    return new_epoch(kind, suite, new_cipher(suite, secret, True, False))


@cython.no_gc
cdef class Direction:
    """The state of one direction; see `kwire.capture.tls.direction.Direction`."""

    def __cinit__(self):
        self.stream = RecordStream()
        self.epochs = []
        self.pending = b""
        self.padding = -2

    cdef bint opens(self, int kind, int version, const uint8_t* body, Py_ssize_t size, int64_t lost) except -1:
        """Direction.open; the plaintext is in `plain`."""
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
        """Direction._open_in."""
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
        """RecordCipher.open; the plaintext is in `plain`."""
        cdef RecordCipher cipher = epoch.cipher
        cdef uint8_t nonce[12]
        cdef uint8_t additional[13]
        cdef int place
        if cipher.decrypt is None:
            cipher.begin()
        if cipher.cipher == CBC:
            opened = cipher.open_cbc(sequence, kind, version, PyBytes_FromStringAndSize(<const char*>data, size))
            if opened is None:
                return False
            self.plain, self.plain_size, self.plain_kind, self.plain_padding = opened, len(opened), kind, 0
            return True
        if size < cipher.overhead:
            return False
        if cipher.is_13 or cipher.cipher == CHACHA20:
            memcpy(nonce, PyBytes_AS_STRING(cipher.iv), 12)
            for place in range(8):
                nonce[11 - place] ^= <uint8_t>(sequence >> (8 * place))
        else:
            memcpy(nonce, PyBytes_AS_STRING(cipher.iv), 4)
            memcpy(nonce + 4, data, EXPLICIT)
            data += EXPLICIT
        if cipher.is_13:
            put_header(additional, kind, version, size)
            place = 5
        else:
            put_additional(additional, sequence, kind, version, size - cipher.overhead)
            place = 13
        try:
            self.plain = cipher.decrypt(
                PyBytes_FromStringAndSize(<const char*>nonce, 12),
                PyBytes_FromStringAndSize(<const char*>data, size if cipher.is_13 or cipher.cipher == CHACHA20 else size - EXPLICIT),
                PyBytes_FromStringAndSize(<const char*>additional, place),
            )
        except InvalidTag:
            return False
        size = PyBytes_GET_SIZE(self.plain)
        self.plain_kind, self.plain_size, self.plain_padding = kind, size, 0
        if not cipher.is_13:
            return True
        data = <const uint8_t*>PyBytes_AS_STRING(self.plain)
        while size and not data[size - 1]:
            size -= 1
        if not size:
            return False  # RFC 8446, 5.4: a record of zeros has no content type
        self.plain_kind, self.plain_padding, self.plain_size = data[size - 1], self.plain_size - size, size - 1
        return True

    cdef int drop_epoch(self, EpochKind kind) except -1:
        """The direction is through with its keys of this kind."""
        while len(self.epochs) > 1 and (<Epoch>self.epochs[0]).kind == kind:
            del self.epochs[0]
        return 0


cdef inline void put_header(uint8_t* target, int kind, int version, Py_ssize_t size) noexcept:
    target[0] = <uint8_t>kind
    target[1], target[2] = <uint8_t>(version >> 8), <uint8_t>version
    target[3], target[4] = <uint8_t>(size >> 8), <uint8_t>size


cdef inline void put_additional(uint8_t* target, int64_t sequence, int kind, int version, Py_ssize_t size) noexcept:
    cdef int place
    for place in range(8):
        target[7 - place] = <uint8_t>(sequence >> (8 * place))
    put_header(target + 8, kind, version, size)
