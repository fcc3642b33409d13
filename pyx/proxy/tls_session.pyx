# cython: language_level=3, binding=False
"""TLS by the OpenSSL that Python's `ssl` has loaded: its functions are called by address, without the GIL and without its sockets.

A session reads and writes memory: `tls_open` is given what a socket brought, and what `tls_seal` makes waits in `Sealed`. Only public
functions of OpenSSL 3 are used, so nothing depends on how Python lays out its objects. A fault is taken from OpenSSL's queue of this thread
at once, for `SSL_get_error` of other sessions looks at it too.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.errno cimport EPROTO
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from build_id cimport build_id
from wire.cursor cimport Bytes
from wire.grown cimport grown

__all__ = ["NAMES", "TlsContext", "load"]
__build__ = build_id()

cdef enum:
    WANT_READ = 2
    ZERO_RETURN = 6
    CTRL_FLUSH = 11
    CTRL_MODE = 33
    CTRL_CACHE_MODE = 44
    CTRL_NAME_CALL = 53
    CTRL_NAME_OBJECT = 54
    CTRL_HOST_NAME = 55
    NAME_KNOWN = 0
    NAME_REFUSED = 2
    UNRECOGNIZED_NAME = 112
    EXTENSION_NAME = 0
    HELLO_ACCEPTED = 1
    CTRL_LEAST_VERSION = 123
    MODES = 0x10  # SSL_MODE_RELEASE_BUFFERS: an idle connection keeps no buffer
    NO_RENEGOTIATION = 0x40000000
    VERIFY_PEER = 1
    VERIFY_REQUIRED = 3
    RETRY_READ = 9
    RETRY = 15
    PEM = 1
    SOURCE_SINK = 0x400

cdef extern from * nogil:
    """
    #include <errno.h>
    #define set_errno(number) (errno = (number))
    """
    void set_errno(int number)

# Functions of OpenSSL in the order of NAMES.
cdef struct OpenSsl:
    const void* (*TLS_server_method)() noexcept nogil
    const void* (*TLS_client_method)() noexcept nogil
    void* (*SSL_CTX_new)(const void*) noexcept nogil
    void (*SSL_CTX_free)(void*) noexcept nogil
    int (*SSL_CTX_use_certificate_chain_file)(void*, const char*) noexcept nogil
    int (*SSL_CTX_use_PrivateKey_file)(void*, const char*, int) noexcept nogil
    int (*SSL_CTX_check_private_key)(const void*) noexcept nogil
    int (*SSL_CTX_load_verify_locations)(void*, const char*, const char*) noexcept nogil
    int (*SSL_CTX_set_default_verify_paths)(void*) noexcept nogil
    void (*SSL_CTX_set_verify)(void*, int, void*) noexcept nogil
    long (*SSL_CTX_ctrl)(void*, int, long, void*) noexcept nogil
    uint64_t (*SSL_CTX_set_options)(void*, uint64_t) noexcept nogil
    int (*SSL_CTX_set_cipher_list)(void*, const char*) noexcept nogil
    int (*SSL_CTX_set_session_id_context)(void*, const uint8_t*, unsigned int) noexcept nogil
    void* (*SSL_load_client_CA_file)(const char*) noexcept nogil
    void (*SSL_CTX_set_client_CA_list)(void*, void*) noexcept nogil
    void* (*SSL_CTX_get0_param)(void*) noexcept nogil
    int (*X509_VERIFY_PARAM_set_flags)(void*, unsigned long) noexcept nogil
    void (*X509_VERIFY_PARAM_set_hostflags)(void*, unsigned int) noexcept nogil
    int (*X509_VERIFY_PARAM_set1_host)(void*, const char*, size_t) noexcept nogil
    int (*X509_VERIFY_PARAM_set1_ip_asc)(void*, const char*) noexcept nogil
    void* (*SSL_get0_param)(void*) noexcept nogil
    void* (*SSL_new)(void*) noexcept nogil
    void (*SSL_free)(void*) noexcept nogil
    void (*SSL_set_bio)(void*, void*, void*) noexcept nogil
    void (*SSL_set_accept_state)(void*) noexcept nogil
    void (*SSL_set_connect_state)(void*) noexcept nogil
    long (*SSL_ctrl)(void*, int, long, void*) noexcept nogil
    int (*SSL_do_handshake)(void*) noexcept nogil
    int (*SSL_read)(void*, void*, int) noexcept nogil
    int (*SSL_write)(void*, const void*, int) noexcept nogil
    int (*SSL_shutdown)(void*) noexcept nogil
    const char* (*SSL_get_servername)(const void*, int) noexcept nogil
    long (*SSL_CTX_callback_ctrl)(void*, int, void*) noexcept nogil
    int (*SSL_get_error)(const void*, int) noexcept nogil
    long (*SSL_get_verify_result)(const void*) noexcept nogil
    const char* (*X509_verify_cert_error_string)(long) noexcept nogil
    void* (*SSL_get_peer_certificate)(const void*) noexcept nogil
    int (*i2d_X509)(void*, uint8_t**) noexcept nogil
    void (*X509_free)(void*) noexcept nogil
    unsigned long (*ERR_get_error)() noexcept nogil
    void (*ERR_clear_error)() noexcept nogil
    const char* (*ERR_reason_error_string)(unsigned long) noexcept nogil
    int (*BIO_get_new_index)() noexcept nogil
    void* (*BIO_meth_new)(int, const char*) noexcept nogil
    int (*BIO_meth_set_read)(void*, void*) noexcept nogil
    int (*BIO_meth_set_write)(void*, void*) noexcept nogil
    int (*BIO_meth_set_ctrl)(void*, void*) noexcept nogil
    void* (*BIO_new)(const void*) noexcept nogil
    void (*BIO_set_init)(void*, int) noexcept nogil
    void (*BIO_set_data)(void*, void*) noexcept nogil
    void* (*BIO_get_data)(void*) noexcept nogil
    void (*BIO_set_flags)(void*, int) noexcept nogil
    void (*BIO_clear_flags)(void*, int) noexcept nogil
    void (*SSL_CTX_set_client_hello_cb)(void*, void*, void*) noexcept nogil
    int (*SSL_client_hello_get0_ext)(void*, unsigned int, const uint8_t**, size_t*) noexcept nogil
    int (*SSL_set_session_id_context)(void*, const uint8_t*, unsigned int) noexcept nogil

NAMES = (
    "TLS_server_method", "TLS_client_method", "SSL_CTX_new", "SSL_CTX_free", "SSL_CTX_use_certificate_chain_file",
    "SSL_CTX_use_PrivateKey_file", "SSL_CTX_check_private_key", "SSL_CTX_load_verify_locations", "SSL_CTX_set_default_verify_paths",
    "SSL_CTX_set_verify", "SSL_CTX_ctrl", "SSL_CTX_set_options", "SSL_CTX_set_cipher_list", "SSL_CTX_set_session_id_context",
    "SSL_load_client_CA_file", "SSL_CTX_set_client_CA_list", "SSL_CTX_get0_param", "X509_VERIFY_PARAM_set_flags",
    "X509_VERIFY_PARAM_set_hostflags", "X509_VERIFY_PARAM_set1_host", "X509_VERIFY_PARAM_set1_ip_asc",
    "SSL_get0_param", "SSL_new", "SSL_free", "SSL_set_bio",
    "SSL_set_accept_state", "SSL_set_connect_state", "SSL_ctrl", "SSL_do_handshake", "SSL_read", "SSL_write", "SSL_shutdown",
    "SSL_get_servername", "SSL_CTX_callback_ctrl", "SSL_get_error", "SSL_get_verify_result", "X509_verify_cert_error_string",
    "SSL_get1_peer_certificate", "i2d_X509", "X509_free",
    "ERR_get_error", "ERR_clear_error", "ERR_reason_error_string", "BIO_get_new_index", "BIO_meth_new", "BIO_meth_set_read",
    "BIO_meth_set_write", "BIO_meth_set_ctrl", "BIO_new", "BIO_set_init", "BIO_set_data", "BIO_get_data", "BIO_set_flags",
    "BIO_clear_flags", "SSL_CTX_set_client_hello_cb", "SSL_client_hello_get0_ext", "SSL_set_session_id_context",
)

cdef OpenSsl openssl
cdef void* memory = NULL  # the BIO_METHOD of all sessions


def load(addresses):
    """Take the addresses of the functions that NAMES has."""
    global memory
    cdef void** at = <void**>&openssl
    if len(addresses) != len(NAMES) or sizeof(OpenSsl) != len(NAMES) * sizeof(void*) or not all(addresses):
        raise ValueError(f"expected {len(NAMES)} addresses")
    if memory is not NULL:
        return
    for number, address in enumerate(addresses):
        at[number] = <void*><size_t>address
    memory = openssl.BIO_meth_new(openssl.BIO_get_new_index() | SOURCE_SINK, b"kwire")
    if memory is NULL:
        raise MemoryError
    openssl.BIO_meth_set_read(memory, <void*>&bio_read)
    openssl.BIO_meth_set_write(memory, <void*>&bio_write)
    openssl.BIO_meth_set_ctrl(memory, <void*>&bio_ctrl)


# what OpenSSL calls

cdef int bio_read(void* bio, char* into, int most) noexcept nogil:
    cdef TlsSession* session = <TlsSession*>openssl.BIO_get_data(bio)
    cdef int size = <int>min(<Py_ssize_t>most, session.came_size)
    openssl.BIO_clear_flags(bio, RETRY)
    if size <= 0:
        openssl.BIO_set_flags(bio, RETRY_READ)
        return -1
    memcpy(into, session.came, size)
    session.came += size
    session.came_size -= size
    return size


cdef int bio_write(void* bio, const char* data, int size) noexcept nogil:
    cdef Sealed* out = (<TlsSession*>openssl.BIO_get_data(bio)).out
    cdef void* made = grown(out.bytes, &out.room, out.size + size, 256 << 10, 1)
    openssl.BIO_clear_flags(bio, RETRY)
    if made is NULL:
        return -1
    out.bytes = <uint8_t*>made
    memcpy(out.bytes + out.size, data, size)
    out.size += size
    return size


cdef long bio_ctrl(void* bio, int command, long number, void* more) noexcept nogil:
    return 1 if command == CTRL_FLUSH else 0


cdef int hello_came(void* ssl, int* alert, void* nothing) noexcept nogil:
    """Bind sessions to their name: OpenSSL resumes one of TLS 1.2 for any name, and then reports the first."""
    cdef const uint8_t* names
    cdef size_t size, at
    cdef uint64_t digest = 0xcbf29ce484222325  # FNV-1a
    if openssl.SSL_client_hello_get0_ext(ssl, EXTENSION_NAME, &names, &size) == 1:
        for at in range(size):
            digest = (digest ^ names[at]) * <uint64_t>0x100000001b3
    openssl.SSL_set_session_id_context(ssl, <const uint8_t*>&digest, sizeof(digest))
    return HELLO_ACCEPTED


cdef int name_asked(void* ssl, int* alert, void* context) noexcept with gil:
    if (<TlsContext>context).knows(asked_name(ssl)):
        return NAME_KNOWN
    alert[0] = UNRECOGNIZED_NAME
    return NAME_REFUSED


cdef str asked_name(const void* ssl):
    cdef const char* found = openssl.SSL_get_servername(ssl, 0)
    return None if found is NULL else found.decode("latin-1")


# of one listener, or of one broker

cdef class TlsContext:
    """Certificates and rules of many sessions; any thread may use it.

    Arguments:
        is_server: towards clients.
        certificate, key, authorities: PEM files, or None; without authorities a client trusts those of the system.
        must_present: peers must present a certificate.
        options, flags, host_flags, least, ciphers: of an `ssl.SSLContext`: its options, flags of verification, lowest version, ciphers.
        knows: whether a client may ask for a name, None where it asks for none; without it, for any. Called in handshakes.
    """

    def __cinit__(
        self, bint is_server, bytes certificate, bytes key, bytes authorities, bint must_present, long options, long flags,
        int host_flags, long least,
        bytes ciphers, knows,
    ):
        cdef void* names
        self.is_server, self.knows = is_server, knows
        self.context = openssl.SSL_CTX_new(openssl.TLS_server_method() if is_server else openssl.TLS_client_method())
        if self.context is NULL:
            raise MemoryError
        openssl.SSL_CTX_set_options(self.context, <uint64_t>options | NO_RENEGOTIATION)
        openssl.SSL_CTX_ctrl(self.context, CTRL_MODE, MODES, NULL)
        openssl.SSL_CTX_ctrl(self.context, CTRL_CACHE_MODE, 0, NULL)
        openssl.SSL_CTX_ctrl(self.context, CTRL_LEAST_VERSION, least, NULL)
        openssl.X509_VERIFY_PARAM_set_flags(openssl.SSL_CTX_get0_param(self.context), flags)
        openssl.X509_VERIFY_PARAM_set_hostflags(openssl.SSL_CTX_get0_param(self.context), host_flags)
        checked(openssl.SSL_CTX_set_cipher_list(self.context, ciphers))
        checked(openssl.SSL_CTX_set_session_id_context(self.context, b"kwire", 5))
        if certificate is not None:
            checked(openssl.SSL_CTX_use_certificate_chain_file(self.context, certificate))
            checked(openssl.SSL_CTX_use_PrivateKey_file(self.context, key, PEM))
            checked(openssl.SSL_CTX_check_private_key(self.context))
        if authorities is not None:
            checked(openssl.SSL_CTX_load_verify_locations(self.context, authorities, NULL))
            if is_server:
                names = openssl.SSL_load_client_CA_file(authorities)
                checked(names is not NULL)
                openssl.SSL_CTX_set_client_CA_list(self.context, names)
        elif not is_server:
            checked(openssl.SSL_CTX_set_default_verify_paths(self.context))
        if knows is not None:
            openssl.SSL_CTX_set_client_hello_cb(self.context, <void*>&hello_came, NULL)
            openssl.SSL_CTX_callback_ctrl(self.context, CTRL_NAME_CALL, <void*>&name_asked)
            openssl.SSL_CTX_ctrl(self.context, CTRL_NAME_OBJECT, 0, <void*>self)  # which every connection keeps
        if must_present:
            openssl.SSL_CTX_set_verify(self.context, VERIFY_REQUIRED if is_server else VERIFY_PEER, NULL)

    def __dealloc__(self):
        if self.context is not NULL:
            openssl.SSL_CTX_free(self.context)

    cdef TlsSession* session(self, Sealed* out, str host) except NULL:
        """Begin with one socket; `host` is the name that a broker's certificate must have."""
        cdef TlsSession* made = <TlsSession*>calloc(1, sizeof(TlsSession))
        cdef void* bio
        cdef void* rules
        cdef bytes name
        if made is NULL:
            raise MemoryError
        made.out, made.ssl, bio = out, openssl.SSL_new(self.context), openssl.BIO_new(memory)
        if made.ssl is NULL or bio is NULL:
            tls_free(made)
            raise MemoryError
        openssl.BIO_set_data(bio, made)
        openssl.BIO_set_init(bio, 1)
        openssl.SSL_set_bio(made.ssl, bio, bio)
        if self.is_server:
            openssl.SSL_set_accept_state(made.ssl)
            return made
        openssl.SSL_set_connect_state(made.ssl)
        name, rules = host.encode(), openssl.SSL_get0_param(made.ssl)
        if openssl.X509_VERIFY_PARAM_set1_ip_asc(rules, name) != 1:
            openssl.ERR_clear_error()
            openssl.SSL_ctrl(made.ssl, CTRL_HOST_NAME, 0, <char*>name)
            if openssl.X509_VERIFY_PARAM_set1_host(rules, name, len(name)) != 1:
                tls_free(made)
                raise ValueError(f"{host!r} is not a name")
        return made


