"""The broker's side of SCRAM, for tests of the client's."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable
from typing import NamedTuple

from kwire.protocol.negotiation.broker_role import TokenAnswer
from kwire.protocol.negotiation.scram import _NO_BINDING, MIN_ITERATIONS, SCRAM_MECHANISMS, ScramError, _bytes_of, _fields, _hmac, _xor


class ScramCredential(NamedTuple):
    """Stored form of a password in a broker (`kafka-configs.sh --add-config SCRAM-SHA-256=...`)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return f"ScramCredential({self.iterations} iterations)"

    @classmethod
    def of(cls, mechanism: str, password: str, salt: bytes, iterations: int = MIN_ITERATIONS) -> ScramCredential:
        """Create the credential from a password, which Kafka does not normalize."""
        algorithm = SCRAM_MECHANISMS[mechanism]
        salted = hashlib.pbkdf2_hmac(algorithm, password.encode("utf-8", "surrogateescape"), salt, iterations)
        stored = hashlib.new(algorithm, _hmac(algorithm, salted, b"Client Key")).digest()
        return cls(salt, stored, _hmac(algorithm, salted, b"Server Key"), iterations)


class ScramServer:
    """Broker's side of one exchange, for `NegotiatingBroker(authenticate=...)`; each connection needs its own."""

    def __init__(self, credential: Callable[[str, str], ScramCredential | None], nonce: str) -> None:
        self._credential = credential
        self._nonce = nonce
        self._name = ""
        self._known: ScramCredential | None = None
        self._said: tuple[bytes, bytes] | None = None  # the client's first message without its head, the server's

    def __call__(self, mechanism: str, token: bytes) -> TokenAnswer:
        """Answer a token; errors have Kafka's texts."""
        refused = TokenAnswer(
            refused=f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
        )
        if mechanism not in SCRAM_MECHANISMS:
            return refused
        try:
            return self._first(mechanism, token, refused) if self._said is None else self._final(mechanism, token, refused)
        except ScramError:
            return refused

    def _first(self, mechanism: str, token: bytes, refused: TokenAnswer) -> TokenAnswer:
        head, _, bare = token.partition(b",")
        authorization, _, bare = bare.partition(b",")
        fields = _fields(bare)
        self._name = fields.get("n", "").replace("=2C", ",").replace("=3D", "=")
        self._known = self._credential(mechanism, self._name)
        nonce = fields.get("r", "")
        if head != b"n" or authorization or not nonce or self._known is None:
            return refused
        text = f"r={nonce}{self._nonce},s={b64encode(self._known.salt).decode()},i={self._known.iterations}"
        self._said = bare, text.encode()
        return TokenAnswer(token=self._said[1])

    def _final(self, mechanism: str, token: bytes, refused: TokenAnswer) -> TokenAnswer:
        algorithm, known, said = SCRAM_MECHANISMS[mechanism], self._known, self._said
        assert known is not None
        assert said is not None
        self._said = None  # an exchange is over with its second message, come what may
        fields = _fields(token)
        without_proof, _, _ = token.rpartition(b",p=")
        everything = b",".join((*said, without_proof))
        proof = _bytes_of(fields, "p")
        signature = _hmac(algorithm, known.stored_key, everything)
        if fields.get("r") != _fields(said[1])["r"] or fields.get("c") != _NO_BINDING.decode() or len(proof) != len(signature):
            return refused
        if not hmac.compare_digest(hashlib.new(algorithm, _xor(proof, signature)).digest(), known.stored_key):
            return refused
        return TokenAnswer(b"v=" + b64encode(_hmac(algorithm, known.server_key, everything)), f"User:{self._name}")
