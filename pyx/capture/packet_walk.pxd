"""Records of pcap, blocks of pcapng and routed packets: part of the native backend of `kwire.capture._pure.packets`."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc

from capture.packet_fragments cimport take_fragment
from capture.packet_links cimport view_packet
from capture.packet_routes cimport ROUTED_HEADER, route_packet
from capture.packet_scan cimport Port, Scan, SecretRange, add_exported, add_tcp
from capture.packet_view cimport IS_EXPORTED, IS_FRAGMENT, IS_OTHER, IS_TCP, IS_UNREAD, PacketView, order_16, order_32, order_64, view_open
from wire.cursor cimport Bytes, likely, load_32, load_64
from wire.grown cimport grown

cdef enum FileKind:  # kwire.capture.packet_columns
    PCAP = 1
    PCAPNG = 2
    ROUTED = 3

cdef enum:
    SECTION = 0x0A0D0D0A
    INTERFACE = 1
    OLD_PACKET = 2
    SIMPLE_PACKET = 3
    STATISTICS = 5
    SECRETS = 10
    KEY_LOG = 0x544C534B  # "TLSK": the secrets are an NSS key log
    ENHANCED_PACKET = 6

    UNKNOWN = -1
    IMPLAUSIBLE_LENGTHS = 1
    IMPLAUSIBLE_TIME = 2

    IF_TSRESOL = 9
    IF_TSOFFSET = 14
    ISB_IFDROP = 5
    ISB_OSDROP = 7


cdef inline void count_unread(Scan* scan, int link_type) noexcept nogil:
    if scan.unread == NULL:
        scan.unread = <int64_t*>calloc(1 << 16, sizeof(int64_t))
    if scan.unread == NULL:
        scan.failed = True
        return
    scan.unread[link_type & 0xFFFF] += 1


cdef inline void take_packet(Scan* scan, int link_type, int64_t time_ns, Bytes at, uint32_t captured, uint32_t original) noexcept nogil:
    cdef PacketView view
    cdef int fate
    if original < captured:
        original = captured
    elif original > 0x7FFFFFFF:
        original = 0x7FFFFFFF
    scan.packets += 1
    scan.captured_bytes += captured
    scan.original_bytes += original
    scan.time_ns = time_ns
    if not scan.timed:
        scan.timed = True
        scan.start_ns = scan.end_ns = time_ns
    elif time_ns < scan.start_ns:
        scan.start_ns = time_ns
    elif time_ns > scan.end_ns:
        scan.end_ns = time_ns
    view_open(&view, at, captured, <int64_t>original - captured)
    fate = view_packet(&view, link_type)
    if scan.routes is not NULL and (fate == IS_TCP or fate == IS_FRAGMENT or fate == IS_EXPORTED):
        route_packet(scan, &view, fate, link_type, time_ns, at, captured, original)
    elif likely(fate == IS_TCP):
        add_tcp(scan, &view, time_ns)
    elif fate == IS_OTHER:
        scan.others += 1
    elif fate == IS_FRAGMENT:
        take_fragment(scan, &view, time_ns, &scan.limits)
    elif fate == IS_EXPORTED:
        add_exported(scan, &view, time_ns)
    else:
        scan.unreadable += 1
        if fate == IS_UNREAD:
            count_unread(scan, link_type)


cdef inline int64_t nanoseconds(uint64_t ticks, int resolution, int64_t offset_s) noexcept nogil:
    cdef int power = resolution & 0x7F
    cdef int _step
    cdef uint64_t value, fraction, divisor
    if resolution & 0x80:
        value = ticks >> power if power < 64 else 0
        fraction = ticks - (value << power) if power < 64 else ticks
        if power > 34:  # what is left fits 64 bits times 10**9
            fraction = fraction >> (power - 34) if power - 34 < 64 else 0
            power = 34
        value = value * 1000000000u + (fraction * 1000000000u >> power)
    else:
        divisor = 1
        for _step in range(9 - power if power <= 9 else min(power, 28) - 9):
            divisor *= 10
        if power <= 9:
            value = ticks * divisor
        else:
            value = ticks // divisor if power <= 28 else 0
    return <int64_t>((value + <uint64_t>offset_s * 1000000000u) << 1) >> 1  # modulo 2**63


cdef inline bint is_near(Scan* scan, int64_t one, int64_t other) noexcept nogil:
    cdef uint64_t apart = <uint64_t>one - <uint64_t>other if one > other else <uint64_t>other - <uint64_t>one
    return apart <= <uint64_t>scan.near_ns


cdef inline int64_t record_time(Scan* scan, Bytes at, int64_t unit) noexcept nogil:
    return <int64_t>order_32(at, scan.big_endian) * 1000000000 + order_32(at + 4, scan.big_endian) * unit


cdef inline int implausible_record(Scan* scan, Bytes at, int64_t unit, bint timed, int64_t time_ns) noexcept nogil:
    """Return an implausible fact of a pcap record's header, 0 for none; `time_ns` is the time of the previous record."""
    cdef uint32_t captured = order_32(at + 8, scan.big_endian)
    if order_32(at + 4, scan.big_endian) * unit >= 1000000000 or (timed and not is_near(scan, record_time(scan, at, unit), time_ns)):
        return IMPLAUSIBLE_TIME
    if captured > scan.packet_limit or captured > order_32(at + 12, scan.big_endian):
        return IMPLAUSIBLE_LENGTHS
    return IMPLAUSIBLE_LENGTHS if load_64(at) == 0 and load_64(at + 8) == 0 else 0


