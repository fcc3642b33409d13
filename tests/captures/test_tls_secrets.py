"""No secret of a key log, and no password inside an encrypted connection, is in anything that is written or shown."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.cli.entry import commands
from kwire.tables.carry_state import pack_carry
from kwire.tables.series import begin_series, read_piece
from tls_capture import PACKET, blocks, with_keys

DATA = Path(__file__).parent / "data"


def secrets() -> list[bytes]:
    lines = (DATA / "tls-keys.log").read_text().splitlines()
    return [bytes.fromhex(line.split()[2]) for line in lines if line and not line.startswith("#")]


def holds_secret(data: bytes) -> bool:
    """Whether data, or what is compressed in it, has a secret as bytes or as hex."""
    text = data.lower()
    return any(secret in data or secret.hex().encode() in text for secret in secrets())


def kwire(*arguments: str) -> tuple[int, bytes]:
    done = CliRunner().invoke(commands, list(arguments))
    return done.exit_code, done.output_bytes + repr(done.exception).encode()


def test_the_search_finds_a_secret() -> None:
    assert holds_secret(b"x" + secrets()[0])
    assert holds_secret(b"x" + secrets()[-1].hex().upper().encode())


@pytest.mark.parametrize("inside", [False, True])
def test_a_carry_holds_no_secret_wherever_the_capture_is_cut(inside: bool, tmp_path: Path) -> None:
    found = blocks()
    packets = [block for block in found if block[:4] == PACKET]
    options = TlsOptions() if inside else TlsOptions((str(DATA / "tls-keys.log"),))
    for share in range(1, 10):
        kept = {id(block) for block in packets[: len(packets) * share // 10]}
        piece = [block for block in found if block[:4] != PACKET or id(block) in kept]
        path = tmp_path / f"{share}.pcapng"
        path.write_bytes(with_keys(piece) if inside else b"".join(piece))
        with tls_options(options):
            carry = begin_series("s")
            for _ in read_piece(path, carry).values():
                pass
            assert not holds_secret(b"".join(pack_carry(carry)))


def test_an_analysis_holds_no_secret_and_its_state_is_the_owners(tmp_path: Path) -> None:
    """Every byte of the output, Parquet and pages among them, of a first run and of one that is appended."""
    found = blocks()
    packets = [block for block in found if block[:4] == PACKET]
    half = {id(block) for block in packets[: len(packets) // 2]}
    folder, out = tmp_path / "captures", tmp_path / "out"
    folder.mkdir()
    heads = [block for block in found if block[:4] != PACKET]
    (folder / "c_00001.pcapng").write_bytes(with_keys([block for block in found if block[:4] != PACKET or id(block) in half]))
    before = os.umask(0o022)
    try:
        status, first = kwire("analyze", str(folder), "--out", str(out), "--engine", "local")
        assert status in (0, 4), first
        (folder / "c_00002.pcapng").write_bytes(b"".join(heads + [block for block in packets if id(block) not in half]))
        keys = ["--tls-keys", str(DATA / "tls-keys.log")]
        status, again = kwire("analyze", str(folder), "--out", str(out), "--engine", "local", "--append", *keys)
        assert status in (0, 4), again
    finally:
        os.umask(before)
    assert not holds_secret(first + again)
    states = []
    for path in out.rglob("*"):
        if path.is_file():
            shown = pq.read_table(path).to_pylist() if path.suffix == ".parquet" else ""
            assert not holds_secret(path.read_bytes() + repr(shown).encode()), path
        if "_state" in path.parts:
            states.append(path)
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert len(states) > 1


def test_rows_and_errors_show_no_secret(tmp_path: Path) -> None:
    log = tmp_path / "keys.log"
    log.write_bytes((DATA / "tls-keys.log").read_bytes().replace(b"CLIENT_RANDOM", b"CLIENT RANDOM"))  # broken lines
    for table in ("connections", "requests", "violations"):
        for keys in (DATA / "tls-keys.log", log):
            _, shown = kwire("inspect", str(DATA / "tls.pcapng.gz"), "--tls-keys", str(keys), "--table", table, "--json")
            assert not holds_secret(shown)
