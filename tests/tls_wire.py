"""TLS by hand: hellos, records and the key log of a connection whose secrets a test chooses (RFC 8446, RFC 5246)."""

from __future__ import annotations

import hashlib
import hmac

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305

from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.tls.cipher_suites import SUITES
from kwire.capture.tls.key_schedule import Keys, keys_12, keys_13, next_secret
from kwire.capture.tls.session_keys import SeriesKeys, TlsOptions

CLIENT_RANDOM, SERVER_RANDOM = b"C" * 32, b"S" * 32
MASTER = bytes(range(48))


def vector(width: int, data: bytes) -> bytes:
    return len(data).to_bytes(width, "big") + data


def message(kind: int, body: bytes) -> bytes:
    return bytes((kind,)) + vector(3, body)


def record(kind: int, body: bytes, version: int = 0x0303) -> bytes:
    return bytes((kind,)) + version.to_bytes(2, "big") + vector(2, body)


def extension(number: int, body: bytes) -> bytes:
    return number.to_bytes(2, "big") + vector(2, body)


def client_hello(cipher: int, *extensions: bytes, random: bytes = CLIENT_RANDOM, session_id: bytes = b"", version: int = 0x0303) -> bytes:
    body = version.to_bytes(2, "big") + random + vector(1, session_id) + vector(2, cipher.to_bytes(2, "big")) + vector(1, b"\0")
    return message(1, body + vector(2, b"".join(extensions)))


def server_hello(cipher: int, *extensions: bytes, random: bytes = SERVER_RANDOM, session_id: bytes = b"") -> bytes:
    body = b"\3\3" + random + vector(1, session_id) + cipher.to_bytes(2, "big") + b"\0"
    return message(2, body + vector(2, b"".join(extensions)))


def block_of(text: bytes) -> SecretsBlock:
    return SecretsBlock("", 0, len(text), text)


SERVER_IS_13 = extension(43, b"\3\4")


class Sender:
    def __init__(self, suite: int, keys: Keys, is_13: bool, secret: bytes = b"", encrypt_then_mac: bool = False) -> None:
        self.suite, self.keys, self.is_13, self.secret = SUITES[suite], keys, is_13, secret
        self.encrypt_then_mac = encrypt_then_mac
        self.sequence = 0

    def update(self) -> None:
        self.secret = next_secret(self.secret, self.suite)
        self.keys, self.sequence = keys_13(self.secret, self.suite), 0

    def record(self, data: bytes, kind: int = 23, padding: int = 0) -> bytes:
        sequence, self.sequence = self.sequence, self.sequence + 1
        if self.suite.cipher == "cbc":
            return record(kind, self._cbc(sequence, kind, data))
        aead = {"gcm": AESGCM, "chacha20": ChaCha20Poly1305}.get(self.suite.cipher)
        tag = 8 if self.suite.cipher == "ccm_8" else 16
        made = aead(self.keys.key) if aead else AESCCM(self.keys.key, tag_length=tag)
        if self.is_13:
            inner = data + bytes((kind,)) + bytes(padding)
            return record(23, made.encrypt(self._nonce(sequence), inner, b"\x17\3\3" + (len(inner) + tag).to_bytes(2, "big")))
        additional = sequence.to_bytes(8, "big") + bytes((kind,)) + b"\3\3" + len(data).to_bytes(2, "big")
        if self.suite.cipher == "chacha20":
            return record(kind, made.encrypt(self._nonce(sequence), data, additional))
        explicit = hashlib.sha256(sequence.to_bytes(8, "big")).digest()[:8]  # anything that does not repeat
        return record(kind, explicit + made.encrypt(self.keys.iv + explicit, data, additional))

    def _nonce(self, sequence: int) -> bytes:
        return bytes(one ^ other for one, other in zip(self.keys.iv, sequence.to_bytes(12, "big"), strict=True))

    def _cbc(self, sequence: int, kind: int, data: bytes) -> bytes:
        assert self.suite.mac is not None
        iv = hashlib.sha256(sequence.to_bytes(8, "big")).digest()[:16]

        def mac(of: bytes) -> bytes:
            head = sequence.to_bytes(8, "big") + bytes((kind,)) + b"\3\3" + len(of).to_bytes(2, "big")
            return hmac.digest(self.keys.mac_key, head + of, self.suite.mac or "")

        plain = data if self.encrypt_then_mac else data + mac(data)
        pad = 15 - len(plain) % 16
        encryptor = Cipher(algorithms.AES(self.keys.key), modes.CBC(iv)).encryptor()
        sealed = iv + encryptor.update(plain + bytes((pad,)) * (pad + 1)) + encryptor.finalize()
        return sealed + mac(sealed) if self.encrypt_then_mac else sealed


