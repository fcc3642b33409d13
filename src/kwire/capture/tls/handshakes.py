"""Handshakes of a TLS connection: their messages, and the keys that follow from them and from key logs.

Handshakes are read with and without keys. At the ServerHello, secrets are looked up in `SeriesKeys` by client random, and become the epochs
of both directions (`kwire.capture.tls.direction`). A stored state has only the derived keys.
"""

from __future__ import annotations

import hashlib
from typing import Final, Literal

from kwire.capture.tls.certificates import Certificate, read_certificate
from kwire.capture.tls.cipher_suites import SUITES, Suite, suite_name
from kwire.capture.tls.direction import Direction
from kwire.capture.tls.key_schedule import keys_12, master_secret
from kwire.capture.tls.records import Record
from kwire.capture.tls.session_keys import Secrets, SeriesKeys, Session
from kwire.protocol.tls_fingerprints import ja3, ja4
from kwire.protocol.tls_handshake import (
    CERTIFICATE,
    CLIENT_HELLO,
    CLIENT_KEY_EXCHANGE,
    ENCRYPTED_EXTENSIONS,
    END_OF_EARLY_DATA,
    FINISHED,
    KEY_UPDATE,
    NEW_SESSION_TICKET,
    SERVER_HELLO,
    TLS_1_2,
    TLS_1_3,
    VERSION_NAMES,
    ClientHello,
    ServerHello,
    chosen_alpn,
    first_certificate,
    premaster_name,
    read_client_hello,
    read_server_hello,
    read_ticket,
)  # fmt: skip

__all__ = ["Handshakes"]

_MOST_TRANSCRIPT: Final = 1 << 17
_LATE_RECORDS: Final = 64  # records of a direction whose ServerHello is not in the capture, tried with each suite


