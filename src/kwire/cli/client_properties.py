"""A file of client properties as Kafka's own tools take it with `--command-config`: how to reach a cluster that has TLS and SASL."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import Final, NamedTuple

from kwire.cli.broker_session import PLAIN, Login
from kwire.errors import InputError
from kwire.protocol.negotiation.scram import SCRAM_MECHANISMS

__all__ = ["ClientProperties", "read_client_properties"]

_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS: Final = (PLAIN, *SCRAM_MECHANISMS)
_PAIR: Final = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:\s]\s*(.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_OF_JAAS: Final = re.compile(r'\b(username|password)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))')
_SPECIAL: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


class ClientProperties(NamedTuple):
    """How to reach a cluster.

    Attributes:
        login: for a listener that authenticates.
        tls: for a listener that encrypts.
    """

    login: Login | None
    tls: ssl.SSLContext | None


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 5 else _SPECIAL.get(found[1], found[1]), text)


def _properties(text: str) -> dict[str, str]:
    """The pairs of a file in Java's form (`java.util.Properties.load`)."""
    found = {}
    for line in re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t]*", r"\1", text).splitlines():
        pair = _PAIR.fullmatch(line.strip())
        if pair is not None and not line.lstrip().startswith(("#", "!")):
            found[_unescaped(pair[1])] = _unescaped(pair[2])
    return found


def read_client_properties(path: str) -> ClientProperties:
    """Read such a file; properties that say nothing about reaching the cluster are passed over, as Kafka's tools do.

    Args:
        path: of the file.

    Raises:
        InputError: it cannot be read, or asks for what kwire does not have. No password is in the text.
    """
    try:
        given = _properties(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error
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


def _pem(path: str, given: dict[str, str], store: str) -> str | None:
    """The file of a store, which has to be one of PEM."""
    location = given.get(f"ssl.{store}.location")
    if location is not None and given.get(f"ssl.{store}.type", "JKS").upper() != "PEM":
        raise InputError(f"{path}: ssl.{store}.type has to be PEM; what a JKS or PKCS12 store holds, keytool and openssl write as PEM")
    return location


def _tls(path: str, given: dict[str, str]) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(
            cafile=_pem(path, given, "truststore"), cadata=given.get("ssl.truststore.certificates", "").strip() or None
        )
        keys = _pem(path, given, "keystore")
        if keys is not None:
            context.load_cert_chain(keys, password=lambda: given.get("ssl.key.password", ""))
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise InputError(f"{path}: its certificates or keys cannot be read: {getattr(error, 'strerror', None) or error}") from error
    # Kafka's default is https; empty turns the check of the host's name off, never that of the certificate.
    context.check_hostname = given.get("ssl.endpoint.identification.algorithm", "https") != ""
    return context
