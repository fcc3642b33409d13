"""Records to their plaintext: the native cipher against the pure one, on records sealed by `cryptography`."""

from __future__ import annotations

import hmac
import os
import random
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305

from kwire.capture.tls.cipher_suites import SUITES, Suite
from kwire.capture.tls.key_schedule import Keys
from kwire.capture.tls.record_ciphers import RecordCipher
from kwire.codec.impl import load_twin

ROOM: Any = load_twin("capture", "tls_record_cipher", "native")
SIZES = [*range(0, 70, 3), 127, 128, 129, 1000, 4097, 16384]
AEADS = {"gcm": AESGCM, "chacha20": ChaCha20Poly1305, "ccm": AESCCM}


def twins(suite: Suite, keys: Keys, *, is_13: bool, encrypt_then_mac: bool = False) -> list[Any]:
    return [
        RecordCipher(suite, keys, is_13=is_13, encrypt_then_mac=encrypt_then_mac),
        ROOM.record_cipher(suite, keys, is_13, encrypt_then_mac),
    ]


@pytest.mark.parametrize("is_13", [False, True])
def test_an_iv_of_another_suite_is_refused(is_13: bool) -> None:
    suite = next(each for each in SUITES.values() if each.cipher == "gcm")
    cipher = ROOM.record_cipher(suite, Keys(bytes(suite.key_bytes), bytes(4 if is_13 else 12), b""), is_13, False)
    with pytest.raises(ValueError, match="IV"):
        cipher.open(0, 23, 0x303, bytes(64))


def shown(opened: Any) -> Any:
    return None if opened is None else (opened.kind, bytes(opened.data), opened.padding)


def sealed_aead(suite: Suite, keys: Keys, sequence: int, plain: bytes, *, is_13: bool) -> bytes:
    aead: Any = AEADS[suite.cipher](keys.key)
    nonce = (int.from_bytes(keys.iv.rjust(12, b"\0"), "big") ^ sequence).to_bytes(12, "big")
    if is_13:
        return bytes(aead.encrypt(nonce, plain, b"\x17\3\3" + (len(plain) + 16).to_bytes(2, "big")))
    additional = sequence.to_bytes(8, "big") + b"\x17\3\3" + len(plain).to_bytes(2, "big")
    if suite.cipher == "chacha20":
        return bytes(aead.encrypt(nonce, plain, additional))
    explicit = os.urandom(8)
    return explicit + bytes(aead.encrypt(keys.iv + explicit, plain, additional))


def sealed_cbc(suite: Suite, keys: Keys, sequence: int, plain: bytes, extra: int, *, encrypt_then_mac: bool) -> bytes:
    """RFC 5246, 6.2.3.2, and RFC 7366; `extra` blocks of padding more than there must be."""
    assert suite.mac is not None

    def mac(data: bytes) -> bytes:
        return hmac.digest(keys.mac_key, sequence.to_bytes(8, "big") + b"\x17\3\3" + len(data).to_bytes(2, "big") + data, suite.mac or "")

    inner = plain if encrypt_then_mac else plain + mac(plain)
    pad = 15 - len(inner) % 16 + 16 * extra
    iv = os.urandom(16)
    encryptor = Cipher(algorithms.AES(keys.key), modes.CBC(iv)).encryptor()
    body = iv + encryptor.update(inner + bytes((pad,)) * (pad + 1)) + encryptor.finalize()
    return body + mac(body) if encrypt_then_mac else body


