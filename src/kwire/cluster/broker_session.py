"""Session with one broker over TCP or TLS, request by request, for commands that query a live cluster."""

from __future__ import annotations

import re
import secrets
import socket
import ssl
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, NamedTuple

from kwire.errors import InputError, KwireError
from kwire.protocol.negotiation import NegotiatingClient, NoCommonVersion
from kwire.protocol.negotiation.outcomes import Agreed, Answered, Outcome, Over, Send
from kwire.protocol.negotiation.scram import ScramClient, ScramError
from kwire.schema import error_name

__all__ = ["PLAIN", "Address", "BrokerSession", "Login", "addresses"]

PLAIN: Final = "PLAIN"

_AUTHORIZATION_FAILED: Final = frozenset((29, 30, 31, 53, 65))  # topic, group, cluster, transactional id, delegation token
_READ: Final = 1 << 16
_ADDRESS: Final = re.compile(r"(?:\[([^\[\]]+)\]|([^:\[\]]+)):([0-9]{1,5})")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Login(NamedTuple):
    name: str
    password: str
    mechanism: str = PLAIN

    def __repr__(self) -> str:
        return f"Login({self.name!r}, ...)"


def addresses(text: str) -> tuple[Address, ...]:
    """Parse bootstrap servers: `HOST:PORT[,HOST:PORT]`, addresses of IPv6 in brackets."""
    found = []
    for each in text.split(","):
        match = _ADDRESS.fullmatch(each.strip())
        if match is None or not 0 < int(match[3]) < 1 << 16:
            raise InputError(f"{each.strip()!r} is not HOST:PORT.")
        found.append(Address(match[1] or match[2], int(match[3])))
    return tuple(found)


