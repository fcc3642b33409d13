"""Traffic keys, compiled: HMACs with SHA-256 and SHA-384 of the standards, and what the pure twin and the standard library make."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.capture.tls import key_schedule as pure
from kwire.capture.tls.session_keys import session_key
from kwire.codec.impl import load_twin

HASHES = st.sampled_from(["sha256", "sha384"])
ROOM: Any = load_twin("capture", "tls_key_schedule", "native")


@pytest.mark.parametrize(
    ("key", "data", "digest", "expected"),
    [
        # RFC 4231, 4.2, 4.3 and 4.7: a key of 20 bytes, one of 4, and one that is longer than a block
        (b"\x0b" * 20, b"Hi There", "sha256", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            b"\x0b" * 20, b"Hi There", "sha384",
            "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
        ),
        (b"Jefe", b"what do ya want for nothing?", "sha256", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (
            b"\xaa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First", "sha256",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
        (
            b"\xaa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First", "sha384",
            "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("instructions", [True, False])
def test_hmacs_of_rfc_4231(key: bytes, data: bytes, digest: str, expected: str, instructions: bool) -> None:
    assert ROOM.hmac_digest(key, data, digest, instructions).hex() == expected


def test_traffic_keys_of_rfc_8448() -> None:
    secret = bytes.fromhex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")  # the client's, of application data
    assert ROOM.expand_label(secret, b"key", 16, "sha256").hex() == "17422dda596ed5d9acd890e3c63f5051"
    assert ROOM.expand_label(secret, b"iv", 12, "sha256").hex() == "5b78923dee08579033e523d9"


@settings(deadline=None, max_examples=200)
@given(key=st.binary(max_size=300), data=st.binary(max_size=600), digest=HASHES)
def test_hmacs_are_those_of_the_standard_library(key: bytes, data: bytes, digest: str) -> None:
    """Sizes on either side of the borders of blocks, where a padding takes a block of its own."""
    expected = hmac.digest(key, data, digest)
    assert ROOM.hmac_digest(key, data, digest) == expected
    assert ROOM.hmac_digest(key, data, digest, False) == expected, "without the instructions of the processor"


@settings(deadline=None, max_examples=200)
@given(name=st.binary(max_size=400))
def test_a_session_is_kept_under_the_beginning_of_a_hash(name: bytes) -> None:
    """A carry that one twin wrote is read by the other."""
    assert ROOM.named_session(name) == session_key(name) == hashlib.sha256(name).digest()[:16]


def test_the_session_of_a_name() -> None:
    # FIPS 180-2, B.1: SHA-256 of `abc`
    assert ROOM.named_session(b"abc").hex() == "ba7816bf8f01cfea414140de5dae2223"


@settings(deadline=None, max_examples=100)
@given(secret=st.binary(max_size=64), seed=st.binary(max_size=200), length=st.integers(0, 200), digest=HASHES)
def test_what_is_derived_is_that_of_the_pure_twin(secret: bytes, seed: bytes, length: int, digest: str) -> None:
    assert ROOM.prf(secret, b"key expansion", seed, length, digest) == pure.prf(secret, b"key expansion", seed, length, digest)
    short = min(length, 32)
    assert ROOM.expand_label(secret, b"key", short, digest) == pure.expand_label(secret, "key", b"", short, digest)


@settings(deadline=None, max_examples=100)
@given(secrets=st.lists(st.binary(max_size=128), min_size=1, max_size=4), key_bytes=st.sampled_from([16, 32]))
def test_keys_that_are_derived_together_are_those_of_each_secret(secrets: list[bytes], key_bytes: int) -> None:
    """A way that the processor lacks gives None: then each secret is derived by itself."""
    keys = [pure.expand_label(each, "key", b"", key_bytes, "sha384") for each in secrets]
    ivs = [pure.expand_label(each, "iv", b"", 12, "sha384") for each in secrets]
    for way in (1, 2):
        assert ROOM.expand_together(secrets, key_bytes, way) in (list(zip(keys, ivs, strict=True)), None)
    assert ROOM.expand_together(secrets, key_bytes, 0) is None


@pytest.mark.parametrize(
    "ask",
    [
        lambda: ROOM.hmac_digest(b"", b"", "md5"),
        lambda: ROOM.expand_label(b"s" * 32, b"key", 33, "sha256"),
        lambda: ROOM.expand_label(b"s" * 32, b"k" * 65, 16, "sha256"),
        lambda: ROOM.prf(b"s", b"key expansion", bytes(300), 16, "sha256"),
        lambda: ROOM.prf(b"s", b"key expansion", b"", 1025, "sha256"),
        lambda: ROOM.expand_together([], 16, 1),
        lambda: ROOM.expand_together([b""] * 5, 16, 1),
        lambda: ROOM.expand_together([bytes(129)], 16, 1),
        lambda: ROOM.expand_together([b""], 49, 1),
    ],
)
def test_what_does_not_fit_is_refused(ask: Any) -> None:
    with pytest.raises(ValueError):
        ask()
