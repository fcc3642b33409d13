"""Ends of the validity of the certificates that a proxy shows."""

from __future__ import annotations

from pathlib import Path

from cryptography.x509 import load_pem_x509_certificates

from kwire.proxy.config import ProxyConfig

__all__ = ["certificate_ends"]


def certificate_ends(config: ProxyConfig) -> dict[tuple[str, str], float]:
    """Return the first end in each file, in seconds of the epoch, by listener and file; files that cannot be read are left out."""
    found = {}
    for listener in config.all_listeners:
        for tls in (listener.tls, listener.upstream_tls):
            if tls is not None and tls.certificate is not None:
                try:
                    chain = load_pem_x509_certificates(Path(tls.certificate).read_bytes())
                except (OSError, ValueError):  # OpenSSL reads more forms, and has checked the file
                    continue
                found[listener.listen, tls.certificate] = min(each.not_valid_after_utc.timestamp() for each in chain)
    return found