def damaged(body: bytes, chance: random.Random) -> list[bytes]:
    """One bit turned anywhere, and bytes missing at either end."""
    turned = bytearray(body)
    turned[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
    return [bytes(turned), body[:-1], body[1:], body[: chance.randrange(len(body))], b""]


NUMBERS = [(0x1301, True), (0x1302, True), (0xC02F, False), (0xC030, False), (0x1303, True), (0xCCA8, False)]


@pytest.mark.parametrize(("number", "is_13"), NUMBERS)
def test_records_of_aead_suites(number: int, is_13: bool) -> None:
    suite, chance = SUITES[number], random.Random(number)
    for size in SIZES:
        sequence = chance.choice([0, 1, 255, 65536, (1 << 40) + 7])
        keys = Keys(chance.randbytes(suite.key_bytes), chance.randbytes(12 if is_13 or suite.cipher == "chacha20" else 4))
        plain = chance.randbytes(size)
        inner = plain + b"\x17" + bytes(chance.choice([0, 0, 3, 40])) if is_13 else plain
        body = sealed_aead(suite, keys, sequence, inner, is_13=is_13)
        for cipher in twins(suite, keys, is_13=is_13):
            assert shown(cipher.open(sequence, 0x17, 0x0303, body)) == (0x17, plain, len(inner) - size - 1 if is_13 else 0)
            assert cipher.open(sequence + 1, 0x17, 0x0303, body) is None
            for bad in damaged(body, random.Random(size)):
                assert cipher.open(sequence, 0x17, 0x0303, bad) is None
            assert cipher.open(sequence, 0x16, 0x0303, body) is None  # the header is vouched for


def test_a_record_of_zeros_has_no_content_type() -> None:
    suite, keys = SUITES[0x1301], Keys(b"k" * 16, b"i" * 12)
    body = sealed_aead(suite, keys, 0, bytes(20), is_13=True)
    assert [cipher.open(0, 0x17, 0x0303, body) for cipher in twins(suite, keys, is_13=True)] == [None] * 2


@pytest.mark.parametrize("number", [0x002F, 0x0035, 0xC027, 0xC028, 0x003D])
@pytest.mark.parametrize("encrypt_then_mac", [False, True])
def test_records_of_cbc_suites(number: int, encrypt_then_mac: bool) -> None:
    suite, chance = SUITES[number], random.Random(number)
    mac_bytes = {"sha1": 20, "sha256": 32, "sha384": 48}[suite.mac or ""]
    for size in SIZES:
        sequence = chance.choice([0, 1, 255, 65536, (1 << 40) + 7])
        keys = Keys(chance.randbytes(suite.key_bytes), b"", chance.randbytes(mac_bytes))
        plain = chance.randbytes(size)
        body = sealed_cbc(suite, keys, sequence, plain, chance.choice([0, 0, 1, 14]), encrypt_then_mac=encrypt_then_mac)
        for cipher in twins(suite, keys, is_13=False, encrypt_then_mac=encrypt_then_mac):
            assert shown(cipher.open(sequence, 0x17, 0x0303, body)) == (0x17, plain, 0)
            assert cipher.open(sequence + 1, 0x17, 0x0303, body) is None
        native = twins(suite, keys, is_13=False, encrypt_then_mac=encrypt_then_mac)
        for bad in damaged(body, random.Random(size)):
            assert len({repr(shown(cipher.open(sequence, 0x17, 0x0303, bad))) for cipher in native}) == 1


def test_any_blocks_of_cbc_are_read_alike() -> None:
    """Padding that is longer than the record or leaves no room for a MAC: what the last byte says is random."""
    chance = random.Random(7)
    for number in (0x002F, 0xC027, 0xC028):
        suite = SUITES[number]
        keys = Keys(chance.randbytes(suite.key_bytes), b"", chance.randbytes({"sha1": 20, "sha256": 32, "sha384": 48}[suite.mac or ""]))
        for blocks in range(12):
            for _ in range(40):
                pad = chance.randrange(16 * blocks + 4) & 0xFF
                inner = bytearray(chance.randbytes(16 * blocks))
                inner[max(len(inner) - pad - 1, 0) :] = bytes((pad,)) * min(pad + 1, len(inner))
                iv = chance.randbytes(16)
                body = iv + Cipher(algorithms.AES(keys.key), modes.CBC(iv)).encryptor().update(bytes(inner))
                outcomes = {repr(shown(cipher.open(0, 0x17, 0x0303, body))) for cipher in twins(suite, keys, is_13=False)}
                assert outcomes == {"None"}
