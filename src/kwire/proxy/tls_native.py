"""TLS of the native loop, by the OpenSSL that Python's `ssl` has loaded.

Files, lowest version, ciphers and options are those of the `ssl.SSLContext` of the same configuration, which also checks the files. Where
Python has its OpenSSL inside, with names that no other module sees, or has another library in its place, listeners with TLS are asyncio's.
"""

from __future__ import annotations

import _ssl
import ctypes
import os
import ssl
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, Final

from kwire.codec.impl import load_native
from kwire.errors import InputError
from kwire.proxy.config import ListenerConfig, SniListenerConfig, host_and_port

__all__ = ["ListenerTls", "native_tls"]

_NO_PARTIAL_WILDCARDS: Final = 0x4  # X509_CHECK_FLAG_, as `ssl` has it
_NEVER_COMMON_NAME: Final = 0x20


@cache
def native_tls() -> ModuleType | None:
    """Return the compiled sessions with the functions of OpenSSL; None where they cannot be found."""
    native = load_native("proxy", "tls_session", "TLS") if sys.platform == "linux" else None
    if native is None or not ssl.OPENSSL_VERSION.startswith("OpenSSL 3."):
        return None
    try:
        library = ctypes.CDLL(getattr(_ssl, "__file__", None), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        if library.OpenSSL_version_num() & 0xFFFFFFFF != ssl.OPENSSL_VERSION_NUMBER:
            return None
        native.load([ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in native.NAMES])
    except (OSError, AttributeError):
        return None
    return native


class ListenerTls:
    """TLS of one listener, towards clients and towards its brokers.

    Arguments:
        listener: what the configuration says.
        knows: whether a client may ask for a name; None for any.

    Raises:
        InputError: a file cannot be used.
    """

    def __init__(self, listener: ListenerConfig | SniListenerConfig, knows: Callable[[str | None], bool] | None) -> None:
        self.client = self.broker = None
        self._server_name: str | None = None
        if (tls := listener.tls) is not None:
            self.client = _context(tls.context(), (tls.certificate, tls.key, tls.client_ca), knows, is_server=True)
        if (upstream := listener.upstream_tls) is not None:
            files = upstream.certificate, upstream.key or upstream.certificate, upstream.ca
            self.broker = _context(upstream.context(), files, None, is_server=False)
            self._server_name = upstream.server_name

    def server_name(self, broker: str) -> str:
        """Return the name that a broker's certificate must have."""
        return (self._server_name or host_and_port(broker, "broker")[0]).encode("idna").decode()


def _context(
    like: ssl.SSLContext, files: tuple[str | None, str | None, str | None], knows: Callable[[str | None], bool] | None, *, is_server: bool
) -> Any:
    native = native_tls()
    assert native is not None
    ciphers = ":".join(each["name"] for each in like.get_ciphers() if each["protocol"] != "TLSv1.3")
    given = [None if file is None else os.fsencode(file) for file in files]
    try:
        return native.TlsContext(
            is_server,
            *given,
            like.verify_mode == ssl.CERT_REQUIRED,
            like.options,
            like.verify_flags,
            _NO_PARTIAL_WILDCARDS | (0 if like.hostname_checks_common_name else _NEVER_COMMON_NAME),
            int(ssl.TLSVersion.TLSv1_2 if like.minimum_version < ssl.TLSVersion.TLSv1_2 else like.minimum_version),
            f"{ciphers}:@SECLEVEL={like.security_level}".encode(),
            knows,
        )
    except OSError as error:  # a file was replaced since `ssl` has read it
        raise InputError(f"{' and '.join(file for file in files if file)} cannot be used: {error}") from error
