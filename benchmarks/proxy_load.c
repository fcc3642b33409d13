/* Load for a proxy, and the broker behind it: `proxy_load broker PORT` and
   `proxy_load clients PORT CONNECTIONS IN_FLIGHT SIZE EXCHANGES RATE TLS`.

   Requests are Produce v8 of SIZE bytes with their length for the topic `orders`, or Heartbeat v0 below 200; answers have 70 bytes and say
   `acme.orders`, so a proxy for the tenant `acme.` changes both. All requests have one correlation id; an answer has that of its request,
   which a proxy may have changed.
   `clients` prints the wall seconds, and the median and the 99th hundredth of the latencies in microseconds. With RATE 0 each
   connection sends IN_FLIGHT requests when it has the answers to those before: a proxy that is slow gets no larger reads by it. Another
   RATE is exchanges a second over all connections, one after the other. With TLS 1 the clients speak TLS, and believe any certificate. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ANSWER 70
#define API_VERSIONS 18
#define VERSIONS "\0\0\0\14" "\0\0\0\0" "\0\0" "\1" "\0\0\0\0" "\0" /* correlation id, error 0, no API, throttled 0 ms, no tags */
#define LENGTH 4
#define HEAD 12 /* of a request: length, API key and version, correlation id */
#define ROOM (256 << 10)

struct end {
    int fd;
    SSL *tls;           /* of a client, or NULL */
    long skip;          /* bytes of the current frame that are to come */
    unsigned char head[HEAD];
    int have;           /* bytes of `head`: of an answer its length alone, for a proxy may write 10 bytes where the broker wrote 70 */
    long owed;          /* broker: answers to send; client: requests to send */
    long partly;        /* bytes of the first of them that are sent */
    uint32_t *ids;      /* broker: correlation ids of the answers to send, from `first` on; `room` fit */
    long first, room;
    double sent;        /* when the latest request was sent */
    long waiting;       /* client: answers that are to come */
    uint32_t events;
};

static unsigned char in[ROOM], out[ROOM * 2];
static long unit, units; /* bytes of what is sent, and how many of it `out` has */
static int poller, answers;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void put32(unsigned char *at, uint32_t value) {
    value = htonl(value);
    memcpy(at, &value, 4);
}

static void fill(long size, int is_answer) {
    unsigned char *one = calloc(1, size);
    put32(one, size - 4);
    if (is_answer) {
        put32(one + 4, 7);
        put32(one + 8, 1); /* of a Produce: one topic with one partition, without an error; a byte more than there has to be */
        memcpy(one + 12, "\0\13acme.orders", 13);
        put32(one + 25, 1);
        memcpy(one + 63, "\377\377", 2); /* no message */
    } else {
        one[5] = size < 200 ? 12 : 0;
        one[7] = size < 200 ? 0 : 8;
        put32(one + 8, 7);
        memcpy(one + 12, "\0\6client", 8);
        if (size >= 200) {
            memcpy(one + 20, "\377\377\377\377", 4); /* no transactional id, acks -1 */
            put32(one + 28, 1);
            memcpy(one + 32, "\0\6orders", 8);
            put32(one + 40, 1);
            put32(one + 48, size - 52);
        }
    }
    unit = size;
    units = sizeof(out) / size;
    for (long number = 0; number < units; number++) memcpy(out + number * size, one, size);
    free(one);
}

static void watch(struct end *end, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.ptr = end};
    if (operation == EPOLL_CTL_MOD && end->events == events) return;
    end->events = events;
    if (epoll_ctl(poller, operation, end->fd, &event)) die("epoll_ctl");
}

/* Has an answer sent to the request that `head` has begun. */
static void owe(struct end *end) {
    if (end->owed == 0) end->first = 0;
    if (end->first + end->owed == end->room) {
        if (end->first > end->room / 2) {
            memmove(end->ids, end->ids + end->first, end->owed * sizeof(*end->ids));
            end->first = 0;
        } else {
            end->room = end->room ? 2 * end->room : 64;
            end->ids = realloc(end->ids, end->room * sizeof(*end->ids));
            if (end->ids == NULL) die("realloc");
        }
    }
    memcpy(&end->ids[end->first + end->owed++], end->head + 8, 4);
}

static ssize_t tls_result(struct end *end, int done) {
    int error = SSL_get_error(end->tls, done);
    if (done > 0) return done;
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
    return -1;
}

static ssize_t put(struct end *end, const void *data, long size) {
    return end->tls ? tls_result(end, SSL_write(end->tls, data, size)) : send(end->fd, data, size, MSG_NOSIGNAL);
}

static ssize_t get(struct end *end) {
    ssize_t found = 0;
    if (end->tls == NULL) return recv(end->fd, in, sizeof(in), 0);
    do { /* one record each time; what OpenSSL has read epoll does not report */
        ssize_t more = tls_result(end, SSL_read(end->tls, in + found, sizeof(in) - found));
        if (more <= 0) return found ? found : more;
        found += more;
    } while (found < (ssize_t)sizeof(in));
    return found;
}

