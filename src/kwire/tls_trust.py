"""TLS contexts that trust only given authorities."""

from __future__ import annotations

import ssl

__all__ = ["only_trusting"]


def only_trusting(purpose: ssl.Purpose, file: str | None, text: str | None = None) -> ssl.SSLContext:
    """Return a context with Python's defaults that trusts certificates of these authorities and none of the system's.

    Arguments:
        purpose: side of the peers.
        file: certificates in PEM.
        text: more of them.

    Raises:
        OSError: the file cannot be read.
        ValueError: no certificate was given; Python would then trust the system's.
    """
    try:
        context = ssl.create_default_context(purpose, cafile=file, cadata=text) if file or text else None
    except ssl.SSLError as error:  # an OSError, too
        raise ValueError(f"expected certificates in PEM: {error.reason or error}") from error
    if context is None or not context.cert_store_stats()["x509"]:  # such as a file with revocation lists only
        raise ValueError("expected certificates, found none")
    return context
