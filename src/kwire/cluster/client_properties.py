"""Files of client properties, as for `--command-config` of Kafka's own tools: TLS and SASL of a cluster."""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from pathlib import Path
from typing import IO, Final, NamedTuple

import javaproperties

from kwire.cluster.broker_session import PLAIN, Login
from kwire.errors import InputError
from kwire.protocol.negotiation.scram import SCRAM_MECHANISMS
from kwire.tls_trust import only_trusting

__all__ = ["ClientProperties", "read_client_properties"]

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS: Final = (PLAIN, *SCRAM_MECHANISMS)
_OF_JAAS: Final = re.compile(r'\b(username|password)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))')


class ClientProperties(NamedTuple):
    login: Login | None
    tls: ssl.SSLContext | None


def read_client_properties(path: str) -> ClientProperties:
    """Read such a file; other properties are ignored, as in Kafka's tools, and errors never contain a password."""
    try:
        given = javaproperties.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error
    except javaproperties.InvalidUEscapeError as error:
        raise InputError(f"{path}: invalid escape {error.escape}") from error
    protocol = given.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in _PROTOCOLS:
        raise InputError(f"{path}: security.protocol is {protocol!r}, and may be {', '.join(_PROTOCOLS)}")
    login = _login(path, given) if protocol.startswith("SASL_") else None
    return ClientProperties(login, _tls(path, given) if protocol.endswith("SSL") else None)


def _login(path: str, given: dict[str, str]) -> Login:
    mechanism = given.get("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISMS:
        raise InputError(f"{path}: sasl.mechanism is {mechanism!r}, and kwire has {', '.join(_MECHANISMS)}")
    found = {each[1]: each[3] or re.sub(r"\\(.)", r"\1", each[2] or "") for each in _OF_JAAS.finditer(given.get("sasl.jaas.config", ""))}
    if set(found) != {"username", "password"}:
        raise InputError(f"{path}: sasl.jaas.config has to name username and password")
    return Login(found["username"], found["password"], mechanism)


class _Store(NamedTuple):
    """Truststore or keystore as PEM: certificates in sequence, the key's own first; the key has no password."""

    certificates: bytes
    key: bytes | None


def _store(path: str, given: dict[str, str], store: str) -> _Store | str | None:
    """Return the store of a property: the path of a PEM file, or the contents of a PKCS12 file."""
    location = given.get(f"ssl.{store}.location")
    if location is None:
        return None
    kind = given.get(f"ssl.{store}.type", "JKS").upper()
    if kind == "PEM":
        return location
    if kind == "PKCS12":
        return _pkcs12(path, location, given.get(f"ssl.{store}.password", ""))
    if kind != "JKS":
        raise InputError(f"{path}: ssl.{store}.type is {kind!r}, and kwire reads PEM and PKCS12")
    raise InputError(
        f"{path}: kwire reads PKCS12 and PEM, not JKS. Convert it: keytool -importkeystore -srckeystore {location} -srcstoretype JKS "
        f"-destkeystore {Path(location).with_suffix('.p12')} -deststoretype PKCS12, then set ssl.{store}.type=PKCS12"
    )


def _pkcs12(path: str, location: str, password: str) -> _Store:
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ImportError:
        raise InputError(f"{path}: reading PKCS12 needs cryptography: pip install 'kwire[tls]'") from None
    held = pkcs12.load_pkcs12(Path(location).read_bytes(), password.encode() or None)
    chain = [held.cert] if held.cert is not None else []
    certificates = b"".join(each.certificate.public_bytes(Encoding.PEM) for each in (*chain, *held.additional_certs))
    key = None if held.key is None else held.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return _Store(certificates, key)


def _load_keys(context: ssl.SSLContext, keys: _Store | str, password: str) -> None:
    if isinstance(keys, str):
        context.load_cert_chain(keys, password=lambda: password)
        return
    # Python's ssl takes a key from a file only. One in memory never touches a disk; elsewhere it is its owner's alone, and goes at once
    with _file_in_memory() as file:
        file.write((keys.key or b"") + keys.certificates)
        file.flush()
        context.load_cert_chain(file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}")


def _file_in_memory() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("keys"), "w+b")
    return tempfile.NamedTemporaryFile(suffix=".pem")


def _tls(path: str, given: dict[str, str]) -> ssl.SSLContext:
    try:
        trusted, text = _store(path, given, "truststore"), given.get("ssl.truststore.certificates")
        if isinstance(trusted, _Store):
            text = trusted.certificates.decode()
            trusted = None
        is_system = trusted is None and text is None
        context = ssl.create_default_context() if is_system else only_trusting(ssl.Purpose.SERVER_AUTH, trusted, text)
        keys = _store(path, given, "keystore")
        if keys is not None:
            _load_keys(context, keys, given.get("ssl.key.password", ""))
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise InputError(f"{path}: its certificates or keys cannot be read: {getattr(error, 'strerror', None) or error}") from error
    # Kafka's default is https; empty turns the check of the host's name off, never that of the certificate.
    context.check_hostname = given.get("ssl.endpoint.identification.algorithm", "https") != ""
    return context