/* Sends what is owed; all bytes of `out` are one message after the other, which differ in correlation ids. */
static void flush(struct end *end) {
    while (end->owed) {
        long count = end->owed < units ? end->owed : units;
        for (long number = 0; answers && number < count; number++) memcpy(out + number * unit + 4, &end->ids[end->first + number], 4);
        ssize_t sent = put(end, out + end->partly, count * unit - end->partly);
        if (sent < 0) {
            if (errno != EAGAIN) { end->owed = 0; return; }
            watch(end, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            return;
        }
        end->partly += sent;
        end->owed -= end->partly / unit;
        end->first += end->partly / unit;
        end->partly %= unit;
    }
    watch(end, EPOLLIN, EPOLL_CTL_MOD);
}

/* Reads; gives how many frames ended, -1 at the end. A broker owes answers to them. */
static long frames(struct end *end) {
    ssize_t got = get(end);
    long found = 0;
    unsigned char *at = in;
    if (got < 0) return errno == EAGAIN ? 0 : -1;
    if (got == 0) return -1;
    while (got) {
        if (end->skip) {
            long taken = end->skip < got ? end->skip : got;
            end->skip -= taken;
            at += taken;
            got -= taken;
            if (end->skip) continue;
            found++;
            if (!answers) continue;
            if (end->head[5] == API_VERSIONS) {
                unsigned char versions[sizeof(VERSIONS)] = VERSIONS;
                memcpy(versions + 4, end->head + 8, 4);
                send(end->fd, versions, sizeof(VERSIONS) - 1, MSG_NOSIGNAL);
            } else {
                owe(end);
            }
            continue;
        }
        end->head[end->have++] = *at++;
        got--;
        if (end->have == (answers ? HEAD : LENGTH)) {
            uint32_t length;
            memcpy(&length, end->head, LENGTH);
            end->skip = ntohl(length) - (end->have - LENGTH);
            end->have = 0;
        }
    }
    return found;
}

static struct end *made(int fd, SSL_CTX *tls) {
    int on = 1;
    struct end *end = calloc(1, sizeof(*end));
    end->fd = fd;
    if (tls) {
        end->tls = SSL_new(tls);
        SSL_set_fd(end->tls, fd);
        if (SSL_connect(end->tls) != 1) die("SSL_connect");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    watch(end, EPOLLIN, EPOLL_CTL_ADD);
    return end;
}

static void broker(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event events[128];
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 4096)) die("listen");
    fill(ANSWER, 1);
    answers = 1;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
    for (;;) {
        int count = epoll_wait(poller, events, 128, -1);
        for (int index = 0; index < count; index++) {
            struct end *end = events[index].data.ptr;
            if (end == NULL) {
                int found = accept(fd, NULL, NULL);
                if (found >= 0) made(found, NULL);
                continue;
            }
            long found = events[index].events & ~EPOLLOUT ? frames(end) : 0;
            if (found < 0) {
                close(end->fd);
                free(end->ids);
                free(end);
                continue;
            }
            flush(end);
        }
    }
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void clients(int port, int connections, long in_flight, long size, long exchanges, double rate, SSL_CTX *tls) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event events[128];
    struct end **ends = calloc(connections, sizeof(*ends));
    float *latencies = calloc(exchanges + 1, sizeof(float));
    long asked = 0, done = 0;
    int next = 0;
    fill(size, 0);
    for (int number = 0; number < connections; number++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof(address))) die("connect");
        ends[number] = made(fd, tls);
    }
    double begin = now();
    for (int number = 0; rate == 0 && number < connections; number++) {
        long count = in_flight < exchanges - asked ? in_flight : exchanges - asked;
        asked += ends[number]->owed = ends[number]->waiting = count;
        ends[number]->sent = now();
        flush(ends[number]);
    }
    while (done < exchanges) {
        int wait = -1;
        if (rate) {
            double due = begin + asked / rate;
            while (asked < exchanges && now() >= due) {
                struct end *end = ends[next];
                if (end->waiting) break;
                next = (next + 1) % connections;
                end->owed = end->waiting = 1;
                end->sent = now();
                asked++;
                flush(end);
                due = begin + asked / rate;
            }
            wait = asked < exchanges ? 0 : -1;
        }
        int count = epoll_wait(poller, events, 128, wait);
        for (int index = 0; index < count; index++) {
            struct end *end = events[index].data.ptr;
            long found = events[index].events & ~EPOLLOUT ? frames(end) : 0;
            if (found < 0) die("a connection ended");
            if (found) {
                double t = now();
                if (rate || in_flight == 1) latencies[done] = (t - end->sent) * 1e6;
                end->waiting -= found;
                done += found;
                if (rate == 0 && end->waiting == 0) {
                    long more = in_flight < exchanges - asked ? in_flight : exchanges - asked;
                    end->owed = end->waiting = more;
                    asked += more;
                    end->sent = t;
                }
            }
            flush(end);
        }
    }
    double took = now() - begin;
    qsort(latencies, exchanges, sizeof(float), by_size);
    printf("%.6f %.1f %.1f\n", took, latencies[exchanges / 2], latencies[exchanges * 99 / 100]);
}

int main(int count, char **given) {
    poller = epoll_create1(0);
    if (count == 3 && !strcmp(given[1], "broker")) broker(atoi(given[2]));
    if (count != 9 || strcmp(given[1], "clients")) return 2;
    SSL_CTX *tls = atoi(given[8]) ? SSL_CTX_new(TLS_client_method()) : NULL;
    if (tls) SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    clients(atoi(given[2]), atoi(given[3]), atol(given[4]), atol(given[5]), atol(given[6]), atof(given[7]), tls);
    return 0;
}
