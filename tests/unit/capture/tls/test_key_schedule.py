"""Traffic keys: the vectors of RFC 8448 and of the PRF of TLS 1.2, and records that they open."""

from __future__ import annotations

import pytest

from kwire.capture.tls.cipher_suites import SUITES, suite_name
from kwire.capture.tls.key_schedule import Keys, expand_label, keys_12, keys_13, master_secret, next_secret, prf
from kwire.capture.tls.record_ciphers import RecordCipher

AES_128_GCM = SUITES[0x1301]
# RFC 8448, 3: secret, key, IV of each direction, under the handshake's and the application's traffic secrets.
RFC_8448 = {
    "client handshake": (
        "b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21",
        "dbfaa693d1762c5b666af5d950258d01",
        "5bd3c71b836e0b76bb73265f",
    ),
    "server handshake": (
        "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38",
        "3fce516009c21727d0f2e4e86ee403bc",
        "5d313eb2671276ee13000b30",
    ),
    "client application": (
        "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5",
        "17422dda596ed5d9acd890e3c63f5051",
        "5b78923dee08579033e523d9",
    ),
    "server application": (
        "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643",
        "9f02283b6c9c07efc26bb9f2ac92e356",
        "cf782b88dd83549aadf1e984",
    ),
}


@pytest.mark.parametrize("name", RFC_8448)
def test_traffic_keys_of_rfc_8448(name: str) -> None:
    secret, key, iv = map(bytes.fromhex, RFC_8448[name])
    assert keys_13(secret, AES_128_GCM) == Keys(key, iv)


def test_record_of_rfc_8448_opens() -> None:
    # "Send application_data record" of the client: the bytes 00 to 31 (hex), in a record of 67 bytes
    body = bytes.fromhex(
        "a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4"
    )
    cipher = RecordCipher(AES_128_GCM, keys_13(bytes.fromhex(RFC_8448["client application"][0]), AES_128_GCM), is_13=True)
    opened = cipher.open(0, 23, 0x0303, body)
    assert opened is not None
    assert (opened.kind, opened.data, opened.padding) == (23, bytes(range(0x32)), 0)
    assert cipher.open(1, 23, 0x0303, body) is None  # another number, another nonce
    assert cipher.open(0, 23, 0x0303, body[:-1] + b"\0") is None
    assert cipher.open_beginning(0, body[:20], len(body)) == bytes(range(20))


def test_key_update_expands_the_secret_that_is_in_force() -> None:
    # RFC 8446, 7.2: HKDF-Expand-Label(secret, "traffic upd", "", Hash.length)
    secret = bytes(range(32))
    assert next_secret(secret, AES_128_GCM) == expand_label(secret, "traffic upd", b"", 32, "sha256")


def test_prf_of_tls_12() -> None:
    # the vector for P_SHA256 that the TLS working group published on its list
    secret, seed = bytes.fromhex("9bbe436ba940f017b17652849a71db35"), bytes.fromhex("a0ba9f936cda311827a6f796ffd5198c")
    assert prf(secret, b"test label", seed, 100, "sha256").hex() == (
        "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab"
        "4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66"
    )


def test_key_block_has_mac_keys_then_keys_then_ivs_each_the_clients_first() -> None:
    suite, master = SUITES[0xC027], bytes(48)  # ECDHE_RSA_WITH_AES_128_CBC_SHA256: MAC keys of 32 bytes, keys of 16, no IVs
    block = prf(master, b"key expansion", b"S" * 32 + b"C" * 32, 96, "sha256")  # RFC 5246, 6.3: the server's random first
    client, server = keys_12(master, b"C" * 32, b"S" * 32, suite)
    assert client == Keys(block[64:80], b"", block[:32])
    assert server == Keys(block[80:96], b"", block[32:64])
    client, server = keys_12(master, b"C" * 32, b"S" * 32, SUITES[0xC030])  # AES_256_GCM_SHA384: no MAC keys, salts of 4 bytes
    block = prf(master, b"key expansion", b"S" * 32 + b"C" * 32, 72, "sha384")
    assert (client, server) == (Keys(block[:32], block[64:68]), Keys(block[32:64], block[68:72]))


def test_master_secret_takes_the_randoms_or_the_session_hash() -> None:
    suite = SUITES[0xC02F]
    # RFC 5246, 8.1: the client's random first; RFC 7627, 4: the hash of the handshake in their place
    assert master_secret(b"pre", b"C" * 32, b"S" * 32, suite, None) == prf(b"pre", b"master secret", b"C" * 32 + b"S" * 32, 48, "sha256")
    assert master_secret(b"pre", b"C" * 32, b"S" * 32, suite, b"h" * 32) == prf(b"pre", b"extended master secret", b"h" * 32, 48, "sha256")


def test_keys_show_nothing() -> None:
    keys = Keys(b"\x11" * 16, b"\x22" * 12, b"\x33" * 20)
    assert repr(keys) == "Keys(...)"
    assert repr(RecordCipher(AES_128_GCM, keys, is_13=True)) == "RecordCipher(TLS_AES_128_GCM_SHA256)"


@pytest.mark.parametrize(
    ("number", "name"),
    [
        # IANA's registry of TLS cipher suites
        (0x1302, "TLS_AES_256_GCM_SHA384"),
        (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
        (0x002F, "TLS_RSA_WITH_AES_128_CBC_SHA"),
        (0x003D, "TLS_RSA_WITH_AES_256_CBC_SHA256"),
        (0xC014, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
        (0xC028, "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384"),
        (0xC02B, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        (0xC0AF, "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8"),
        (0xCCA8, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
        (0x6A6A, "0x6a6a"),
    ],
)
def test_suites_have_the_names_of_the_registry(number: int, name: str) -> None:
    assert suite_name(number) == name