cdef int checked(bint done) except -1:
    if not done:
        raise OSError(reason())
    return 0


cdef str reason():
    """Return the text of the first fault of OpenSSL, and clear all of them."""
    cdef const char* text = openssl.ERR_reason_error_string(openssl.ERR_get_error())
    openssl.ERR_clear_error()
    return "" if text is NULL else text.decode("ascii", "replace")


# of one socket

cdef void tls_free(TlsSession* session) noexcept nogil:
    if session is NULL:
        return
    if session.ssl is not NULL:
        openssl.SSL_free(session.ssl)
    free(session.early)
    free(session)


cdef int tls_shake(TlsSession* session, Bytes data, Py_ssize_t size) noexcept nogil:
    """Go on with the handshake: 1 when it is over, 0 when it needs more, -1 when it failed; records behind its end are kept as `early`."""
    cdef int done
    session.came, session.came_size = data, size
    done = openssl.SSL_do_handshake(session.ssl)
    if done != 1:
        return 0 if openssl.SSL_get_error(session.ssl, done) == WANT_READ else -1
    session.is_shaken = True
    if session.came_size:
        session.early = <uint8_t*>malloc(session.came_size)
        if session.early is NULL:
            return -1
        memcpy(session.early, session.came, session.came_size)
        session.early_size = session.came_size
    return 1


