"""Decryption of one protected record; the result is None if it does not verify.

TLS 1.3         nonce = iv xor sequence; additional data = the record's header (RFC 8446, 5.2)
TLS 1.2 AEAD    nonce = salt + 8 explicit bytes (GCM, CCM) or iv xor sequence (ChaCha20); additional data = sequence, kind, version,
                length of the plaintext (RFC 5246, 6.2.3.3; RFC 5288; RFC 6655; RFC 7905)
TLS 1.2 CBC     16 bytes of IV, then the ciphertext; MAC before encryption (RFC 5246, 6.2.3.2) or behind it (RFC 7366)
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from functools import cache
from typing import Any, Final, NamedTuple

from kwire.capture.tls.cipher_suites import Suite
from kwire.capture.tls.key_schedule import Keys, mac
from kwire.errors import InputError

__all__ = ["NEEDED", "Opened", "RecordCipher", "require_cryptography"]

NEEDED: Final = "Reading encrypted captures needs the package cryptography: pip install 'kwire[tls]'"
_ADDITIONAL: Final = struct.Struct(">QBHH")
_HEADER: Final = struct.Struct(">BHH")
_EXPLICIT: Final = 8
_BLOCK: Final = 16


class Opened(NamedTuple):
    """Plaintext of a record."""

    kind: int  # content type; of TLS 1.3 the inner one
    data: bytes | memoryview  # without padding
    padding: int  # bytes of padding in TLS 1.3


def require_cryptography() -> None:
    try:
        import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401
    except ImportError as error:
        raise InputError(NEEDED) from error


@cache
def _aead_classes() -> tuple[Any, Any, Any]:
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305

    return AESGCM, ChaCha20Poly1305, AESCCM


class RecordCipher:
    """Cipher of the records of one direction under one set of keys, which `repr` does not show."""

    __slots__ = ("_blocks", "_encrypt_then_mac", "_is_13", "_keyed", "_keys", "_mac_bytes", "_overhead", "_suite", "aead")

    def __init__(self, suite: Suite, keys: Keys, *, is_13: bool, encrypt_then_mac: bool = False) -> None:
        self._suite = suite
        self._keys = keys
        self._is_13 = is_13
        self._encrypt_then_mac = encrypt_then_mac
        self.aead = self._cipher()
        self._blocks: Any = None
        self._keyed: Any = None
        self._mac_bytes = hashlib.new(suite.mac).digest_size if suite.mac else 0
        tag = 8 if suite.cipher == "ccm_8" else 16
        self._overhead = tag if is_13 or suite.cipher == "chacha20" else tag + _EXPLICIT

    def __repr__(self) -> str:
        return f"RecordCipher({self._suite.name})"

    def _cipher(self) -> Any:
        cipher, key = self._suite.cipher, self._keys.key
        if cipher == "cbc":
            return None
        gcm, chacha20, ccm = _aead_classes()
        if cipher == "gcm":
            return gcm(key)
        if cipher == "chacha20":
            return chacha20(key)
        return ccm(key, tag_length=8 if cipher == "ccm_8" else 16)

    @property
    def hides_length(self) -> bool:
        """True if a record may be padded."""
        return self._is_13 or self.aead is None

    def plain_bytes(self, size: int) -> int:
        """Return the largest plaintext size of a record of `size` bytes without its header."""
        if self.aead is None:
            return max(size - _BLOCK - self._mac_bytes - 1, 0)
        return max(size - self._overhead - self._is_13, 0)

    def open(self, sequence: int, kind: int, version: int, body: bytes) -> Opened | None:
        """Decrypt the bytes after a header; `sequence` counts from 0 after each change of keys."""
        if self.aead is None:
            return self._open_cbc(sequence, kind, version, body)
        from cryptography.exceptions import InvalidTag

        if len(body) < self._overhead:
            return None
        try:
            if not self._is_13:
                return Opened(kind, self._open_12(sequence, kind, version, body), 0)
            inner = self.aead.decrypt(self._nonce(sequence), body, _HEADER.pack(kind, version, len(body)))
        except InvalidTag:
            return None
        if inner[-1:] > b"\0":  # nearly always: no padding, and no byte is copied
            return Opened(inner[-1], memoryview(inner)[:-1], 0)
        plain = inner.rstrip(b"\0")
        if not plain:
            return None  # RFC 8446, 5.4: a record of zeros has no content type
        return Opened(plain[-1], memoryview(plain)[:-1], len(inner) - len(plain))

    def _nonce(self, sequence: int) -> bytes:
        return (int.from_bytes(self._keys.iv, "big") ^ sequence).to_bytes(len(self._keys.iv), "big")

    def _open_12(self, sequence: int, kind: int, version: int, body: bytes) -> bytes:
        additional = _ADDITIONAL.pack(sequence, kind, version, len(body) - self._overhead)
        if self._suite.cipher == "chacha20":
            opened: bytes = self.aead.decrypt(self._nonce(sequence), body, additional)
            return opened
        nonce, sealed = self._keys.iv + body[:_EXPLICIT], body[_EXPLICIT:]
        return bytes(self.aead.decrypt(nonce, sealed, additional))

    def _mac(self, sequence: int, kind: int, version: int, data: bytes) -> bytes:
        if self._keyed is None:
            assert self._suite.mac is not None
            self._keyed = hmac.HMAC(self._keys.mac_key, None, self._suite.mac)
        return mac(self._keyed, _ADDITIONAL.pack(sequence, kind, version, len(data)) + data)

    def _open_cbc(self, sequence: int, kind: int, version: int, body: bytes) -> Opened | None:
        mac_bytes = self._mac_bytes
        if self._encrypt_then_mac:
            body, tag = body[:-mac_bytes], body[-mac_bytes:]
            if not hmac.compare_digest(tag, self._mac(sequence, kind, version, body)):
                return None
        if len(body) < 2 * _BLOCK or len(body) % _BLOCK:
            return None
        padded = self._decrypt_cbc(body)
        end = len(padded) - 1 - padded[-1]
        if end < 0 or padded[end:] != bytes((padded[-1],)) * (padded[-1] + 1):
            return None
        if self._encrypt_then_mac:
            return Opened(kind, padded[:end], 0)
        data, tag = padded[: max(end - mac_bytes, 0)], padded[max(end - mac_bytes, 0) : end]
        return Opened(kind, data, 0) if hmac.compare_digest(tag, self._mac(sequence, kind, version, data)) else None

    def _decrypt_cbc(self, body: bytes) -> bytes:
        """Decrypt whole blocks. A block needs only the previous one, so one context serves all records; the IV's own block is dropped."""
        if self._blocks is None:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

            self._blocks = Cipher(algorithms.AES(self._keys.key), modes.CBC(bytes(_BLOCK))).decryptor()
        opened: bytes = self._blocks.update(body)[_BLOCK:]
        return opened

    def open_beginning(self, sequence: int, body: bytes, size: int) -> bytes:
        """Decrypt, without verification, the beginning of a record with `size` bytes after its header."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher, keys = self._suite.cipher, self._keys
        most = self.plain_bytes(size)
        if self.aead is None:
            whole = len(body) // _BLOCK * _BLOCK
            return self._decrypt_cbc(body[:whole])[:most] if whole >= 2 * _BLOCK else b""
        nonce = self._nonce(sequence)
        if not self._is_13 and cipher != "chacha20":
            nonce, body = keys.iv + body[:_EXPLICIT], body[_EXPLICIT:]
        if len(nonce) != 12:
            return b""
        if cipher == "chacha20":  # RFC 8439: block 0 is the authenticator's key
            decryptor: Any = Cipher(algorithms.ChaCha20(keys.key, (1).to_bytes(4, "little") + nonce), None).decryptor()
        else:
            # The counter blocks of the payload: GCM's begin with 2 (SP 800-38D), CCM's with 1 behind flags of 2 (RFC 3610).
            first = nonce + (2).to_bytes(4, "big") if cipher == "gcm" else b"\x02" + nonce + (1).to_bytes(3, "big")
            decryptor = Cipher(algorithms.AES(keys.key), modes.CTR(first)).decryptor()
        opened: bytes = decryptor.update(body)
        return opened[:most]
