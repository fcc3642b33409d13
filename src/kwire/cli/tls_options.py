"""Options for encrypted connections, for all commands that read captures."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import cloup

__all__ = ["with_tls_options"]


def with_tls_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--tls-keys` and related options to a command, which then reads captures with them."""

    @cloup.option_group(
        "Encryption",
        cloup.option(
            "--tls-keys", "key_logs", multiple=True, metavar="FILE",
            help="NSS key log (SSLKEYLOGFILE) with the secrets of TLS connections (repeatable, globs).",
        ),
        cloup.option("--no-tls-keys", is_flag=True, help="Ignore the secrets that a capture itself has (Decryption Secrets Blocks)."),
        cloup.option(
            "--unverified", is_flag=True, help="Decrypt the beginning of TLS records whose end is missing, without verification."
        ),
        cloup.option(
            "--ssl-principal-mapping-rules", "rules", metavar="RULES",
            help="The brokers' ssl.principal.mapping.rules, from certificate subjects to principals.",
        ),
    )  # fmt: skip
    @functools.wraps(command)
    def reading(*arguments: Any, key_logs: tuple[str, ...], no_tls_keys: bool, unverified: bool, rules: str | None, **options: Any) -> Any:
        if not (key_logs or no_tls_keys or unverified or rules):
            return command(*arguments, **options)
        from kwire.capture.tls.certificates import PrincipalRules
        from kwire.capture.tls.session_keys import TlsOptions, expand_key_logs, tls_options

        PrincipalRules(rules or "DEFAULT")
        with tls_options(TlsOptions(expand_key_logs(key_logs), not no_tls_keys, unverified, rules or "DEFAULT")):
            return command(*arguments, **options)

    return reading