class Connection13:
    def __init__(self, suite: int = 0x1301) -> None:
        self.suite = suite
        size = hashlib.new(SUITES[suite].hash).digest_size
        self.secrets = {
            label: hashlib.sha512(label.encode()).digest()[:size]
            for label in (
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
            )
        }  # fmt: skip
        self.client, self.server = self._sender("CLIENT_TRAFFIC_SECRET_0"), self._sender("SERVER_TRAFFIC_SECRET_0")

    def _sender(self, label: str) -> Sender:
        secret = self.secrets[label]
        return Sender(self.suite, keys_13(secret, SUITES[self.suite]), True, secret)

    def key_log(self) -> bytes:
        return "".join(f"{label} {CLIENT_RANDOM.hex()} {secret.hex()}\n" for label, secret in self.secrets.items()).encode()

    def keys(self, **options: bool) -> SeriesKeys:
        made = SeriesKeys(TlsOptions(**options))  # type: ignore[arg-type]
        made.take_block(block_of(self.key_log()))
        return made

    def opening(self, *extensions: bytes) -> list[tuple[int, bytes]]:
        """The handshake: (side, bytes); side 0 is the client."""
        client, server = self._sender("CLIENT_HANDSHAKE_TRAFFIC_SECRET"), self._sender("SERVER_HANDSHAKE_TRAFFIC_SECRET")
        size = hashlib.new(SUITES[self.suite].hash).digest_size
        finished = message(20, bytes(size))
        return [
            (0, record(22, client_hello(self.suite, *extensions))),
            (1, record(22, server_hello(self.suite, SERVER_IS_13)) + record(20, b"\1")),
            (
                1,
                server.record(message(8, vector(2, extension(16, vector(2, vector(1, b"kafka")))) + b""), 22) + server.record(finished, 22),
            ),
            (0, record(20, b"\1") + client.record(finished, 22)),
        ]


class Connection12:
    def __init__(self, suite: int, *, encrypt_then_mac: bool = False) -> None:
        self.suite, self.encrypt_then_mac = suite, encrypt_then_mac
        client, server = keys_12(MASTER, CLIENT_RANDOM, SERVER_RANDOM, SUITES[suite])
        self.client = Sender(suite, client, False, encrypt_then_mac=encrypt_then_mac)
        self.server = Sender(suite, server, False, encrypt_then_mac=encrypt_then_mac)

    def key_log(self) -> bytes:
        return f"CLIENT_RANDOM {CLIENT_RANDOM.hex()} {MASTER.hex()}\n".encode()

    def keys(self) -> SeriesKeys:
        made = SeriesKeys(TlsOptions())
        made.take_block(block_of(self.key_log()))
        return made

    def opening(self, *, session_id: bytes = b"", certificate: bool = True) -> list[tuple[int, bytes]]:
        """The handshake: (side, bytes); the messages between hello and Finished are only those that are looked at."""
        chosen = (extension(22, b""),) if self.encrypt_then_mac else ()
        hello = server_hello(self.suite, *chosen, session_id=session_id)
        flight = record(22, hello + (message(11, vector(3, b"")) if certificate else b"") + message(14, b""))
        finished = message(20, bytes(12))
        return [
            (0, record(22, client_hello(self.suite, *chosen, session_id=session_id))),
            (1, flight),
            (0, record(22, message(16, b"\0\x20" + bytes(32))) + record(20, b"\1") + self.client.record(finished, 22)),
            (1, record(20, b"\1") + self.server.record(finished, 22)),
        ]
