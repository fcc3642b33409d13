"""SCRAM: the exchange of RFC 7677, both sides with each other, and what neither takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scram_server import ScramCredential, ScramServer

from kwire.protocol.negotiation.scram import SCRAM_MECHANISMS, ScramClient, ScramError

# RFC 7677, section 3: user "user", password "pencil"
NONCE, MORE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
SALT = bytes.fromhex("5b6d99689d12358eeca04b141236fa81")


def server(password: str = "pencil", mechanism: str = "SCRAM-SHA-256") -> ScramServer:
    known = ScramCredential.of(mechanism, password, SALT)
    return ScramServer(lambda _, name: known if name == "user" else None, MORE)


def test_the_exchange_of_the_rfc() -> None:
    client, broker = ScramClient("SCRAM-SHA-256", "user", "pencil", NONCE), server()
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert broker("SCRAM-SHA-256", client.first()).token == SERVER_FIRST
    assert client.final(SERVER_FIRST) == CLIENT_FINAL
    answer = broker("SCRAM-SHA-256", CLIENT_FINAL)
    assert (answer.token, answer.principal, answer.refused) == (SERVER_FINAL, "User:user", None)
    client.verify(SERVER_FINAL)
    with pytest.raises(ScramError, match="does not know the password"):
        client.verify(b"v=AAAA")
    with pytest.raises(ScramError, match="the server says 'other-error'"):
        client.verify(b"e=other-error")


@pytest.mark.parametrize("mechanism", SCRAM_MECHANISMS)
@pytest.mark.parametrize("name", ["alice", "a,b=c=2C", "päul"])
def test_both_sides(mechanism: str, name: str) -> None:
    known = ScramCredential.of(mechanism, "s,=ecret", b"salt", 5000)
    broker = ScramServer(lambda asked, who: known if (asked, who) == (mechanism, name) else None, "server")
    client = ScramClient(mechanism, name, "s,=ecret", "client")
    told = broker(mechanism, client.first())
    answer = broker(mechanism, client.final(told.token))
    client.verify(answer.token)
    assert answer.principal == f"User:{name}"


@pytest.mark.parametrize("final", [
    CLIENT_FINAL.replace(b"dHzb", b"dHzc"), CLIENT_FINAL.replace(b"biws", b"eSws"), CLIENT_FINAL.replace(b"lF$k0", b"lF$k1"),
    CLIENT_FINAL[:-4], b"", b"c=biws,r=" + NONCE.encode(), b"\xff", b"p=" * 5000,
])  # fmt: skip
def test_proofs_that_are_wrong_are_refused(final: bytes) -> None:
    broker = server()
    broker("SCRAM-SHA-256", b"n,,n=user,r=" + NONCE.encode())
    answer = broker("SCRAM-SHA-256", final)
    assert (answer.token, answer.principal) == (b"", None)
    assert "invalid credentials" in (answer.refused or "")


@pytest.mark.parametrize("first", [b"n,,n=nobody,r=x", b"y,,n=user,r=x", b"n,a=root,n=user,r=x", b"n,,n=user", b"", b"\xff\xfe"])
def test_beginnings_that_are_wrong_are_refused(first: bytes) -> None:
    assert server()("SCRAM-SHA-256", first).refused is not None


@pytest.mark.parametrize(("message", "why"), [
    (SERVER_FIRST.replace(b"rOpr", b"sOpr"), "nonce does not begin"), (b"r=rOprNGfwEbeRWgbNEkqO,s=W22Z,i=4096", "nonce does not begin"),
    (SERVER_FIRST.replace(b"4096", b"4095"), "wants '4095' iterations"), (SERVER_FIRST + b"0000", "wants '40960000' iterations"),
    (SERVER_FIRST.replace(b"4096", b"0000000040960000"), "wants '000000004096' iterations"),
    (SERVER_FIRST.replace(b"4096", b"x"), "wants 'x' iterations"), (SERVER_FIRST.replace(b"W22", b"!22"), "is not base64"),
    (b"\xff", "not UTF-8"),
    (b"r=" * 3000, "more than 4096"),
])  # fmt: skip
def test_a_client_does_not_take_everything(message: bytes, why: str) -> None:
    with pytest.raises(ScramError, match=why):
        ScramClient("SCRAM-SHA-256", "user", "pencil", NONCE).final(message)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=3), st.sampled_from(("SCRAM-SHA-256", "PLAIN")))
def test_made_up_tokens_never_pass(tokens: list[bytes], mechanism: str) -> None:
    broker = server()
    assert all(broker(mechanism, token).principal is None for token in tokens)


def test_nothing_shows_a_key() -> None:
    assert repr(ScramCredential.of("SCRAM-SHA-256", "pencil", SALT)) == "ScramCredential(4096 iterations)"
