"""`kwire trim --decrypt`: the plaintext of encrypted connections as exported PDUs, without secrets, and with the tables of the original."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kwire.capture.tls.connection import TlsConnection
from kwire.capture.tls.exported_plaintext import exported_series
from kwire.capture.tls.plaintext_sink import LeftOut
from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.cli.entry import commands
from tls_wire import Connection13

DATA = Path(__file__).parent / "data"
CAPTURE, KEYS = str(DATA / "tls.pcapng.gz"), str(DATA / "tls-keys.log")


def kwire(*arguments: str) -> str:
    done = CliRunner().invoke(commands, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def requests(capture: str, *more: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in kwire("inspect", capture, "--json", *more).splitlines() if line.startswith("{")]
    # a principal comes from a certificate, and the client key from it: certificates are not in the plaintext
    left = ("capture", "series", "packet_number", "principal", "client_key")
    return sorted(({name: row[name] for name in row if name not in left} for row in found), key=repr)


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trim") / "plain.pcapng"
    kwire("trim", CAPTURE, str(path), "--tls-keys", KEYS, "--decrypt")
    return path


def test_requests_are_those_of_the_encrypted_capture(trimmed: Path) -> None:
    assert requests(str(trimmed)) == requests(CAPTURE, "--tls-keys", KEYS)


def test_proofs_and_nonces_of_scram_are_not_in_it(trimmed: Path) -> None:
    """RFC 5802: a client's last message is `c=BASE64,r=NONCE,p=PROOF`. The plaintext has it, the trimmed capture has not."""
    with tls_options(TlsOptions((KEYS,))):
        stream = exported_series([CAPTURE], frozenset())[0]
        plaintext = b"".join(iter(lambda: stream.read(1 << 20), b""))
    tokens = re.findall(rb"c=[A-Za-z0-9+/=]+,r=([^,]+),p=([A-Za-z0-9+/=]+)", plaintext)
    assert tokens
    out = trimmed.read_bytes()
    for token in tokens:
        assert not any(part in out for part in token)
    for line in Path(KEYS).read_bytes().splitlines():
        if line and not line.startswith(b"#"):
            assert line.split()[2].lower() not in out.lower()


def test_every_packet_is_an_exported_pdu(trimmed: Path) -> None:
    """pcapng: an interface block (1) has the link type at byte 8, and 252 is that of exported PDUs."""
    data, at, links = trimmed.read_bytes(), 0, []
    while at < len(data):
        kind, size = int.from_bytes(data[at : at + 4], "little"), int.from_bytes(data[at + 4 : at + 8], "little")
        if kind == 1:
            links.append(int.from_bytes(data[at + 8 : at + 10], "little"))
        at += size
    assert links == [252]


def test_keys_without_decrypt_are_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["trim", CAPTURE, str(tmp_path / "out.pcapng"), "--tls-keys", KEYS])
    assert done.exit_code == 2
    assert "--tls-keys goes with --decrypt" in done.output


def test_without_keys_only_what_is_not_encrypted_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "plain.pcapng"
    kwire("trim", CAPTURE, str(path), "--decrypt")
    assert requests(str(path)) == requests(CAPTURE)


def test_what_is_left_out_is_said_with_the_reason(tmp_path: Path) -> None:
    """By the truth of the capture: one client whose keys were taken out of the log, one without its ClientHello, five failed handshakes."""
    truth = json.loads((DATA / "tls-truth.json").read_text())["connections"]
    asked = ["trim", CAPTURE, str(tmp_path / "out.pcapng"), "--tls-keys", KEYS, "--decrypt", "--overwrite"]
    left_out = json.loads(kwire(*asked, "--json").splitlines()[-1])["left_out"]
    unread = [each for each in truth if each["bytes_are"] == "TLS" and not each["requests_readable"]]
    assert left_out["connections"] == {
        "no secrets in a key log": sum(each["keys"] == "left out on purpose" for each in unread),
        "its handshake is not in the capture": sum("ClientHello" in each["keys"] for each in unread),
        "it ended before it brought data": sum("none exist" in each["keys"] or "what there is" in each["keys"] for each in unread),
    }
    assert sum(left_out["connections"].values()) == len(unread)
    assert left_out["records"] == 0
    said = CliRunner().invoke(commands, asked).output
    assert "left out: 1 encrypted connection: no secrets in a key log" in said


def test_records_that_are_left_out_are_counted() -> None:
    """A segment in the middle of a decrypted connection is missing: the record that it breaks is counted, and no connection is."""
    wire, left_out, tls = Connection13(), LeftOut(), TlsConnection()
    keys = wire.keys()
    requests = [wire.client.record(bytes(20)) for _ in range(3)]
    for side, data in [*wire.opening(), (0, requests[0] + requests[1][:9])]:  # of the second record its header and 4 bytes
        tls.receive(keys, side, data, 1, 1)
    tls.lose(keys, 0, len(requests[1]) - 9, 2, 2, False)
    tls.receive(keys, 0, requests[2], 3, 3)
    left_out.add(tls)
    assert (left_out.connections, left_out.records, left_out.bytes) == ({}, 1, 4)
    assert tls.decrypted_bytes == 40
