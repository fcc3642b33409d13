"""TLS connection: takes bytes of both directions and returns plaintext, if keys are known, and facts of the handshake.

`kwire.capture.tls.handshakes` reads handshake messages; this module decrypts records one by one, also after losses.
"""

from __future__ import annotations

from typing import Final

from kwire.capture.tls.alerts import Alert, read_alert
from kwire.capture.tls.direction import Direction
from kwire.capture.tls.handshakes import Handshakes
from kwire.capture.tls.plaintext import Missing, Output, Plain
from kwire.capture.tls.record_ciphers import Opened
from kwire.capture.tls.records import ALERT, APPLICATION, CHANGE_CIPHER, HANDSHAKE, Broken, Record
from kwire.capture.tls.session_keys import SeriesKeys
from kwire.protocol.tls_handshake import CLIENT_HELLO, TLS_1_2

__all__ = ["LEAST_FINISHED", "TlsConnection"]

LEAST_FINISHED: Final = 4 + 32 + 1 + 16  # of TLS 1.3, encrypted: header, a hash of SHA-256, content type and tag
_KNOWN_MESSAGES: Final = frozenset((0, 1, 2, 4, 5, 8, 11, 12, 13, 14, 15, 16, 20, 22, 24))


class TlsConnection(Handshakes):
    """One connection."""

    __slots__ = ("_found", "alerts", "unverified_bytes")

    def __init__(self) -> None:
        super().__init__()
        self._found: Opened | None = None
        self.alerts: list[Alert] = []  # readable alerts, at most a few
        self.unverified_bytes = 0  # plaintext without a verified tag

    # What the layer below says.

    def receive(self, keys: SeriesKeys, side: int, data: bytes, t: int, packet: int) -> list[Output]:
        return self.taken(keys, side) if self._directions[side].stream.take(data, t, packet) else []

    def taken(self, keys: SeriesKeys, side: int) -> list[Output]:
        """Read the available records of a side."""
        out: list[Output] = []
        direction = self._directions[side]

        def accepts(kind: int, version: int, body: bytes, lost: int) -> bool:
            return self._accepts(direction, kind, version, body, lost)

        for record in direction.stream.records(accepts):
            found, self._found = self._found, None
            self._record(keys, side, record, found, out)
        return out

    def lose(self, keys: SeriesKeys, side: int, count: int, t: int, packet: int, cut: bool) -> list[Output]:
        out: list[Output] = []
        direction = self._directions[side]
        self.lost = self.lost or not cut
        if not self.completed(side):
            direction.messages.lose()
            self._transcript = None
        broken = direction.stream.lose(count, t, packet, cut)
        if broken is not None:
            self._broken(keys, side, broken, out)
        if direction.stream.seeking:
            if not direction.epochs:
                direction.stream.give_up()  # nothing could say which bytes are a record
            self._miss(side, None, cut, (t, packet), out)
        return out

    def end(self, keys: SeriesKeys) -> None:
        """End the connection: a truncated plaintext flight is read as far as it goes."""
        for side, direction in enumerate(self._directions):
            broken = direction.stream.unfinished()
            if broken is not None and broken.kind == HANDSHAKE and not self._protects(direction, broken.kind):
                self._broken_hello(keys, side, broken)

    def begins_late(self, side: int) -> None:
        """Record, before its first bytes, that the beginning of a side is missing."""
        direction = self._directions[side]
        direction.stream.seeking = self.lost = True
        direction.doubtful = direction.doubtful or (0, 0)

    def _miss(self, side: int, count: int | None, cut: bool, mark: tuple[int, int], out: list[Output]) -> None:
        """Report missing plaintext; before the first plaintext of a direction, the loss is uncertain until a record confirms it."""
        direction = self._directions[side]
        if direction.opened_bytes:
            out.append(Missing(side, count, cut, *mark))
        else:
            direction.doubtful = direction.doubtful or mark

    def _settle_doubt(self, side: int, out: list[Output]) -> None:
        """Decide, at the first plaintext after a loss, whether plaintext was lost."""
        own, client = self._directions[side], self.client_side
        if own.doubtful is not None:
            is_first = self.is_13 and bool(own.epochs) and own.epochs[0].kind == "data" and own.epochs[0].sequence == 1
            if not is_first:
                out.append(Missing(side, None, False, *own.doubtful))
            own.doubtful = None
        # a server answers what it was asked, and behind its first request a client may have been answered
        other = self._directions[1 - side]
        if client is not None and other.doubtful is not None and (side != client or own.opened_bytes):
            out.append(Missing(1 - side, None, False, *other.doubtful))
            other.doubtful = None

    def completed(self, side: int) -> bool:
        direction = self._directions[side]
        return direction.finished or bool(direction.epochs and direction.epochs[0].kind == "data" and direction.opened)

    # Records.

    def _protects(self, direction: Direction, kind: int) -> bool:
        return direction.encrypted or (kind == APPLICATION)

    def _accepts(self, direction: Direction, kind: int, version: int, body: bytes, lost: int) -> bool:
        """Tell whether a candidate behind a loss is a record."""
        if direction.epochs and (not self.is_13 or kind == APPLICATION):
            self._found = direction.open(kind, version, body, lost)
            if self._found is not None:
                return True
            if direction.stopped:
                direction.stream.seeking = False
                direction.stream.ended = True
                return False
        if direction.encrypted or direction.opened:
            return False
        if kind == HANDSHAKE:
            return len(body) >= 4 and body[0] in _KNOWN_MESSAGES and body[1] == 0
        return (kind == ALERT and len(body) == 2 and body[0] in (1, 2)) or (kind == CHANGE_CIPHER and body == b"\x01")

    def _record(self, keys: SeriesKeys, side: int, record: Record, found: Opened | None, out: list[Output]) -> None:
        direction = self._directions[side]
        if record.kind == CHANGE_CIPHER and not direction.encrypted and found is None:
            if not self.is_13:
                self._find_12(keys, None)
                direction.encrypted = True
            return
        if found is None and not self._protects(direction, record.kind):
            self._content(keys, side, record.kind, record.body, record, out)
            return
        direction.protected += 1
        direction.largest = max(direction.largest, len(record.body))
        if not direction.epochs and not self._version:
            self._find_late(keys, side, record)
        opened = found or direction.open(record.kind, record.version, record.body, record.lost_before)
        if opened is None:
            self._not_opened(side, record, out)
            return
        if not self.is_13:
            direction.encrypted = True
        direction.succeeded(opened)
        self._content(keys, side, opened.kind, opened.data, record, out)

    def _not_opened(self, side: int, record: Record, out: list[Output]) -> None:
        direction = self._directions[side]
        if direction.epochs:
            direction.failed(len(record.body))
        else:
            direction.unopened += 1
            direction.opaque_bytes += len(record.body)
        if direction.epochs:
            self._miss(side, None, False, record.last, out)

    def _broken(self, keys: SeriesKeys, side: int, broken: Broken, out: list[Output]) -> None:
        direction = self._directions[side]
        if not self._protects(direction, broken.kind):
            if broken.kind == HANDSHAKE:
                self._broken_hello(keys, side, broken)
            return
        epoch = direction.epochs[0] if direction.epochs else None
        direction.skip()
        direction.opaque_bytes += len(broken.beginning)
        if epoch is None:
            return
        count = None
        if epoch.kind == "data" and (not epoch.cipher.hides_length or (self.is_13 and (direction.padding or 0) >= 0)):
            count = max(epoch.cipher.plain_bytes(broken.size) - (direction.padding or 0), 0)
        if epoch.kind == "data" and direction.opened_bytes and keys.options.unverified and (self.is_13 or broken.kind == APPLICATION):
            data = epoch.cipher.open_beginning(epoch.sequence - 1, broken.beginning, broken.size)
            if data:
                data = data if count is None else data[:count]
                count = None if count is None else count - len(data)
                self.unverified_bytes += len(data)
                out.append(Plain(side, data, *broken.mark))
        self._miss(side, count, broken.cut, broken.mark, out)

    def _broken_hello(self, keys: SeriesKeys, side: int, broken: Broken) -> None:
        """Read a truncated plaintext flight: snaplen often cuts off what follows a random."""
        direction = self._directions[side]
        for number, message in direction.messages.feed(broken.beginning):
            self._message(keys, side, number, message, broken.mark)
        if broken.beginning[:1] == bytes((CLIENT_HELLO,)) and self.hello is None:
            self._client_hello(side, broken.beginning)
        direction.messages.lose()
        self._transcript = None

    def _content(self, keys: SeriesKeys, side: int, kind: int, data: bytes | memoryview, record: Record, out: list[Output]) -> None:
        direction = self._directions[side]
        if kind == APPLICATION:
            if not data:
                return
            self._settle_doubt(side, out)
            direction.opened_bytes += len(data)
            if 0 < record.first_bytes < len(data) and record.first != record.last:
                out.append(Plain(side, data[: record.first_bytes], *record.first))
                out.append(Plain(side, data[record.first_bytes :], *record.last))
            else:
                out.append(Plain(side, data, *record.last))
        elif kind == HANDSHAKE:
            for number, message in direction.messages.feed(bytes(data)):
                self._message(keys, side, number, message, record.last)
        elif kind == ALERT:
            alert = read_alert(side, bytes(data), *record.last)
            if alert is not None and len(self.alerts) < 8:
                self.alerts.append(alert)
        elif kind == CHANGE_CIPHER and len(direction.epochs) > 1:
            del direction.epochs[0]  # a renegotiation's, itself encrypted

    # What is known.

    @property
    def is_flawless(self) -> bool:
        """True if `kwire.capture.tls.findings` has nothing to report."""
        if self._version < TLS_1_2 or self.certificate_faults or self.renegotiated or self.unverified_bytes:
            return False
        return self.decrypted_bytes > 0 or (not self.alerts and self.decrypted != "failed" and self._shows_finished())

    def _shows_finished(self) -> bool:
        """Tell whether the client sent its Finished, which follows the server's, as far as this is visible without keys."""
        if self.server is None or self.client_side is None:
            return False
        client, server = self.direction(self.client_side), self.direction(1 - self.client_side)
        return client.largest >= LEAST_FINISHED if self.is_13 else client.encrypted and server.encrypted

    def direction(self, side: int) -> Direction:
        return self._directions[side]

    @property
    def decrypted(self) -> str | None:
        """`yes`, `partly`, `failed` or `no_keys`; None while nothing was encrypted."""
        first, second = self._directions
        if first.opened or second.opened:
            return "partly" if first.unopened or second.unopened or first.stream.opaque or second.stream.opaque else "yes"
        if not first.protected and not second.protected:
            return None
        return "failed" if self.key_use == "found" else "no_keys"

    @property
    def decrypted_bytes(self) -> int:
        return self._directions[0].opened_bytes + self._directions[1].opened_bytes

    @property
    def opaque_bytes(self) -> int:
        first, second = self._directions
        return first.opaque_bytes + first.stream.opaque + second.opaque_bytes + second.stream.opaque