class Handshakes:
    """Facts of the handshake messages of both sides; `lost` tells whether bytes are missing."""

    __slots__ = (
        "_completed", "_directions", "_saw_certificate", "_session", "_suite", "_transcript", "_tried_late", "_version", "alpn",
        "certificate_faults", "cipher", "client_side", "hello", "key_use", "lost", "renegotiated", "resumed", "retried", "server",
        "subject", "version",
    )  # fmt: skip

    def __init__(self) -> None:
        self._directions = (Direction(), Direction())
        self._version = 0
        self._suite: Suite | None = None
        self._transcript: bytes | bytearray | None = bytearray()  # of the handshake, where a premaster secret may need its hash
        self._session: Session | None = None  # of TLS 1.2, once its keys are known
        self._saw_certificate = False
        self._tried_late = [0, 0]
        self._completed = False
        self.client_side: int | None = None  # side of the client, 0 or 1; None while unknown
        self.hello: ClientHello | None = None  # the latest ClientHello, None before it
        self.server: ServerHello | None = None
        self.version: str | None = None
        self.cipher: str | None = None
        self.alpn: str | None = None
        self.subject: str | None = None  # of the client certificate, also of a resumed session
        self.certificate_faults: list[tuple[int, int, int, int, int]] = []  # not valid: side, not_before, not_after, time, packet
        self.resumed = self.retried = self.renegotiated = self.lost = False
        self.key_use: Literal["found", "none"] = "none"  # `found` if the key log has this connection's client random, else `none`

    @property
    def is_13(self) -> bool:
        return self._version >= TLS_1_3

    @property
    def shown_version(self) -> str | None:
        """Negotiated version, else the highest one offered."""
        if self.version is not None or self.hello is None:
            return self.version
        return VERSION_NAMES.get(self.hello.highest_version)

    @property
    def server_name(self) -> str | None:
        return None if self.hello is None else self.hello.server_name

    @property
    def fingerprints(self) -> tuple[str | None, str | None]:
        """JA3 and JA4 of a whole ClientHello."""
        hello = self.hello
        return (None, None) if hello is None or not hello.is_whole else (ja3(hello), ja4(hello))

    # Messages.

    def _message(self, keys: SeriesKeys, side: int, number: int, message: bytes, mark: tuple[int, int]) -> None:
        direction = self._directions[side]
        if self._transcript is not None and number != FINISHED and not self._completed:
            if self.is_13 or len(self._transcript) >= _MOST_TRANSCRIPT:
                self._transcript = None  # only a premaster secret of TLS 1.2 needs it
            else:
                self._transcript += message
        if number == CLIENT_HELLO:
            self._client_hello(side, message)
        elif number == SERVER_HELLO:
            self._server_hello(keys, side, message)
        elif number == ENCRYPTED_EXTENSIONS:
            self._agree_alpn(chosen_alpn(message))
        elif number == CERTIFICATE:
            self._certificate(side, message, mark)
        elif number == CLIENT_KEY_EXCHANGE:
            self._find_12(keys, message)
            self._transcript = None  # nothing else needs it
        elif number == NEW_SESSION_TICKET:
            # of a session of TLS 1.3 only the client certificate is of use to the connections that resume it
            worth = self.subject if self.is_13 else self._session
            if worth is not None and (ticket := read_ticket(message, self.is_13)):
                keys.remember(ticket, (self._session or Session())._replace(subject=self.subject))
        elif number == END_OF_EARLY_DATA:
            direction.drop_epoch("early")
        elif number == KEY_UPDATE and direction.epochs and direction.epochs[0].next_secret:
            direction.epochs = [direction.epochs[0].updated()]
        elif number == FINISHED:
            direction.finished = True
            if self.is_13:
                direction.drop_epoch("early")
                direction.drop_epoch("handshake")
            elif self._session and self.server is not None and self.server.session_id:
                keys.remember(self.server.session_id, self._session._replace(subject=self.subject))
            self._completed = self._completed or (self._directions[0].finished and self._directions[1].finished)

    def _client_hello(self, side: int, message: bytes) -> None:
        read = read_client_hello(message)
        if read is None:
            return
        if self._completed:
            self.renegotiated = True
            self._transcript, self._session, self._saw_certificate, self._completed = bytearray(message), None, False, False
        elif self.client_side is None:
            self.client_side = side
        self.hello = read

    def _server_hello(self, keys: SeriesKeys, side: int, message: bytes) -> None:
        read = read_server_hello(message)
        if read is None:
            return
        if self.client_side is None:
            self.client_side = 1 - side
        self._version = read.version
        self.version = VERSION_NAMES.get(read.version)
        self.cipher = suite_name(read.cipher)
        self._suite = SUITES.get(read.cipher)
        if read.is_retry:
            self.retried = True
            return
        self.server = read
        self._agree_alpn(read.alpn)
        if self.hello is None:
            return
        if self.is_13:
            self.resumed = read.resumes
            if read.resumes:
                self._resume(keys)
            if self._suite is not None:
                self._use_13(keys.find(self.hello.random), self._suite)
        else:
            self._find_12(keys, None)

    def _agree_alpn(self, name: bytes | None) -> None:
        if name is not None:
            self.alpn = name.decode("ascii", "replace")

    def _resume(self, keys: SeriesKeys) -> Session | None:
        """Return the known session that this connection resumes; its certificate stays valid."""
        assert self.hello is not None
        for name in (*self.hello.tickets, self.hello.session_id):
            session = keys.recall(name)
            if session is not None:
                self.subject = self.subject or session.subject
                return session
        return None

    def _certificate(self, side: int, message: bytes, mark: tuple[int, int]) -> None:
        self._saw_certificate = True
        der = first_certificate(message, self.is_13)
        read: Certificate | None = read_certificate(der) if der is not None else None
        if read is None:
            return
        if side == self.client_side:
            self.subject = read.subject
        time_ns, packet = mark
        if not read.not_before <= time_ns // 1_000_000_000 <= read.not_after and len(self.certificate_faults) < 4:
            self.certificate_faults.append((side, read.not_before, read.not_after, time_ns, packet))

    # Keys.

    def _use_13(self, secrets: Secrets, suite: Suite) -> None:
        assert self.client_side is not None
        for side, name in ((self.client_side, "CLIENT"), (1 - self.client_side, "SERVER")):
            direction = self._directions[side]
            if direction.opened and direction.epochs[0].suite == suite:
                continue  # early data came before the ServerHello
            direction.epochs = []
            early = secrets.get("CLIENT_EARLY_TRAFFIC_SECRET") if name == "CLIENT" else None
            if early and self.hello is not None and self.hello.early_data:
                direction.add_secret("early", suite, early)
            if secret := secrets.get(f"{name}_HANDSHAKE_TRAFFIC_SECRET"):
                direction.add_secret("handshake", suite, secret)
            if secret := secrets.get(f"{name}_TRAFFIC_SECRET_0"):
                direction.add_secret("data", suite, secret)
            if direction.epochs:
                self.key_use = "found"

    def _find_12(self, keys: SeriesKeys, key_exchange: bytes | None) -> None:
        """Find the master secret of TLS 1.2, at the ServerHello, the ClientKeyExchange and a ChangeCipherSpec."""
        hello, server, suite = self.hello, self.server, self._suite
        if self._session or hello is None or server is None or suite is None or self._version != TLS_1_2:
            return
        secrets = keys.find(hello.random)
        master, session = secrets.get("CLIENT_RANDOM", b""), Session("CLIENT_RANDOM", hello.random)
        if not master and (premaster := self._premaster(keys, secrets, key_exchange)):
            session_hash = None
            if server.extended_master:
                if self._transcript is None:
                    return
                session_hash = hashlib.new(suite.hash, self._transcript).digest()
            master = master_secret(premaster, hello.random, server.random, suite, session_hash)
            session = Session(derived=master)
        if not self._saw_certificate and (resumed := self._resume(keys)) is not None:
            if not master:
                master, session = keys.master_of(resumed), resumed
            self.resumed = True
        if not master and server.session_id and server.session_id == hello.session_id:
            session = Session("SESSION_ID", server.session_id)
            master = keys.master_of(session)
        if not master:
            return
        self._session, self.key_use = session, "found"
        assert self.client_side is not None
        pair = keys_12(master, hello.random, server.random, suite)
        for side, each in ((self.client_side, pair[0]), (1 - self.client_side, pair[1])):
            self._directions[side].add_keys(suite, each, server.encrypt_then_mac)

    def _premaster(self, keys: SeriesKeys, secrets: Secrets, key_exchange: bytes | None) -> bytes | None:
        if key_exchange is None:
            return None
        return secrets.get("PMS_CLIENT_RANDOM") or keys.find(premaster_name(key_exchange)).get("RSA")

    def _find_late(self, keys: SeriesKeys, side: int, record: Record) -> None:
        """Try the client's TLS 1.3 suites, each from record 0 on, because the ServerHello is not in the capture."""
        if self.hello is None or self._tried_late[side] >= _LATE_RECORDS:
            return
        self._tried_late[side] += 1
        secrets = keys.find(self.hello.random)
        sample = secrets.get("SERVER_TRAFFIC_SECRET_0") or secrets.get("CLIENT_TRAFFIC_SECRET_0")
        if sample is None:
            return
        for number in self.hello.ciphers:
            suite = SUITES.get(number)
            if suite is None or number >> 8 != 0x13 or hashlib.new(suite.hash).digest_size != len(sample):
                continue
            self._use_13(secrets, suite)
            trial = self._directions[side]
            found = any(
                epoch.cipher.open(sequence, record.kind, record.version, record.body) is not None
                for epoch in trial.epochs
                for sequence in range(_LATE_RECORDS if trial.stream.opaque or self.lost else self._tried_late[side])
            )
            if found:
                self._version, self._suite = TLS_1_3, suite
                self.version, self.cipher = VERSION_NAMES[TLS_1_3], suite.name
                return
            for each in self._directions:
                each.epochs = []
