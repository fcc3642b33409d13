"""Subjects to principals as Kafka's SslPrincipalMapper does, and fingerprints of hellos."""

from __future__ import annotations

import pytest

from kwire.capture.tls.certificates import PrincipalRules
from kwire.errors import InputError
from kwire.protocol.tls_fingerprints import ja4
from kwire.protocol.tls_handshake import ClientHello

# The rules and subjects of Kafka's SslPrincipalMapperTest
RULES = (
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L, "
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U, DEFAULT"
)


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "duke"),
        ("CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US", "duke@sme"),
        ("cn=duke,ou=sme,o=mycp,l=fulton,st=md,c=us", "DUKE"),
        ("OU=JavaSoft,O=Sun Microsystems,C=US", "OU=JavaSoft,O=Sun Microsystems,C=US"),
    ],
)
def test_the_first_rule_that_matches_says_the_name(subject: str, name: str) -> None:
    assert PrincipalRules(RULES).principal(subject) == f"User:{name}"


@pytest.mark.parametrize("text", ["deny", "RULE:", "RULE:CN=(.*", "RULE:(/$1/L"])
def test_what_is_not_a_rule_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"ssl\.principal\.mapping\.rules"):
        PrincipalRules(text)


def test_ja4_of_its_technical_details() -> None:
    ciphers = [0x2A2A, 0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC013, 0xC014, 0x9C, 0x9D, 0x2F, 0x35]
    extensions = [0x1A1A, 0x1B, 0, 0x33, 0x10, 0x4469, 0x17, 0x2D, 0xD, 5, 0x23, 0x12, 0x2B, 0xFF01, 0xB, 0xA, 0x15]
    signatures = [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601]
    hello = ClientHello(
        0x0303, bytes(32), b"", ciphers, extensions, [], [], signatures, "a.example", [b"h2", b"http/1.1"], [0x0A0A, 0x0304, 0x0303], [],
        False, True,
    )  # fmt: skip
    assert ja4(hello) == "t13d1516h2_8daaf6152771_e5627efa2ab1"
