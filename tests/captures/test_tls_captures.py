"""An encrypted capture of real brokers and clients against what its brokers logged."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.tables.carry_state import pack_carry, unpack_carry
from kwire.tables.series import begin_series, finish_series, read_piece
from tls_capture import blocks, with_keys

DATA = Path(__file__).parent / "data"
TRUTH = json.loads((DATA / "tls-truth.json").read_text())
KEYS = TlsOptions((str(DATA / "tls-keys.log"),))
RULES = "RULE:^CN=([^,]+),OU=services.*$/$1/L,DEFAULT"
Rows = dict[str, list[dict[str, Any]]]


def rows_of(pieces: list[Path], options: TlsOptions) -> Rows:
    found: dict[str, list[pa.RecordBatch]] = {}
    with tls_options(options):
        carry = begin_series("s")
        for piece in pieces:
            for table, batches in read_piece(piece, carry).items():
                found.setdefault(table, []).extend(batches)
            carry = unpack_carry(b"".join(pack_carry(carry)))
        for table, batches in finish_series(carry)[0].items():
            found.setdefault(table, []).extend(batches)
    return {table: [row for batch in batches for row in batch.to_pylist()] for table, batches in found.items()}


def clients_of(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(row["connection_id"].split("-")[1] for row in rows if row["state"] != "orphan_response")


def check(rows: Rows, *, with_keys: bool) -> None:
    counted = clients_of(rows["requests"])
    answered = clients_of([row for row in rows["requests"] if row["state"] == "answered"])
    spoken = {row["connection_id"].split("-")[1]: row for row in rows["connections"]}
    for each in TRUTH["connections"]:
        name, plain = each["client"], each["bytes_are"] == "plaintext"
        want = each["requests_readable"] if with_keys or plain else 0
        assert counted[name] == want, each
        if want:
            assert abs(answered[name] - min(each["responses_readable"], want)) <= 1, each
        if each["tls_version"]:
            assert (spoken[name]["tls_version"], spoken[name]["tls_cipher"]) == (each["tls_version"], each["cipher"])
        if with_keys and each["client_certificate"] and want:
            assert spoken[name]["tls_client_subject"] == each["client_certificate"]
        if not plain and not want:
            assert spoken[name]["protocol"] == "tls"
    if with_keys:
        mine = Counter(
            (row["connection_id"].split("-")[1], row["api_key"], row["api_version"], row["correlation_id"]) for row in rows["requests"]
        )
        readable = {each["client"] for each in TRUTH["connections"] if each["requests_readable"]}
        logged = Counter(tuple(each[:4]) for each in TRUTH["logged"] if each[0] in readable)
        assert not logged - mine


@pytest.fixture(scope="module")
def whole() -> Rows:
    return rows_of([DATA / "tls.pcapng.gz"], KEYS)


def test_what_the_brokers_logged_is_read_with_keys(whole: Rows) -> None:
    check(whole, with_keys=True)
    assert whole["captures"][0]["bytes_decrypted"] > 0


def test_without_keys_nothing_of_an_encrypted_connection_is_read() -> None:
    rows = rows_of([DATA / "tls.pcapng.gz"], TlsOptions())
    check(rows, with_keys=False)
    assert {row["tls_decrypted"] for row in rows["connections"]} == {"no_keys", None}


def test_handshakes_that_failed_are_known_without_keys() -> None:
    rows = rows_of([DATA / "tls.pcapng.gz"], TlsOptions())
    failed = {row["connection_id"].split("-")[1] for row in rows["violations"] if row["rule"] == "tls_handshake_failed"}
    truth = {each["client"] for each in TRUTH["connections"] if each["handshake"] in ("failed", "no ServerHello")}
    assert failed == truth


def test_principals_are_those_of_the_brokers_rules() -> None:
    rows = rows_of([DATA / "tls.pcapng.gz"], TlsOptions(KEYS.key_logs, principal_rules=RULES))
    principals = {row["connection_id"].split("-")[1]: row["principal"] for row in rows["connections"]}
    seen = [each for each in TRUTH["connections"] if each["client_certificate"] and each["requests_readable"]]
    assert seen
    for each in seen:
        assert [principals[each["client"]]] == each["principals"]


def test_keys_in_the_capture_are_used_unless_they_are_declined(whole: Rows, tmp_path: Path) -> None:
    path = tmp_path / "keys.pcapng"
    path.write_bytes(with_keys(blocks()))
    check(rows_of([path], TlsOptions()), with_keys=True)
    check(rows_of([path], TlsOptions(capture_keys=False)), with_keys=False)


@pytest.mark.parametrize("seed", range(4))
def test_any_cut_into_pieces_gives_the_same(whole: Rows, tmp_path: Path, seed: int) -> None:
    """Borders between any two packets: inside handshakes, records and frames."""
    heads = b"".join(block for block in blocks() if block[:4] != b"\6\0\0\0")
    packets = [block for block in blocks() if block[:4] == b"\6\0\0\0"]
    rnd, pieces = random.Random(seed), []
    borders = sorted(rnd.sample(range(len(packets)), rnd.choice((1, 8, 40))))
    for number, (begin, end) in enumerate(pairwise([0, *borders, len(packets)])):
        path = tmp_path / f"piece{number:02}.pcapng"
        path.write_bytes(heads + b"".join(packets[begin:end]))
        pieces.append(path)
    cut = rows_of(pieces, KEYS)
    for table in ("requests", "connections", "violations"):
        assert stripped(cut[table]) == stripped(whole[table])


@pytest.mark.parametrize("share", [0.001, 0.01])
@pytest.mark.parametrize("seed", range(4))
def test_lost_packets_invent_nothing(whole: Rows, tmp_path: Path, seed: int, share: float) -> None:
    rnd = random.Random(seed)
    path = tmp_path / "lossy.pcapng"
    path.write_bytes(b"".join(block for block in blocks() if block[:4] != b"\6\0\0\0" or rnd.random() >= share))
    rows = rows_of([path], KEYS)
    known = {identity(row) for row in whole["requests"]}
    seen = [row for row in rows["requests"] if row["state"] != "orphan_response"]
    assert {identity(row) for row in seen} <= known
    assert len(seen) > len(known) // 2
    errors = {row["rule"] for row in rows["violations"] if row["severity"] == "error"}
    assert errors <= {row["rule"] for row in whole["violations"] if row["severity"] == "error"}


def identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["connection_id"], row["api_key"], row["api_version"], row["correlation_id"], row["client_id"]


def stripped(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr({name: value for name, value in row.items() if name not in ("capture", "packet_number")}) for row in rows)


def test_no_secret_is_in_any_row(whole: Rows) -> None:
    shown = repr(whole)
    for line in (DATA / "tls-keys.log").read_text().splitlines():
        if not line.startswith("#"):
            assert line.split()[2].lower() not in shown
