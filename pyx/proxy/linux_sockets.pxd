"""Linux's epoll and sockets, as far as the loop of the proxy calls them."""

from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset


cdef extern from "<sys/epoll.h>" nogil:
    enum:
        EPOLLIN
        EPOLLOUT
        EPOLLERR
        EPOLLHUP
        EPOLL_CLOEXEC
        EPOLL_CTL_ADD
        EPOLL_CTL_DEL
        EPOLL_CTL_MOD
    ctypedef union epoll_data_t:
        uint64_t u64
    struct epoll_event:
        uint32_t events
        epoll_data_t data
    int epoll_create1(int flags)
    int epoll_ctl(int epoll, int operation, int fd, epoll_event* event)
    int epoll_wait(int epoll, epoll_event* events, int most, int milliseconds)

cdef extern from "<sys/eventfd.h>" nogil:
    enum:
        EFD_CLOEXEC
        EFD_NONBLOCK
    int eventfd(unsigned int value, int flags)
    int eventfd_read(int fd, uint64_t* value)
    int eventfd_write(int fd, uint64_t value)

cdef extern from "<sys/socket.h>" nogil:
    enum:
        AF_INET
        AF_INET6
        SOCK_STREAM
        SOCK_NONBLOCK
        SOCK_CLOEXEC
        SOL_SOCKET
        SO_ERROR
        SO_KEEPALIVE
        SHUT_WR
        MSG_NOSIGNAL
    ctypedef unsigned int socklen_t
    struct sockaddr:
        pass
    struct sockaddr_storage:
        uint16_t ss_family
    struct iovec:
        pass
    struct msghdr:
        iovec* msg_iov
        size_t msg_iovlen
    int socket(int family, int kind, int protocol)
    int accept4(int fd, sockaddr* address, socklen_t* size, int flags)
    int connect(int fd, const sockaddr* address, socklen_t size)
    int getsockname(int fd, sockaddr* address, socklen_t* size)
    int getsockopt(int fd, int level, int name, void* value, socklen_t* size)
    int setsockopt(int fd, int level, int name, const void* value, socklen_t size)
    int shutdown(int fd, int how)
    Py_ssize_t recv(int fd, void* data, size_t size, int flags)
    Py_ssize_t sendmsg(int fd, const msghdr* message, int flags)

cdef extern from "<netinet/in.h>" nogil:
    enum:
        IPPROTO_TCP
    struct in_addr:
        pass
    struct in6_addr:
        pass
    struct sockaddr_in:
        uint16_t sin_family
        uint16_t sin_port
        in_addr sin_addr
    struct sockaddr_in6:
        uint16_t sin6_family
        uint16_t sin6_port
        in6_addr sin6_addr
        uint32_t sin6_scope_id

cdef extern from "<netinet/tcp.h>" nogil:
    enum:
        TCP_NODELAY
        TCP_KEEPIDLE
        TCP_KEEPINTVL
        TCP_KEEPCNT

cdef extern from "<arpa/inet.h>" nogil:
    uint16_t htons(uint16_t number)
    uint16_t ntohs(uint16_t number)
    int inet_pton(int family, const char* text, void* address)
    const char* inet_ntop(int family, const void* address, char* text, socklen_t size)

cdef extern from "<unistd.h>" nogil:
    int close(int fd)

cdef extern from "<time.h>" nogil:
    enum:
        CLOCK_MONOTONIC
        CLOCK_REALTIME
    struct timespec:
        int64_t tv_sec
        int64_t tv_nsec
    int clock_gettime(int clock, timespec* time)


cdef inline int64_t now_ns() noexcept nogil:
    """Nanoseconds of the clock that `time.monotonic_ns` reads."""
    cdef timespec found
    clock_gettime(CLOCK_MONOTONIC, &found)
    return found.tv_sec * 1000000000 + found.tv_nsec


cdef inline int64_t wall_ns() noexcept nogil:
    """Nanoseconds since 1970 UTC."""
    cdef timespec found
    clock_gettime(CLOCK_REALTIME, &found)
    return found.tv_sec * 1000000000 + found.tv_nsec


cdef inline void set_option(int fd, int level, int name, int value) noexcept nogil:
    setsockopt(fd, level, name, &value, sizeof(int))


cdef inline void set_up(int fd) noexcept nogil:
    """Send small writes at once, and detect dead peers: Kafka's own idle limits belong to client and broker."""
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1)
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1)
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60)
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15)
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4)


cdef inline int error_at(int fd) noexcept nogil:
    """The error that waits at a socket, 0 for none."""
    cdef int found = 0
    cdef socklen_t size = sizeof(int)
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &found, &size)
    return found


cdef inline tuple end_of(const sockaddr_storage* address):
    cdef char text[64]
    cdef const sockaddr_in* four = <const sockaddr_in*>address
    cdef const sockaddr_in6* six = <const sockaddr_in6*>address
    if address.ss_family == AF_INET:
        inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text))
        return text.decode("ascii"), ntohs(four.sin_port)
    inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text))
    return text.decode("ascii"), ntohs(six.sin6_port)


cdef inline socklen_t address_at(sockaddr_storage* made, int family, tuple end) except 0:
    """Write an end as `getaddrinfo` has it; gives its size."""
    cdef sockaddr_in* four = <sockaddr_in*>made
    cdef sockaddr_in6* six = <sockaddr_in6*>made
    cdef bytes host = end[0].partition("%")[0].encode("ascii")
    cdef void* at = &six.sin6_addr if family == AF_INET6 else &four.sin_addr
    memset(made, 0, sizeof(sockaddr_storage))
    if inet_pton(family, PyBytes_AS_STRING(host), at) != 1:
        raise OSError(f"{end[0]} is not an address")
    made.ss_family = <uint16_t>family
    if family == AF_INET6:
        six.sin6_port = htons(end[1])
        six.sin6_scope_id = end[3]
        return sizeof(sockaddr_in6)
    four.sin_port = htons(end[1])
    return sizeof(sockaddr_in)
