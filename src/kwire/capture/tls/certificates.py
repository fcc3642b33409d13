"""Certificates of a handshake: subject as Kafka prints it, validity, and the broker's rules from subjects to principals.

A subject has the form of Java's `X500Principal.getName()` (RFC 2253), the input of Kafka's `SslPrincipalMapper`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kwire.errors import InputError

if TYPE_CHECKING:
    from cryptography import x509

__all__ = ["Certificate", "PrincipalRules", "read_certificate"]

# sun.security.x509.AVAKeyword: those that RFC 2253 names; any other type stands as its number with the value's DER in hex.
_KEYWORDS: Final = {
    "2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O", "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
}  # fmt: skip
_ESCAPED: Final = re.compile(r'([,+<>;"\\])')
_UTF8_STRING: Final = 0x0C
_LONGEST: Final = 1024  # characters of a subject
# SslPrincipalMapper.RULE_PATTERN
_RULE: Final = re.compile(r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?)")
_REFERENCE: Final = re.compile(r"\\(.)|\$([0-9]{1,9})")


class Certificate(NamedTuple):
    """Subject in the form of RFC 2253, and validity in seconds since 1970, UTC."""

    subject: str
    not_before: int
    not_after: int


@lru_cache(maxsize=128)  # a server shows the same one on every connection
def read_certificate(der: bytes) -> Certificate | None:
    """Read a certificate; return None if it is invalid or `cryptography` is missing."""
    try:
        from cryptography import x509
    except ImportError:
        return None
    try:
        read = x509.load_der_x509_certificate(der)
        return Certificate(_subject(read.subject), int(read.not_valid_before_utc.timestamp()), int(read.not_valid_after_utc.timestamp()))
    except (ValueError, TypeError, OverflowError, x509.InvalidVersion):
        return None


def _subject(name: x509.Name) -> str:
    parts = []
    for rdn in reversed(list(name.rdns)):
        parts.append("+".join(sorted(_attribute(each) for each in rdn)))
    return ",".join(parts)[:_LONGEST]


def _attribute(attribute: x509.NameAttribute[Any]) -> str:
    keyword = _KEYWORDS.get(attribute.oid.dotted_string)
    if keyword is None:
        return f"{attribute.oid.dotted_string}=#{_der_hex(attribute)}"
    value = attribute.value if isinstance(attribute.value, str) else attribute.value.decode("latin-1")
    escaped = _ESCAPED.sub(r"\\\1", value)
    if escaped[:1] in ("#", " "):
        escaped = "\\" + escaped
    if escaped.endswith(" ") and len(value) > 1:
        escaped = escaped[:-1] + "\\ "
    return f"{keyword}={escaped}"


def _der_hex(attribute: x509.NameAttribute[Any]) -> str:
    value = attribute.value.encode() if isinstance(attribute.value, str) else attribute.value
    kind = getattr(getattr(attribute, "_type", None), "value", _UTF8_STRING)
    size = len(value)
    width = (size.bit_length() + 7) // 8
    length = bytes((size,)) if size < 0x80 else bytes((0x80 | width,)) + size.to_bytes(width, "big")
    return (bytes((kind,)) + length + value).hex()


class PrincipalRules:
    """Mapping by the broker's `ssl.principal.mapping.rules`: the first rule that matches the whole subject gives the name.

    The text is `DEFAULT`, or rules such as `RULE:^CN=(.*?),.*$/$1/L` between commas. Raises InputError: a rule is invalid.
    """

    def __init__(self, text: str = "DEFAULT") -> None:
        self._rules: list[tuple[re.Pattern[str], str, str] | None] = []
        at = 0
        text = text.strip() or "DEFAULT"
        while at < len(text):
            found = _RULE.match(text, at)
            if found is None or (found.end() < len(text) and text[found.end()] != ","):
                raise InputError(f"ssl.principal.mapping.rules: {text[at : at + 60]!r} is not a rule")
            if found[1]:
                self._rules.append(None)
            else:
                try:
                    self._rules.append((re.compile(found[2]), found[3], found[4]))
                except re.error as error:
                    raise InputError(f"ssl.principal.mapping.rules: {found[2]!r} is not a pattern: {error}") from error
            at = found.end() + 1
            while at < len(text) and text[at] == " ":
                at += 1

    def principal(self, subject: str) -> str:
        """Return `User:NAME` of a subject; if no rule matches, which Kafka rejects, NAME is the whole subject."""
        for rule in self._rules:
            if rule is None:
                break
            pattern, replacement, case = rule
            if pattern.fullmatch(subject) is None:
                continue
            name = pattern.sub(lambda match: _replaced(match, replacement), subject)  # noqa: B023
            return "User:" + (name.lower() if case == "L" else name.upper() if case == "U" else name)
        return f"User:{subject}"


def _replaced(match: re.Match[str], replacement: str) -> str:
    """Expand Java's `$1`; an unknown group stays unchanged (SslPrincipalMapper.escapeLiteralBackReferences)."""

    def one(reference: re.Match[str]) -> str:
        if reference[1] is not None:
            return reference[1]
        group = int(reference[2])
        return (match[group] or "") if group <= match.re.groups else reference[0]

    return _REFERENCE.sub(one, replacement)
