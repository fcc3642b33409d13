"""One direction of a TLS connection: the keys of its next record, and that record's number.

A direction has several *epochs*: in TLS 1.3 early data, handshake and application data, then one after each KeyUpdate; in TLS 1.2 one after
each ChangeCipherSpec. Records are numbered from 0 in an epoch, and the number is not on the wire. After a loss, the next numbers are tried,
at most as many as records fit into the lost bytes, within `MOST_TRIED` records and `MOST_TRIED_BYTES` in total. A record that verifies has
the right number, because a tag or MAC of 8 to 48 bytes cannot match by chance.
"""

from __future__ import annotations

from typing import Final, Literal

from kwire.capture import impl
from kwire.capture.tls.cipher_suites import Suite
from kwire.capture.tls.key_schedule import Keys, keys_13, next_secret
from kwire.capture.tls.record_ciphers import Opened, RecordCipher
from kwire.capture.tls.records import Records
from kwire.protocol.tls_handshake import Messages

__all__ = ["MOST_FAILURES", "MOST_SKIPPED", "MOST_TRIED", "MOST_TRIED_BYTES", "Direction", "Epoch"]

MOST_SKIPPED: Final = 65_536  # records that one loss may have taken
MOST_TRIED: Final = 200_000  # trials of a direction that came to nothing
MOST_TRIED_BYTES: Final = 1 << 28
MOST_FAILURES: Final = 64  # records in a row that no key opens

EpochKind = Literal["early", "handshake", "data"]


class Epoch:
    """One set of keys. Earlier secrets are dropped, so that a stored state has no secret of a key log."""

    __slots__ = ("cipher", "kind", "next_secret", "sequence", "suite")

    def __init__(self, kind: EpochKind, suite: Suite, cipher: RecordCipher, next_secret: bytes = b"") -> None:
        self.kind = kind  # kind of data; `data` for all of TLS 1.2
        self.suite = suite
        self.cipher = cipher
        self.next_secret = next_secret  # after the next KeyUpdate of TLS 1.3; empty for TLS 1.2
        self.sequence = 0  # number of the next record

    @classmethod
    def of_secret(cls, kind: EpochKind, suite: Suite, secret: bytes) -> Epoch:
        following = next_secret(secret, suite) if kind == "data" else b""
        return cls(kind, suite, RecordCipher(suite, keys_13(secret, suite), is_13=True), following)

    def updated(self) -> Epoch:
        return Epoch.of_secret("data", self.suite, self.next_secret)

    def __repr__(self) -> str:
        return f"Epoch({self.kind}, {self.sequence})"


class Direction:
    """State of one direction.

    Attributes:
        epochs: the current epoch, and possible next ones.
        encrypted: records are protected from here on (TLS 1.2: behind the ChangeCipherSpec; TLS 1.3: all application data).
        finished: its Finished was seen.
        padding: zeros at the end of every record so far, None before the first, -1 if they differ.
        opened, unopened: records; `opened_bytes`, `opaque_bytes`: plaintext of application data, and bytes of records not opened.
        doubtful: time and packet of a loss before the first plaintext, which may include plaintext; None if there is none.
        protected: protected records so far; `largest` is the size of the largest.
    """

    __slots__ = (
        "doubtful", "encrypted", "epochs", "failures", "finished", "largest", "messages", "opaque_bytes", "opened",
        "opened_bytes", "padding", "protected", "stopped", "stream", "tried", "tried_bytes", "unopened",
    )  # fmt: skip

    def __init__(self) -> None:
        self.stream: Records = impl.record_stream()
        self.messages = Messages()
        self.epochs: list[Epoch] = []
        self.encrypted = False
        self.finished = False
        self.padding: int | None = None
        self.opened = self.unopened = self.opened_bytes = self.opaque_bytes = 0
        self.protected = self.largest = 0
        self.failures = self.tried = self.tried_bytes = 0
        self.stopped = False
        self.doubtful: tuple[int, int] | None = None

    def open(self, kind: int, version: int, body: bytes, lost: int) -> Opened | None:
        """Decrypt a record with the current or later keys; at most `lost` records before it are missing."""
        if self.stopped:
            return None
        lost = min(lost, MOST_SKIPPED)
        for index, epoch in enumerate(self.epochs):
            if (opened := self._open_in(epoch, kind, version, body, lost)) is not None:
                del self.epochs[:index]
                return opened
        if lost and self.epochs and self.epochs[-1].next_secret and self.epochs[-1].kind == "data":
            updated = self.epochs[-1].updated()
            if (opened := self._open_in(updated, kind, version, body, lost)) is not None:
                self.epochs = [updated]
                return opened
        return None

    def _open_in(self, epoch: Epoch, kind: int, version: int, body: bytes, lost: int) -> Opened | None:
        for ahead in range(lost + 1):
            opened = epoch.cipher.open(epoch.sequence + ahead, kind, version, body)
            if opened is not None:
                epoch.sequence += ahead + 1
                return opened
            self.tried += 1
            self.tried_bytes += len(body)
            if self.tried > MOST_TRIED or self.tried_bytes > MOST_TRIED_BYTES:
                self.stopped = True
                return None
        return None

    def failed(self, size: int) -> None:
        self.unopened += 1
        self.opaque_bytes += size
        self.failures += 1
        if self.failures >= MOST_FAILURES:
            self.stopped = True

    def succeeded(self, opened: Opened) -> None:
        self.opened += 1
        self.failures = 0
        if self.padding is None:
            self.padding = opened.padding
        elif self.padding != opened.padding:
            self.padding = -1

    def skip(self) -> None:
        """Count a damaged record, which has a number too."""
        self.unopened += 1
        if self.epochs:
            self.epochs[0].sequence += 1

    def add_secret(self, kind: EpochKind, suite: Suite, secret: bytes) -> None:
        """Append an epoch of TLS 1.3."""
        self.epochs.append(Epoch.of_secret(kind, suite, secret))

    def add_keys(self, suite: Suite, keys: Keys, encrypt_then_mac: bool) -> None:
        """Append an epoch of TLS 1.2."""
        self.epochs.append(Epoch("data", suite, RecordCipher(suite, keys, is_13=False, encrypt_then_mac=encrypt_then_mac)))

    def drop_epoch(self, kind: EpochKind) -> None:
        while len(self.epochs) > 1 and self.epochs[0].kind == kind:
            del self.epochs[0]
