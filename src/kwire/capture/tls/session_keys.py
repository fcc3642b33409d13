"""All that a series has of keys: its key logs, what Decryption Secrets Blocks bring, and the sessions that may be resumed."""

from __future__ import annotations

import glob
import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from kwire.capture.tls.certificates import PrincipalRules
from kwire.capture.tls.key_log import KeyLog, KeyText
from kwire.capture.tls.record_ciphers import require_cryptography
from kwire.errors import InputError

__all__ = ["Secrets", "SeriesKeys", "Session", "TlsOptions", "current_tls_options", "expand_key_logs", "tls_options"]

_MOST_SESSIONS: Final = 100_000
_NAME_BYTES: Final = 16  # of the hash that names a session

Secrets = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """How a series' TLS is read.

    Attributes:
        key_logs: paths or URIs of NSS key logs.
        capture_keys: use the Decryption Secrets Blocks of the captures.
        unverified: decipher the beginning of records whose end is missing, which nothing vouches for.
        principal_rules: as the broker's `ssl.principal.mapping.rules`.
    """

    key_logs: tuple[str, ...] = ()
    capture_keys: bool = True
    unverified: bool = False
    principal_rules: str = "DEFAULT"


class Session(NamedTuple):
    """What a resumed connection takes over from the one that made its session. `repr` shows no secret.

    Attributes:
        master: master secret of TLS 1.2, empty for TLS 1.3.
        subject: of the client certificate, None without one.
    """

    master: bytes
    subject: str | None

    def __repr__(self) -> str:
        return f"Session(subject={self.subject!r})"


def expand_key_logs(arguments: Sequence[str]) -> tuple[str, ...]:
    """Files of `--tls-keys`: paths, URIs, and globs over local paths.

    Raises:
        InputError: there is no such file, or what deciphers is not installed.
    """
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
    """The keys of a series. Pickles without its key logs, which are read where they are needed; what shows it shows no secret.

    Args:
        options: which logs there are.
    """

    def __init__(self, options: TlsOptions) -> None:
        self.options = options
        self.principals = PrincipalRules(options.principal_rules)
        self.blocks = KeyText()
        self._logs = [KeyLog(location) for location in options.key_logs]
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()

    def __getstate__(self) -> tuple[TlsOptions, KeyText, OrderedDict[bytes, Session]]:
        return self.options, self.blocks, self._sessions

    def __setstate__(self, state: tuple[TlsOptions, KeyText, OrderedDict[bytes, Session]]) -> None:
        self.__init__(state[0])  # type: ignore[misc]
        self.blocks, self._sessions = state[1], state[2]

    def use(self, options: TlsOptions) -> None:
        """Read on with other options: a run that resumes a series may be given more key logs."""
        if options != self.options:
            self.__setstate__((options, self.blocks, self._sessions))

    def take_block(self, text: bytes) -> None:
        """Take a Decryption Secrets Block's key log."""
        if not self.options.capture_keys:
            return
        try:
            require_cryptography()
        except InputError as error:
            warnings.warn(f"{error}", stacklevel=2)
            return
        self.blocks.add(text)

    def find(self, name: bytes) -> Secrets:
        """Secrets by label, of a client random or another second field; of a label that stands twice the last counts."""
        lines = self.blocks.find(name)
        for log in self._logs:
            lines += log.find(name)
        return {label: secret for label, _, secret in lines}

    def remember(self, name: bytes, session: Session) -> None:
        """Keep a session under its id or ticket."""
        key = hashlib.sha256(name).digest()[:_NAME_BYTES]
        self._sessions[key] = session
        self._sessions.move_to_end(key)
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def recall(self, name: bytes) -> Session | None:
        """The session of an id or ticket."""
        return self._sessions.get(hashlib.sha256(name).digest()[:_NAME_BYTES]) if name else None

    def __repr__(self) -> str:
        return f"SeriesKeys({len(self._logs)} key logs)"


_DEFAULT: Final = TlsOptions()
_CURRENT: Final[ContextVar[TlsOptions]] = ContextVar("tls_options", default=_DEFAULT)


def current_tls_options() -> TlsOptions:
    """What holds now, to send to another process."""
    return _CURRENT.get()


@contextmanager
def tls_options(options: TlsOptions | None) -> Iterator[None]:
    """Read captures with these options inside the block; None changes nothing."""
    if options is None:
        yield
        return
    token = _CURRENT.set(options)
    try:
        yield
    finally:
        _CURRENT.reset(token)
