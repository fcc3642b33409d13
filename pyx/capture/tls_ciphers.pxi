# Part of tls_connection.pyx: one protected record to its plaintext (kwire/capture/tls/record_ciphers.py, key_schedule.py, direction.py).


cdef object INFO = {}  # what HKDF-Expand-Label hashes, by label and length


cdef bytes expanded(bytes secret, bytes label, int length, object suite):
    """key_schedule.expand_label of a length that one hash gives."""
    found = INFO.get((label, length))
    if found is None:
        found = INFO[label, length] = length.to_bytes(2, "big") + bytes((len(label) + 6,)) + b"tls13 " + label + b"\0\1"
    return <bytes>hmac_digest(secret, found, suite.hash)[:length]


@cython.no_gc  # no cycle goes through these
cdef class RecordCipher:
    """What opens the records of one direction under one set of keys; keys and cipher are made with the first record."""

    def __repr__(self):
        return f"RecordCipher({self.suite.name})"

    cdef int begin(self) except -1:
        """Derive the keys, and make the cipher."""
        if self.keys is None:
            self.keys = Keys(
                expanded(self.secret, b"key", self.suite.key_bytes, self.suite), expanded(self.secret, b"iv", IV_BYTES, self.suite)
            )
        self.iv = self.keys.iv
        key = self.keys.key
        if self.cipher == GCM:
            self.decrypt = AESGCM(key).decrypt
        elif self.cipher == CHACHA20:
            self.decrypt = ChaCha20Poly1305(key).decrypt
        elif self.cipher == CCM:
            self.decrypt = AESCCM(key, tag_length=8 if self.suite.cipher == "ccm_8" else 16).decrypt
        else:
            # What stands before a block is all that CBC needs: one context takes record behind record, and the block of the IV is dropped.
            self.decrypt = BlockCipher(AES(key), CbcMode(bytes(16))).decryptor().update
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

    def mac(self, sequence, kind, version, data):
        return hmac_digest(self.keys.mac_key, ADDITIONAL(sequence, kind, version, len(data)) + data, self.suite.mac)

    def plain(self):
        """As the pure twin has it."""
        if self.keys is None:
            self.begin()
        return PureCipher(self.suite, self.keys, is_13=bool(self.is_13), encrypt_then_mac=bool(self.encrypt_then_mac))


cdef RecordCipher new_cipher(object suite, object keys, bytes secret, bint is_13, bint encrypt_then_mac):
    cdef RecordCipher made = RecordCipher.__new__(RecordCipher)
    name = suite.cipher
    made.suite, made.keys, made.secret, made.is_13, made.encrypt_then_mac = suite, keys, secret, is_13, encrypt_then_mac
    made.cipher = GCM if name == "gcm" else CHACHA20 if name == "chacha20" else CBC if name == "cbc" else CCM
    made.overhead = (8 if name == "ccm_8" else 16) + (0 if is_13 or made.cipher == CHACHA20 else EXPLICIT)
    made.mac_bytes = MAC_BYTES[suite.mac] if made.cipher == CBC else 0
    return made


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
    return new_epoch(kind, suite, new_cipher(suite, None, secret, True, False))


@cython.no_gc
cdef class Direction:
    """The state of one direction; see `kwire.capture.tls.direction.Direction`."""

    def __cinit__(self):
        self.stream = RecordStream()
        self.epochs = []
        self.pending = b""
        self.padding = -2

    cdef bint opens(self, int kind, int version, bytes body, int64_t lost) except -1:
        """Direction.open; the plaintext is in `plain`."""
        cdef Epoch epoch, last
        cdef Py_ssize_t index
        if self.stopped:
            return False
        lost = min(lost, MOST_SKIPPED)
        for index in range(len(self.epochs)):
            epoch = self.epochs[index]
            if self.opens_in(epoch, kind, version, body, lost):
                if index:
                    del self.epochs[:index]
                return True
        if lost and self.epochs:
            last = self.epochs[len(self.epochs) - 1]
            if last.kind == DATA and last.next_secret():
                epoch = epoch_of_secret(DATA, last.suite, last.next_secret())
                if self.opens_in(epoch, kind, version, body, lost):
                    self.epochs = [epoch]
                    return True
        return False

    cdef bint opens_in(self, Epoch epoch, int kind, int version, bytes body, int64_t lost) except -1:
        """Direction._open_in."""
        cdef int64_t ahead
        for ahead in range(lost + 1):
            if self.deciphers(epoch, epoch.sequence + ahead, kind, version, body):
                epoch.sequence += ahead + 1
                return True
            self.tried += 1
            self.tried_bytes += len(body)
            if self.tried > MOST_TRIED or self.tried_bytes > MOST_TRIED_BYTES:
                self.stopped = True
                return False
        return False

    cdef bint deciphers(self, Epoch epoch, int64_t sequence, int kind, int version, bytes body) except -1:
        """RecordCipher.open; the plaintext is in `plain`."""
        cdef RecordCipher cipher = epoch.cipher
        cdef Py_ssize_t size = PyBytes_GET_SIZE(body)
        cdef const uint8_t* data = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef uint8_t nonce[12]
        cdef uint8_t additional[13]
        cdef int place
        if cipher.decrypt is None:
            cipher.begin()
        if cipher.cipher == CBC:
            opened = cipher.open_cbc(sequence, kind, version, body)
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
            body = PyBytes_FromStringAndSize(<const char*>data + EXPLICIT, size - EXPLICIT)
        if cipher.is_13:
            put_header(additional, kind, version, size)
            place = 5
        else:
            for place in range(8):
                additional[7 - place] = <uint8_t>(sequence >> (8 * place))
            put_header(additional + 8, kind, version, size - cipher.overhead)
            place = 13
        try:
            self.plain = cipher.decrypt(
                PyBytes_FromStringAndSize(<const char*>nonce, 12), body, PyBytes_FromStringAndSize(<const char*>additional, place)
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
