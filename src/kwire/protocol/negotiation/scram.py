"""The client's side of SCRAM-SHA-256 and -512 (RFC 5802, RFC 7677) as in Kafka, without channel binding.

client-first  n,,n=NAME,r=NONCE            server-first  r=NONCE,s=SALT,i=ITERATIONS
client-final  c=biws,r=NONCE,p=PROOF       server-final  v=SIGNATURE, or e=ERROR
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
from base64 import b64decode, b64encode
from typing import Final

from kwire.errors import KwireError

__all__ = ["MAX_ITERATIONS", "MIN_ITERATIONS", "SCRAM_MECHANISMS", "ScramClient", "ScramError"]

SCRAM_MECHANISMS: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MIN_ITERATIONS: Final = 4_096
MAX_ITERATIONS: Final = 1_000_000  # a server could keep a client busy for hours
_LONGEST: Final = 4_096  # bytes of a message
_NO_BINDING: Final = b"biws"  # n,, in base64


class ScramError(KwireError):
    """Invalid SCRAM message or proof of the other side."""


def _hmac(algorithm: str, key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, algorithm)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=True))


def _fields(message: bytes) -> dict[str, str]:
    if len(message) > _LONGEST:
        raise ScramError(f"a SCRAM message has {len(message)} bytes, more than {_LONGEST}")
    try:
        parts = message.decode().split(",")
    except UnicodeDecodeError:
        raise ScramError("a SCRAM message is not UTF-8") from None
    return {part[0]: part[2:] for part in parts if part[1:2] == "="}


def _bytes_of(fields: dict[str, str], letter: str) -> bytes:
    try:
        return b64decode(fields.get(letter, ""), validate=True)
    except (binascii.Error, ValueError):
        raise ScramError(f"the {letter} of a SCRAM message is not base64") from None


class ScramClient:
    """Client's side of one exchange.

    Arguments:
        mechanism: one of `SCRAM_MECHANISMS`.
        nonce: random text without commas.
    """

    def __init__(self, mechanism: str, name: str, password: str, nonce: str) -> None:
        self._algorithm = SCRAM_MECHANISMS[mechanism]
        self._mechanism = mechanism
        self._password = password
        self._nonce = nonce
        self._bare = f"n={name.replace('=', '=3D').replace(',', '=2C')},r={nonce}".encode("utf-8", "surrogateescape")
        self._signature: bytes | None = None

    def first(self) -> bytes:
        return b"n,," + self._bare

    def final(self, server_first: bytes) -> bytes:
        """Return the answer to the server's first message. Raises ScramError: the server's message is invalid or demands more iterations
        than `MAX_ITERATIONS`."""
        fields = _fields(server_first)
        nonce, salt, iterations = fields.get("r", ""), _bytes_of(fields, "s"), fields.get("i", "")
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce) or not salt:
            raise ScramError("the server's nonce does not begin with the client's, or the salt is missing")
        if not (
            iterations.isascii()
            and iterations.isdecimal()
            and len(iterations) <= 12
            and MIN_ITERATIONS <= int(iterations) <= MAX_ITERATIONS
        ):
            raise ScramError(f"the server wants {iterations[:12]!r} iterations, not {MIN_ITERATIONS} to {MAX_ITERATIONS}")
        salted = hashlib.pbkdf2_hmac(self._algorithm, self._password.encode("utf-8", "surrogateescape"), salt, int(iterations))
        key = _hmac(self._algorithm, salted, b"Client Key")
        without_proof = b"c=" + _NO_BINDING + b",r=" + nonce.encode()
        said = b",".join((self._bare, server_first, without_proof))
        self._signature = _hmac(self._algorithm, _hmac(self._algorithm, salted, b"Server Key"), said)
        proof = _xor(key, _hmac(self._algorithm, hashlib.new(self._algorithm, key).digest(), said))
        return without_proof + b",p=" + b64encode(proof)

    def verify(self, server_final: bytes) -> None:
        """Check the server's last message. Raises ScramError: the message is an error, or the server's signature is wrong."""
        fields = _fields(server_final)
        if "e" in fields:
            raise ScramError(f"the server says {fields['e'][:80]!r}")
        if self._signature is None or not hmac.compare_digest(_bytes_of(fields, "v"), self._signature):
            raise ScramError("the server's signature is wrong: it does not know the password")
