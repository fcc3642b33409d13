"""Native backend of `kwire.capture._pure.fragments`.

Fragmented packets lie in slots; `order` lists those in use, the oldest first, then those that are free.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memmove, memset

from capture.endpoint_table cimport EndpointPair
from capture.packet_scan cimport FIN, NAME_BYTES, RST, SYN, EarlyPart, Fragmented, FragmentLimits, Scan, TcpHeader, add_row, read_tcp
from capture.packet_view cimport IS_FRAGMENT, IS_OTHER, IS_TCP, IS_UNREADABLE, PROTOCOL, PacketView, follow_layers
from wire.cursor cimport Bytes

cdef enum:
    IS_UNKNOWN = -1


cdef inline bint open_fragments(Scan* scan, const FragmentLimits* limits) noexcept nogil:
    """Reserve the slots at the first fragment of a chunk; False without memory."""
    cdef int32_t index
    if scan.fragmented != NULL:
        return True
    scan.fragmented = <Fragmented*>calloc(limits.packets, sizeof(Fragmented))
    scan.order = <int32_t*>malloc(limits.packets * sizeof(int32_t))
    if scan.fragmented == NULL or scan.order == NULL:
        return False
    for index in range(limits.packets):
        scan.order[index] = index
    return True


cdef inline void free_parts(Scan* scan, Fragmented* packet, const FragmentLimits* limits) noexcept nogil:
    cdef EarlyPart* part = packet.first
    cdef EarlyPart* following
    while part != NULL:
        following = part.following
        scan.held -= part.stored + limits.early_cost
        free(part.data)
        free(part)
        part = following
    packet.first = packet.last = NULL


cdef inline void forget_packet(Scan* scan, Py_ssize_t place, const FragmentLimits* limits) noexcept nogil:
    cdef int32_t slot = scan.order[place]
    free_parts(scan, &scan.fragmented[slot], limits)
    scan.waiting -= 1
    memmove(&scan.order[place], &scan.order[place + 1], (scan.waiting - place) * sizeof(int32_t))
    scan.order[scan.waiting] = slot


cdef inline Fragmented* begin_packet(Scan* scan, const uint8_t* name, int64_t time_ns, const FragmentLimits* limits) noexcept nogil:
    cdef Fragmented* packet
    if scan.waiting == limits.packets:
        forget_packet(scan, 0, limits)
    packet = &scan.fragmented[scan.order[scan.waiting]]
    scan.waiting += 1
    memset(packet, 0, sizeof(Fragmented))
    memcpy(packet.name, name, NAME_BYTES)
    packet.time_ns = time_ns
    packet.size = -1
    packet.fate = IS_UNKNOWN
    packet.payload_bytes = -1
    return packet


cdef inline Py_ssize_t place_of(const Scan* scan, const Fragmented* packet) noexcept nogil:
    cdef Py_ssize_t place = scan.waiting - 1
    while &scan.fragmented[scan.order[place]] != packet:
        place -= 1
    return place


cdef inline Fragmented* find_packet(Scan* scan, const PacketView* view, int64_t time_ns, const FragmentLimits* limits) noexcept nogil:
    """The packet that a fragment belongs to, known or new."""
    cdef uint8_t name[NAME_BYTES]
    cdef int size = 4 if view.version == 4 else 16
    cdef uint32_t id = view.fragment_id
    cdef Py_ssize_t place
    while scan.waiting and time_ns - scan.fragmented[scan.order[0]].time_ns > limits.time_ns:
        forget_packet(scan, 0, limits)
    memset(name, 0, NAME_BYTES)
    name[0] = <uint8_t>view.version
    memcpy(&name[1], view.source, size)
    memcpy(&name[1 + size], view.target, size)
    name[1 + 2 * size] = <uint8_t>view.protocol
    name[2 + 2 * size] = <uint8_t>(id >> 24)
    name[3 + 2 * size] = <uint8_t>(id >> 16)
    name[4 + 2 * size] = <uint8_t>(id >> 8)
    name[5 + 2 * size] = <uint8_t>id
    place = scan.waiting - 1
    while place >= 0:
        if memcmp(scan.fragmented[scan.order[place]].name, name, NAME_BYTES) == 0:
            return &scan.fragmented[scan.order[place]]
        place -= 1
    return begin_packet(scan, name, time_ns, limits)


cdef inline void read_first(Fragmented* packet, PacketView* view) noexcept nogil:
    cdef Bytes start = view.at
    cdef int64_t size = view.end - start + view.cut
    cdef int fate = follow_layers(view, PROTOCOL + view.protocol)
    cdef int64_t inner
    if packet.fate != IS_UNKNOWN:  # seen before: what follows is seen again too
        packet.seen = 0
        packet.size = -1
    packet.fate = IS_UNREADABLE if fate == IS_FRAGMENT else fate
    if fate != IS_TCP:
        return
    read_tcp(&packet.header, view)
    packet.payload_at = view.at - start + view.header
    inner = view.end - start + view.cut
    packet.payload_bytes = -1 if inner == size else inner - packet.payload_at


cdef inline bint keep_part(Scan* scan, Fragmented* packet, const EarlyPart* part, Bytes data, const FragmentLimits* limits) noexcept nogil:
    """Keep an early fragment where the limits allow; False without memory."""
    cdef Py_ssize_t cost = part.stored + limits.early_cost
    cdef EarlyPart* kept
    while scan.held + cost > limits.early_bytes:
        if &scan.fragmented[scan.order[0]] == packet:
            return True
        forget_packet(scan, 0, limits)
    kept = <EarlyPart*>malloc(sizeof(EarlyPart))
    if kept == NULL:
        return False
    kept[0] = part[0]
    kept.following = NULL
    kept.data = <uint8_t*>malloc(part.stored if part.stored else 1)
    if kept.data == NULL:
        free(kept)
        return False
    memcpy(kept.data, data, part.stored)
    if packet.last == NULL:
        packet.first = kept
    else:
        packet.last.following = kept
    packet.last = kept
    scan.held += cost
    return True


cdef inline bint spill(Scan* scan, const EarlyPart* part) noexcept nogil:
    cdef uint8_t* room
    cdef Py_ssize_t size = scan.spilled_bytes + part.stored
    if size > scan.spilled_room:
        room = <uint8_t*>realloc(scan.spilled, 2 * size)
        if room == NULL:
            return False
        scan.spilled = room
        scan.spilled_room = 2 * size
    if part.stored:
        memcpy(scan.spilled + scan.spilled_bytes, part.data, part.stored)
    scan.spilled_bytes = size
    return True


cdef inline void settle_part(Scan* scan, const Fragmented* packet, const EarlyPart* part, int64_t offset) noexcept nogil:
    """Make a row of a part of what a packet carries, once it is known what that is."""
    cdef TcpHeader header
    cdef int64_t begin, skipped, original, captured
    scan.fragments -= 1
    if packet.fate == IS_OTHER:
        scan.others += 1
        return
    if packet.fate != IS_TCP:
        scan.unreadable += 1
        return
    header = packet.header
    begin = part.at - packet.payload_at
    skipped = min(max(-begin, 0), part.length)  # bytes of headers
    begin = max(begin + skipped, 0)
    original = part.length - skipped
    if packet.payload_bytes >= 0:
        begin = min(begin, packet.payload_bytes)
        original = min(original, packet.payload_bytes - begin)
    captured = min(max(part.stored - skipped, 0), original)
    header.flags &= ~(FIN if part.at == 0 else SYN | FIN | RST)
    if not part.more:
        header.flags |= packet.header.flags & FIN
    header.seq += <uint32_t>begin + (1 if begin and packet.header.flags & SYN else 0)
    header.signature ^= <uint32_t>part.at * <uint32_t>2654435761u
    add_row(scan, part.number, part.time_ns, &header, offset + skipped, captured, original)


cdef inline void take_fragment(Scan* scan, PacketView* view, int64_t time_ns, const FragmentLimits* limits) noexcept nogil:
    """Take a packet whose fate is IS_FRAGMENT; the view is used up."""
    cdef EarlyPart part
    cdef EarlyPart* early
    cdef Fragmented* packet
    cdef Bytes data = view.at
    scan.fragments += 1
    if not open_fragments(scan, limits):
        scan.failed = True
        return
    part.number = scan.packets
    part.time_ns = time_ns
    part.at = view.fragment_at
    part.stored = view.end - view.at
    part.length = part.stored + view.cut
    part.more = view.more
    packet = find_packet(scan, view, time_ns, limits)
    if part.at == 0:
        read_first(packet, view)
    if packet.fate == IS_UNKNOWN:
        if not keep_part(scan, packet, &part, data, limits):
            scan.failed = True
            return
    else:
        settle_part(scan, packet, &part, data - scan.base)
    if part.at == 0:
        early = packet.first
        while early != NULL and not scan.failed:
            settle_part(scan, packet, early, scan.chunk_bytes + scan.spilled_bytes)
            if packet.fate == IS_TCP and not spill(scan, early):
                scan.failed = True
            early = early.following
        free_parts(scan, packet, limits)
    packet.seen += part.length
    if not part.more:
        packet.size = part.at + part.length
    if packet.fate != IS_UNKNOWN and 0 <= packet.size <= packet.seen:
        forget_packet(scan, place_of(scan, packet), limits)
