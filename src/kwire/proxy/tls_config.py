"""TLS tables of the configuration, and their contexts."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial
from typing import Annotated, TypeVar

from kwire.errors import InputError
from kwire.proxy.config_table import ConfigTable, Meta
from kwire.tls_trust import only_trusting

__all__ = ["TlsConfig", "UpstreamTlsConfig"]

_T = TypeVar("_T")


class TlsConfig(ConfigTable, frozen=True):
    """TLS towards clients."""

    certificate: Annotated[str, Meta(description="PEM file with the certificate and its chain.")]
    key: Annotated[str, Meta(description="PEM file with the private key.")]
    client_ca: Annotated[str | None, Meta(description="PEM file with authorities; clients must show a certificate of one.")] = None

    def context(self) -> ssl.SSLContext:
        found = _context(ssl.Purpose.CLIENT_AUTH, self.client_ca)
        _load(partial(found.load_cert_chain, password=_refuse), self.certificate, self.key)
        if self.client_ca is not None:
            found.verify_mode = ssl.CERT_REQUIRED
        return found


class UpstreamTlsConfig(ConfigTable, frozen=True):
    """TLS towards the broker."""

    ca: Annotated[str | None, Meta(description="PEM file with the trusted authorities; by default the system's.")] = None
    certificate: Annotated[str | None, Meta(description="PEM file with the proxy's certificate, for brokers that ask for one.")] = None
    key: Annotated[str | None, Meta(description="PEM file with its private key.")] = None
    server_name: Annotated[str | None, Meta(description="Name in the broker's certificate; by default the host of `broker`.")] = None

    def context(self) -> ssl.SSLContext:
        found = _context(ssl.Purpose.SERVER_AUTH, self.ca)
        if self.certificate is not None:
            _load(partial(found.load_cert_chain, password=_refuse), self.certificate, self.key)
        return found


def _context(purpose: ssl.Purpose, authorities: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(purpose) if authorities is None else _load(partial(only_trusting, purpose), authorities)


def _refuse() -> str:
    """Refuse an encrypted key, because OpenSSL would ask for its password at the terminal, at each reload too."""
    raise ValueError("the key is encrypted; write it without a password: openssl pkey -in KEY -out NEW")


def _load(load: Callable[..., _T], *files: str | None) -> _T:
    try:
        return load(*files)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{' and '.join(file for file in files if file is not None)} cannot be used: {why}") from error
