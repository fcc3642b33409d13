"""Clients whose login decides the verdict, in captures made by hand."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import pytest

from kwire import analysis
from kwire.analysis import Options

DATA = Path(__file__).parent / "data"
TARGETS = Options(target_releases=["3.9.2", "4.0.0", "4.4.0"])


def judged(path: Path) -> dict[str, dict[str, Any]]:
    rows = analysis.run([str(path)], (), TARGETS)["upgrade_impact"].to_pylist()
    return {row["target_release"]: row for row in rows if row["api_name"] in ("Metadata", "SaslAuthenticate")}


def cut(data: bytes, snaplen: int) -> bytes:
    out, at = data[:24], 24
    while at < len(data):
        seconds, micros, captured, original = struct.unpack_from("<IIII", data, at)
        kept = min(captured, snaplen)
        out += struct.pack("<IIII", seconds, micros, kept, original) + data[at + 16 : at + 16 + kept]
        at += 16 + captured
    return out


@pytest.mark.parametrize("snaplen", [1 << 16, 96])
def test_gssapi_tokens_without_a_handshake_break_from_4_0_on(tmp_path: Path, snaplen: int) -> None:
    path = tmp_path / "gssapi.pcap"
    path.write_bytes(cut(gzip.decompress((DATA / "gssapi-without-handshake.pcap.gz").read_bytes()), snaplen))
    found = judged(path)
    assert {release: row["verdict"] for release, row in found.items()} == {"3.9.2": "compatible", "4.0.0": "breaks", "4.4.0": "breaks"}
    assert found["4.4.0"]["verdict_basis"] == "removed_feature"
    assert "SaslHandshake" in found["4.4.0"]["reason"]
    assert "SaslHandshake" in found["4.4.0"]["remedy"]


@pytest.mark.parametrize("lost", [range(3, 4), range(4)])
def test_a_handshake_may_be_in_what_was_lost(tmp_path: Path, lost: range) -> None:
    """Without the first token, or with the beginning missing, the tokens behind it prove nothing."""
    data, packets = gzip.decompress((DATA / "gssapi-without-handshake.pcap.gz").read_bytes()), []
    at = 24
    while at < len(data):
        size = 16 + struct.unpack_from("<IIII", data, at)[2]
        packets.append(data[at : at + size])
        at += size
    path = tmp_path / "lost.pcap"
    path.write_bytes(data[:24] + b"".join(packet for number, packet in enumerate(packets) if number not in lost))
    assert {row["verdict"] for row in judged(path).values()} == {"compatible"}


def test_a_client_whose_login_was_refused_is_unknown() -> None:
    found = judged(DATA / "login-refused.pcap.gz")
    assert {row["verdict"] for row in found.values()} == {"unknown"}
    assert all(row["reason"].endswith("but a broker refused this client's login, and none served it.") for row in found.values())