cdef Py_ssize_t tls_open(TlsSession* session, Bytes data, Py_ssize_t size, uint8_t* into, Py_ssize_t room) noexcept nogil:
    """Bytes that the records of a read hold, -1 for a fault. `room` is as large as the records with one that began before."""
    cdef Py_ssize_t found = 0
    cdef int done
    session.came, session.came_size = data, size
    while session.came_size:
        done = openssl.SSL_read(session.ssl, into + found, <int>(room - found))
        if done > 0:
            found += done
            continue
        done = openssl.SSL_get_error(session.ssl, done)
        if done == ZERO_RETURN:
            session.has_closed = True
            return found
        if done != WANT_READ:
            return -1
    return found


cdef bint tls_seal(TlsSession* session, Bytes data, Py_ssize_t size) noexcept nogil:
    """Make records of bytes, at most `RECORD`; False with errno for a fault."""
    if openssl.SSL_write(session.ssl, data, <int>size) == size:
        return True
    openssl.ERR_clear_error()
    set_errno(EPROTO)
    return False


cdef void tls_end(TlsSession* session) noexcept nogil:
    """Tell the peer that no more comes."""
    if session.is_shaken:
        openssl.SSL_shutdown(session.ssl)
        openssl.ERR_clear_error()


cdef str tls_name(TlsSession* session):
    """The name that a client has asked for, None without one."""
    return asked_name(session.ssl)


cdef str tls_failure(TlsSession* session):
    """Return the reason why a handshake or a record failed."""
    cdef long result = openssl.SSL_get_verify_result(session.ssl)
    text = reason()
    return text if result == 0 or not text else openssl.X509_verify_cert_error_string(result).decode("ascii", "replace")


cdef bytes tls_certificate(TlsSession* session):
    """The peer's certificate in DER, None without one."""
    cdef void* found = openssl.SSL_get_peer_certificate(session.ssl)
    cdef uint8_t* at
    cdef bytes made = None
    cdef int size
    if found is NULL:
        return None
    size = openssl.i2d_X509(found, NULL)
    if size > 0:
        made = PyBytes_FromStringAndSize(NULL, size)
        at = <uint8_t*><char*>made
        openssl.i2d_X509(found, &at)
    openssl.X509_free(found)
    return made