cdef inline void scan_pcap(Scan* scan) noexcept nogil:
    cdef Py_ssize_t header = scan.record_header
    cdef int link_type = scan.ports[0].link_type
    cdef int64_t unit = 1 if scan.ports[0].resolution == 9 else 1000
    cdef Bytes at = scan.at
    cdef Bytes following
    cdef uint32_t captured
    cdef int64_t time_ns
    cdef int odd = UNKNOWN  # what is odd about this record
    while scan.end - at >= header and not scan.failed:
        captured = order_32(at + 8, scan.big_endian)
        if odd == UNKNOWN:
            odd = implausible_record(scan, at, unit, scan.timed, scan.time_ns) if at >= scan.proven else 0
        if captured > scan.packet_limit or odd:
            scan.damaged = True
            break
        if scan.end - at - header < captured:
            break
        following = at + header + captured
        time_ns = record_time(scan, at, unit)
        odd = UNKNOWN
        if at >= scan.proven:
            if scan.end - following < header:
                if not scan.ended:
                    break
            else:
                odd = implausible_record(scan, following, unit, True, time_ns)
                if odd == IMPLAUSIBLE_TIME:
                    scan.damaged = True
                    break
        take_packet(scan, link_type, time_ns, at + header, captured, order_32(at + 12, scan.big_endian))
        at = following
    scan.at = at


cdef inline void take_interface(Scan* scan, Bytes block, Bytes end) noexcept nogil:
    cdef Port* ports
    cdef Port* port
    cdef Bytes at = block + 16
    cdef uint32_t code, length
    ports = <Port*>grown(scan.ports, &scan.port_room, scan.port_count + 1, 2, sizeof(Port))
    if ports == NULL:
        scan.failed = True
        return
    scan.ports = ports
    port = &scan.ports[scan.port_count]
    scan.port_count += 1
    port.link_type = order_16(block + 8, scan.big_endian)
    port.snaplen = order_32(block + 12, scan.big_endian)
    port.resolution = 6
    port.offset_s = 0
    port.dropped = -1
    while end - at >= 4:
        code, length = order_16(at, scan.big_endian), order_16(at + 2, scan.big_endian)
        if code == 0 or length > end - at - 4:
            break
        if code == IF_TSRESOL and length >= 1:
            port.resolution = at[4]
        elif code == IF_TSOFFSET and length >= 8:
            port.offset_s = <int64_t>order_64(at + 4, scan.big_endian)
        if end - at - 4 < ((length + 3) & ~3u):
            break
        at += 4 + ((length + 3) & ~3u)
    if port.snaplen > scan.snaplen:
        scan.snaplen = port.snaplen


cdef inline void take_secrets(Scan* scan, Bytes block, int64_t length) noexcept nogil:
    """A Decryption Secrets Block: keep where its key log is."""
    cdef SecretRange* ranges
    cdef uint32_t size = order_32(block + 12, scan.big_endian)
    if not size or order_32(block + 8, scan.big_endian) != KEY_LOG or size > length - 20:
        return
    ranges = <SecretRange*>grown(scan.secrets, &scan.secret_room, scan.secret_count + 1, 2, sizeof(SecretRange))
    if ranges == NULL:
        scan.failed = True
        return
    scan.secrets = ranges
    scan.secrets[scan.secret_count].start = block + 16
    scan.secrets[scan.secret_count].size = size
    scan.secret_count += 1


cdef inline void take_statistics(Scan* scan, Bytes block, Bytes end) noexcept nogil:
    cdef uint32_t index = order_32(block + 8, scan.big_endian)
    cdef Bytes at = block + 20
    cdef uint32_t code, length
    cdef int64_t by_interface = -1
    cdef int64_t by_system = -1
    cdef int64_t value
    if index >= scan.port_count:
        return
    while end - at >= 4:
        code, length = order_16(at, scan.big_endian), order_16(at + 2, scan.big_endian)
        if code == 0 or length > end - at - 4:
            break
        if (code == ISB_IFDROP or code == ISB_OSDROP) and length >= 8:
            value = <int64_t>(order_64(at + 4, scan.big_endian) & 0xFFFFFFFFFFu)
            if code == ISB_IFDROP:
                by_interface = value
            else:
                by_system = value
        if end - at - 4 < ((length + 3) & ~3u):
            break
        at += 4 + ((length + 3) & ~3u)
    if by_interface >= 0 or by_system >= 0:
        scan.ports[index].dropped = (by_interface if by_interface > 0 else 0) + (by_system if by_system > 0 else 0)