class BrokerSession:
    """Connection to the first server of a list that answers; errors never contain the password. `timeout` applies to each answer.

    The certificate must be of `server_name`, by default of the server's host.
    """

    def __init__(
        self,
        servers: Sequence[Address],
        *,
        timeout: float = 30.0,
        login: Login | None = None,
        client_id: str = "kwire",
        tls: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> None:
        self._tls = tls
        self._server_name = server_name
        self._timeout = timeout
        self._client_id = client_id
        self._login = login
        reasons = []
        for address in servers:
            try:
                self._open(address)
                break
            except InputError as error:
                reasons.append(str(error))
        else:
            raise InputError("; ".join(reasons))
        if login is not None:
            try:
                self._authenticate(login)
            except KwireError:
                self.close()
                raise

    def __enter__(self) -> BrokerSession:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def _open(self, address: Address) -> None:
        self.node = str(address)
        self._machine = NegotiatingClient(client_id=self._client_id, node=self.node, timeout=int(self._timeout * 1e9))
        self.messages = self._machine.codec.messages
        try:
            self._socket = socket.create_connection(address, timeout=self._timeout)
        except (OSError, UnicodeError) as error:  # UnicodeError: a host name that IDNA does not know
            raise InputError(f"cannot connect to {self.node}: {getattr(error, 'strerror', None) or error}") from error
        try:
            self._encrypt(address)
            self._await(self._machine.connected(time.monotonic_ns()), Agreed)
        except InputError:
            self.close()
            raise

    def _encrypt(self, address: Address) -> None:
        if self._tls is None:
            return
        try:
            self._socket = self._tls.wrap_socket(self._socket, server_hostname=self._server_name or address.host)
        except TimeoutError as error:
            raise InputError(f"{self.node} did not answer within {self._timeout:g} s as a port with TLS does") from error
        except (OSError, ValueError) as error:  # ValueError: a host name that cannot be one
            # CPython's text ends with the place in its own source.
            why = getattr(error, "verify_message", "") or str(error).split(" (_ssl.c:")[0]
            raise InputError(f"{self.node} and kwire do not agree on TLS: {why}") from error

    def _await(self, outcomes: list[Outcome], wanted: type[Agreed | Answered]) -> Any:
        while True:
            for each in outcomes:
                if isinstance(each, wanted):
                    return each
                if isinstance(each, Over):
                    raise InputError(self._ended(each, wanted)) from each.error
            outcomes = self._exchange(b"".join(each.data for each in outcomes if isinstance(each, Send)))

    def _exchange(self, data: bytes) -> list[Outcome]:
        deadline = self._machine.deadline
        assert deadline is not None  # a request waits
        if time.monotonic_ns() >= deadline:  # bytes that come one by one are no answer either
            return self._machine.tick(deadline)
        try:
            if data:
                self._socket.settimeout(self._timeout)
                self._socket.sendall(data)
            self._socket.settimeout(max((deadline - time.monotonic_ns()) / 1e9, 0.001))
            answer = self._socket.recv(_READ)
        except TimeoutError:
            return self._machine.tick(max(deadline, time.monotonic_ns()))
        except OSError as error:
            if isinstance(error, ConnectionError):
                return self._machine.closed(time.monotonic_ns())
            raise InputError(f"the connection to {self.node} broke: {error.strerror or error}") from error
        now = time.monotonic_ns()
        return self._machine.receive(answer, now) if answer else self._machine.closed(now)

    def _ended(self, over: Over, wanted: type) -> str:
        if wanted is Agreed and over.reason in ("closed_by_peer", "garbled"):
            hint = "behind TLS does" if self._tls else "without TLS does; for TLS, give client properties with security.protocol=SSL"
            return f"{self.node} does not answer as a Kafka broker {hint}"
        if over.error is not None:
            return str(over.error)
        hint = "" if self._login else "; a listener that authenticates does so without a login"
        return f"{self.node} closed the connection without an answer{hint}"

    def _authenticate(self, login: Login) -> None:
        request = self.messages
        answer = self.ask(request.SaslHandshakeRequest(mechanism=login.mechanism))
        if answer.error_code:
            offered = ", ".join(answer.mechanisms) or "nothing"
            raise InputError(f"{self.node} has {offered} for authentication, and the login is for {login.mechanism}")
        if login.mechanism == PLAIN:
            self._token(login, "\0".join(("", login.name, login.password)).encode("utf-8", "surrogateescape"))  # as the environment has it
            return
        client = ScramClient(login.mechanism, login.name, login.password, secrets.token_urlsafe(24))
        try:
            client.verify(self._token(login, client.final(self._token(login, client.first()))))
        except ScramError as error:
            raise InputError(f"{self.node}: {error}") from error

    def _token(self, login: Login, token: bytes) -> bytes:
        answer = self.ask(self.messages.SaslAuthenticateRequest(auth_bytes=token))
        if answer.error_code:
            self.refused(answer.error_code, answer.error_message, f"log in {login.name!r}")
        return bytes(answer.auth_bytes)

    @property
    def ranges(self) -> dict[int, tuple[int, int]]:
        """Answer of the broker to ApiVersions."""
        assert self._machine.versions is not None
        return {key: (versions.lowest, versions.highest) for key, versions in self._machine.versions.ranges.items()}

    def has(self, api_key: int) -> bool:
        assert self._machine.versions is not None
        return self._machine.versions.supports(api_key)

    def version_of(self, api_key: int) -> int:
        assert self._machine.versions is not None
        return self._machine.versions.choose(api_key)

    def ask(self, body: Any) -> Any:
        """Send a request of `messages` and return the body of its response."""
        try:
            sent = self._machine.send(body, time.monotonic_ns())
        except NoCommonVersion as error:
            raise InputError(str(error)) from error
        return self._await([sent], Answered).response.body

    def refused(self, code: int, message: str | None, what: str) -> None:
        """Raise an error for a code other than 0; `what` follows "refuses to" in its text."""
        if not code:
            return
        why = "not authorized" if code in _AUTHORIZATION_FAILED else message
        raise InputError(f"{self.node} refuses to {what}: {why or 'it does not say why'} ({error_name(code)}, {code})")
