"""Prefix-preserving pseudonyms of addresses and host names under a key (Crypto-PAn)."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AddressPseudonyms"]

_KEY_BYTES: Final = 32
_DIGEST_BYTES: Final = 40  # 64 letters of base32
# These say what a packet is for, not who sent it.
_NO_HOSTS: Final = frozenset((bytes(4), b"\xff" * 4, bytes(16)))
_NO_CARDS: Final = frozenset((bytes(6), b"\xff" * 6))
_GROUP_BIT, _LOCAL_BIT = 0x01, 0x02  # of a hardware address (IEEE 802)


class AddressPseudonyms:
    """Pseudonyms under one secret key; `keep_prefix` leading bits of IPv4 addresses stay, twice as many of IPv6 addresses.

    Source: Xu, Fan, Ammar and Moon, "Prefix-Preserving IP Address Anonymization" (2002). The real address of one pseudonym reveals the real
    prefixes of its neighbours. Raises InputError: the package `yacryptopan` is missing.
    """

    def __init__(self, key: bytes, keep_prefix: int | None = None) -> None:
        try:
            from yacryptopan import CryptoPAn
        except ImportError as error:
            raise InputError("pseudonyms of addresses need the package yacryptopan: pip install 'kwire[redact]'") from error
        self._key = hashlib.blake2b(key, digest_size=_KEY_BYTES, person=b"hosts").digest()
        self._cipher: Any = CryptoPAn(hashlib.blake2b(key, digest_size=_KEY_BYTES, person=b"crypto-pan").digest())
        self._keep = keep_prefix or 0
        self._packed: dict[bytes, bytes] = {}

    def packed(self, address: bytes) -> bytes:
        """Return the pseudonym of an address of 4 or 16 bytes; the unspecified and the broadcast address stay."""
        found = self._packed.get(address)
        if found is None:
            found = self._packed[address] = address if address in _NO_HOSTS else self._changed(address)
        return found

    def _changed(self, address: bytes) -> bytes:
        version, bits = (4, 32) if len(address) == 4 else (6, 128)
        number = int.from_bytes(address, "big")
        changed = int(self._cipher.anonymize_bin(number, version))
        kept = min(self._keep if version == 4 else 2 * self._keep, bits)
        mask = (1 << bits - kept) - 1
        return (number & ~mask | changed & mask).to_bytes(len(address), "big")

    def address(self, text: str) -> str:
        return str(ipaddress.ip_address(self.packed(ipaddress.ip_address(text).packed)))

    def hardware(self, address: bytes) -> bytes:
        """Return the pseudonym of a hardware address of 6 bytes: a locally administered address; a group address stays one."""
        if address in _NO_CARDS:
            return address
        digest = hashlib.blake2b(address, key=self._key, digest_size=6, person=b"card").digest()
        return bytes(((digest[0] | _LOCAL_BIT) & ~_GROUP_BIT | address[0] & _GROUP_BIT,)) + digest[1:]

    def host(self, text: bytes) -> bytes:
        """Return a pseudonym of the same length for a host name; the empty text and `*` stay."""
        if text in (b"", b"*"):
            return text
        return b"".join(self._letters(text, len(text)))[: len(text)]

    def _letters(self, text: bytes, size: int) -> Iterator[bytes]:
        for number in count():
            if size <= 0:
                return
            digest = hashlib.blake2b(number.to_bytes(4, "big") + text, key=self._key, digest_size=_DIGEST_BYTES, person=b"host").digest()
            letters = base64.b32encode(digest).lower()
            size -= len(letters)
            yield letters