cdef inline void end_section(Scan* scan) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(scan.port_count):
        if scan.ports[index].dropped >= 0:
            if scan.dropped_before < 0:
                scan.dropped_before = 0
            scan.dropped_before += scan.ports[index].dropped
    scan.port_count = 0


cdef inline void take_block(Scan* scan, uint32_t kind, Bytes at, uint32_t length) noexcept nogil:
    cdef Bytes end = at + length - 4
    cdef Port* port
    cdef uint32_t index, captured, original
    cdef uint64_t ticks
    if kind == ENHANCED_PACKET or kind == OLD_PACKET:
        index = captured = 0
        if length >= 32:
            index = order_32(at + 8, scan.big_endian) if kind == ENHANCED_PACKET else order_16(at + 8, scan.big_endian)
            captured = order_32(at + 20, scan.big_endian)
        if length < 32 or index >= scan.port_count or captured > length - 32:
            scan.packets += 1
            scan.unreadable += 1
            return
        port = &scan.ports[index]
        ticks = (<uint64_t>order_32(at + 12, scan.big_endian) << 32) | order_32(at + 16, scan.big_endian)
        take_packet(
            scan, port.link_type, nanoseconds(ticks, port.resolution, port.offset_s),
            at + 28, captured, order_32(at + 24, scan.big_endian),
        )
    elif kind == SIMPLE_PACKET:
        if length < 16 or scan.port_count == 0:
            scan.packets += 1
            scan.unreadable += 1
            return
        port = &scan.ports[0]
        original = order_32(at + 8, scan.big_endian)
        captured = original if original < length - 16 else length - 16
        if port.snaplen and port.snaplen < captured:
            captured = port.snaplen
        take_packet(scan, port.link_type, scan.time_ns, at + 12, captured, original)
    elif kind == INTERFACE:
        if length >= 20:
            take_interface(scan, at, end)
    elif kind == STATISTICS:
        if length >= 24:
            take_statistics(scan, at, end)
    elif kind == SECRETS:
        if length >= 20:
            take_secrets(scan, at, length)
    elif kind == SECTION:
        end_section(scan)


cdef inline void scan_pcapng(Scan* scan) noexcept nogil:
    cdef Bytes at = scan.at
    cdef uint32_t kind, length, mark
    while scan.end - at >= 12 and not scan.failed:
        kind = load_32(at)
        if kind == SECTION:
            mark = load_32(at + 8)
            if mark == 0x1A2B3C4Du:
                scan.big_endian = True
            elif mark == 0x4D3C2B1Au:
                scan.big_endian = False
            else:
                scan.damaged = True
                break
        else:
            kind = order_32(at, scan.big_endian)
        length = order_32(at + 4, scan.big_endian)
        if length < 12 or length > scan.block_limit or length & 3:
            scan.damaged = True
            break
        if scan.end - at < length:
            break
        if scan.strict and order_32(at + length - 4, scan.big_endian) != length:
            scan.damaged = True
            break
        take_block(scan, kind, at, length)
        at += length
    scan.at = at


cdef inline void scan_routed(Scan* scan) noexcept nogil:
    """Walk the output of `route_packet`. The router has counted the packets, so only fragments are counted here."""
    cdef Bytes at = scan.at
    cdef int64_t before = scan.packets
    cdef int64_t tcp, cut, time_ns
    cdef uint32_t captured
    cdef PacketView view
    cdef int fate
    while scan.end - at >= ROUTED_HEADER and not scan.failed:
        captured = order_32(at + 16, False)
        if captured > scan.block_limit:
            scan.damaged = True
            break
        if scan.end - at - ROUTED_HEADER < captured:
            break
        time_ns = <int64_t>order_64(at, False)
        view_open(&view, at + ROUTED_HEADER, captured, <int64_t>order_32(at + 20, False) - captured)
        scan.packets = before + order_32(at + 8, False)
        fate = view_packet(&view, <int>order_32(at + 12, False))
        tcp, cut = scan.tcp, scan.cut_bytes
        if fate == IS_FRAGMENT:
            take_fragment(scan, &view, time_ns, &scan.limits)
        else:
            if fate == IS_TCP:
                add_tcp(scan, &view, time_ns)
            elif fate == IS_EXPORTED:
                add_exported(scan, &view, time_ns)
            scan.tcp, scan.cut_bytes = tcp, cut
        at += ROUTED_HEADER + captured
    scan.packets = before
    scan.at = at


cdef inline void walk_records(Scan* scan) noexcept nogil:
    if scan.kind == PCAP:
        scan_pcap(scan)
    elif scan.kind == PCAPNG:
        scan_pcapng(scan)
    else:
        scan_routed(scan)
