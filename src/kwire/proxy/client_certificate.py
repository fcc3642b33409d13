"""Principal of a client's TLS certificate."""

from __future__ import annotations

import ssl

from kwire.capture.tls.certificates import PrincipalRules, read_certificate

__all__ = ["certified_principal"]

_DEFAULT = PrincipalRules()


def certified_principal(connection: ssl.SSLObject | None) -> str:
    """Return `User:SUBJECT`, as brokers do with `ssl.principal.mapping.rules=DEFAULT`; empty without TLS or a certificate."""
    der = None if connection is None else connection.getpeercert(binary_form=True)
    found = None if der is None else read_certificate(der)
    return "" if found is None else _DEFAULT.principal(found.subject)
