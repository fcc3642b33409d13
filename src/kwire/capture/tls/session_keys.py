"""Keys of a series, from key logs, Decryption Secrets Blocks, and sessions that may be resumed."""

from __future__ import annotations

import glob
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256 as _sha256
from pathlib import Path
from typing import Final, NamedTuple

from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.tls.certificates import PrincipalRules
from kwire.capture.tls.key_log import KeyLog, KeyText
from kwire.capture.tls.record_ciphers import require_cryptography
from kwire.errors import InputError

__all__ = [
    "MOST_SESSIONS", "Secrets", "SeriesKeys", "Session", "TlsOptions", "current_tls_options", "expand_key_logs", "session_key",
    "tls_options",
]  # fmt: skip

MOST_SESSIONS: Final = 100_000
_MOST_BLOCKS: Final = 65_536  # whose places a carry holds
_NAME_BYTES: Final = 16  # of the hash that names a session

Secrets = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """Options for reading a series' TLS."""

    key_logs: tuple[str, ...] = ()  # paths or URIs of NSS key logs
    capture_keys: bool = True  # use the Decryption Secrets Blocks of the captures
    unverified: bool = False  # decipher the beginning of truncated records, which no tag verifies
    principal_rules: str = "DEFAULT"  # as the broker's `ssl.principal.mapping.rules`


class Session(NamedTuple):
    """State for connections that resume a session; `repr` shows no secret."""

    label: str = ""  # place in the key log of the master secret of TLS 1.2, with `name`; else empty
    name: bytes = b""
    derived: bytes = b""  # master secret from a premaster secret: no key log has it
    subject: str | None = None  # of the client certificate, None without one

    def __repr__(self) -> str:
        return f"Session(subject={self.subject!r})"


def session_key(name: bytes) -> bytes:
    """Return a short hash of a session's id or ticket."""
    return _sha256(name).digest()[:_NAME_BYTES]


def expand_key_logs(arguments: Sequence[str]) -> tuple[str, ...]:
    """Find the files of `--tls-keys`: paths, URIs, and globs over local paths. Raises InputError: a file is missing, or `cryptography` is
    not installed."""
    if arguments:
        require_cryptography()
    found: list[str] = []
    for argument in arguments:
        if "://" in argument:
            found.append(argument)
            continue
        matches = [argument] if Path(argument).is_file() else sorted(each for each in glob.glob(argument) if Path(each).is_file())  # noqa: PTH207
        if not matches:
            raise InputError(f"there is no key log {argument}")
        found += [str(Path(each).absolute()) for each in matches]
    return tuple(dict.fromkeys(found))


class SeriesKeys:
    """Keys of a series; a stored state has the positions of key logs and blocks, and `repr` shows no secret."""

    def __init__(self, options: TlsOptions) -> None:
        self.options = options
        self.principals = PrincipalRules(options.principal_rules)
        self._logs = [KeyLog(location) for location in options.key_logs]
        self._blocks = KeyText()
        self._taken: dict[tuple[str, int], SecretsBlock] = {}
        self._unread: list[SecretsBlock] = []  # out of a state
        self.sessions: OrderedDict[bytes, Session] = OrderedDict()  # sessions that may be resumed, by `session_key`, the oldest first

    def __getstate__(self) -> tuple[TlsOptions, list[SecretsBlock], OrderedDict[bytes, Session]]:
        return self.options, list(self._taken.values()), self.sessions

    def __setstate__(self, state: tuple[TlsOptions, list[SecretsBlock], OrderedDict[bytes, Session]]) -> None:
        self.__init__(state[0])  # type: ignore[misc]
        self._taken = {block.place: block for block in state[1]}
        self._unread, self.sessions = list(state[1]), state[2]

    def use(self, options: TlsOptions) -> None:
        """Change the options, because a run that resumes a series may have more key logs."""
        if options != self.options:
            self.__setstate__((options, list(self._taken.values()), self.sessions))

    def take_block(self, block: SecretsBlock) -> None:
        if not self.options.capture_keys:
            return
        try:
            require_cryptography()
            self._blocks.add(block.text())
        except InputError as error:
            warnings.warn(f"{error}", stacklevel=2)
            return
        if block.location and len(self._taken) < _MOST_BLOCKS:
            self._taken[block.place] = block

    def _read_blocks(self) -> None:
        unread, self._unread = self._unread, []
        for block in unread:
            self.take_block(block)

    def find(self, name: bytes) -> Secrets:
        """Return secrets by label, for a client random or another second field; the last line of a label is used."""
        if self._unread:
            self._read_blocks()
        lines = self._blocks.find(name)
        for log in self._logs:
            lines += log.find(name)
        return {label: secret for label, _, secret in lines}

    def master_of(self, session: Session) -> bytes:
        """Return the master secret of a TLS 1.2 session; empty if the key log lacks it."""
        return session.derived or (self.find(session.name).get(session.label, b"") if session.label else b"")

    def remember(self, name: bytes, session: Session) -> None:
        self.keep(session_key(name), session)

    def keep(self, key: bytes, session: Session) -> None:
        """Store a session under its `session_key`."""
        sessions = self.sessions
        if key in sessions:
            sessions.move_to_end(key)
        sessions[key] = session
        if len(sessions) > MOST_SESSIONS:
            sessions.popitem(last=False)

    def recall(self, name: bytes) -> Session | None:
        return self.sessions.get(session_key(name)) if name and self.sessions else None

    def __repr__(self) -> str:
        return f"SeriesKeys({len(self._logs)} key logs)"


_DEFAULT: Final = TlsOptions()
_CURRENT: Final[ContextVar[TlsOptions]] = ContextVar("tls_options", default=_DEFAULT)


def current_tls_options() -> TlsOptions:
    return _CURRENT.get()


@contextmanager
def tls_options(options: TlsOptions | None) -> Iterator[None]:
    """Use these options for captures read in the block; None changes nothing."""
    if options is None:
        yield
        return
    token = _CURRENT.set(options)
    try:
        yield
    finally:
        _CURRENT.reset(token)
