"""Trimmed captures: the same tables, and none of the secrets that the original holds."""

from __future__ import annotations

import base64
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP, TCP
from scapy.utils import wrpcap

from counted_rows import counted
from kwire.analysis import run
from kwire.capture.trimming.trim import trim
from kwire.cli.entry import commands
from kwire.cli.exit_status import INCOMPLETE_INPUT
from kwire.errors import InputError
from kwire.tables import from_capture
from pcap_files import pieces_of, starts_of

DATA = Path(__file__).parent / "data"
EXAMPLE = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
CAPTURES = sorted([*DATA.glob("*.pcap*.gz"), EXAMPLE], key=lambda path: path.name)
PROVENANCE = {"capture", "sha256", "series"}

# What the users of the capture `sasl` had typed, as PLAIN sends it.
PASSWORDS = (b"pay-secret", b"etl-secret", b"desk-secret", b"oops")
# SCRAM of the users `reporting` and `warehouse` (passwords rep-secret, wh-secret): salts, and PBKDF2 of password and salt.
SALTS = (b"fidvfrmq4fn1dq7ex2nnoewfo", b"174i2fi67dc4bg1mn16toipj11")
SALTED = tuple(map(base64.b64decode, ("g0ahk9ot6Mz2vlgNZOCaxKgKKU2+FLC9bIkcWtI3GSc=", "B1Gzd3QVmFBSQ2ukYNs2dNgXQyQ7fb+Jbtdz1TeUm60=")))
PROOFS = (
    b"3eMFN3qUEOG/NoIAxljJKMkkoBUq6iLWT3VPvZ/qNPE=", b"KBwzKrOs70ZauklqR6d0Nrl6JgbP2QQQjK7HHbP4T/I=",
    b"tSp2Ntu6lu7MMIV4MGKT2g16U0GRIc3GTUKYKvdCvZU=", b"eAI3KmZgHq4MUjybJXas4L7RIvGe547mNitF8PFPtBM=",
    b"3gg7SHULLyaYxktxPcfkoULbVcWEOQS0Bjc+eFpnWME=", b"hvRe04ypbzCHAU3hbsY0KghiJ5H6IrcYGmW7DM2GImY=",
)  # fmt: skip
NONCES = (b"df0p67t6a9v1qc429xoqa4skb", b"zlylh0i4il3y09hacexnm7e3o", b"Yo>kX1~K_4lRFyubfJlOAPdufMz1qlqn")


def spellings(secret: bytes) -> set[bytes]:
    """A secret as it may stand in bytes, in JSON and in a page; base64 of it inside other bytes begins at any of three places."""
    inner = {base64.b64encode(b"\0" * lead + secret + b"\0" * tail)[4 if lead else 0 : -4] for lead in range(3) for tail in range(3)}
    return {secret, secret.hex().encode(), secret.hex().upper().encode(), *(part for part in inner if len(part) > 6)}


def found_in(data: bytes, secrets: tuple[bytes, ...]) -> list[bytes]:
    return [spelling for secret in secrets for spelling in sorted(spellings(secret)) if spelling in data]


def assert_same_tables(source: Path, target: Path) -> None:
    before, after = run([str(source)]), run([str(target)])
    for name in before:
        assert counted(before[name], PROVENANCE) == counted(after[name], PROVENANCE), name


def trimmed_to(folder: Path, *sources: Path, ports: tuple[int, ...] = ()) -> list[Path]:
    folder.mkdir(exist_ok=True)
    targets = [folder / source.name for source in sources]
    trim([(str(source), str(target)) for source, target in zip(sources, targets, strict=True)], ports)
    return targets


@pytest.mark.parametrize("source", CAPTURES, ids=lambda path: path.name)
def test_a_trimmed_capture_gives_the_same_tables(source: Path, tmp_path: Path) -> None:
    (target,) = trimmed_to(tmp_path, source)
    assert_same_tables(source, target)
    original, trimmed = gzip.decompress(source.read_bytes()), gzip.decompress(target.read_bytes())
    assert len(trimmed) == len(original)
    assert trimmed != original


def test_no_secret_of_a_capture_with_passwords_is_in_the_trimmed_one(tmp_path: Path) -> None:
    source = DATA / "sasl.pcap.gz"
    everything = (*PASSWORDS, *SALTS, *SALTED, *PROOFS, *NONCES)
    assert {secret for secret in everything if secret in gzip.decompress(source.read_bytes())} >= {*PASSWORDS, *SALTED, *PROOFS, *NONCES}
    (target,) = trimmed_to(tmp_path, source)
    trimmed = gzip.decompress(target.read_bytes())
    assert found_in(trimmed, everything) == []
    # names stay: they are what the tables are about
    assert b"\0payments\0xxxxxxxxxx" in trimmed
    assert b"n,,n=reporting,r=xxxx" in trimmed


def test_no_password_is_in_what_other_commands_print(tmp_path: Path) -> None:
    source = str(DATA / "sasl.pcap.gz")
    printed = [CliRunner().invoke(commands, ["decode", source])]
    printed += [
        CliRunner().invoke(commands, ["inspect", source, "--json", "--table", each]) for each in ("requests", "connections", "violations")
    ]
    for result in printed:
        assert result.exit_code == 0
        assert len(result.stdout) > 500
        assert found_in(result.stdout.encode(), (*PASSWORDS, *SALTS, *SALTED, *PROOFS, *NONCES)) == []
    tables = json.dumps({name: table.to_pylist() for name, table in run([source]).items()}, default=str).encode()
    assert found_in(tables, (*PASSWORDS, *SALTS, *SALTED, *PROOFS, *NONCES)) == []


def test_the_records_of_a_capture_are_not_in_the_trimmed_one(tmp_path: Path) -> None:
    original = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    (target,) = trimmed_to(tmp_path, DATA / "seed.pcap.gz")
    trimmed = gzip.decompress(target.read_bytes())
    words = {original[at : at + 16] for at in range(24, len(original) - 16, 7) if original[at : at + 16].isascii()}
    values = {word for word in words if word.decode().isprintable()}
    gone = [value for value in values if value not in trimmed]
    assert gone, "something was written in clear"


@pytest.mark.parametrize("seed", range(12))
def test_damaged_bytes_change_no_table_either(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    name = ("seed", "sasl", "hostile-requests", "late-join", "foreign", "tcp-tricks")[seed % 6]
    data = bytearray(gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes()))
    for _ in range(chance.randrange(1, 60)):
        at = chance.randrange(94, len(data))  # behind the headers of the file and of the first packet
        data[at] = chance.choice([0, 0x7F, 0x80, 0xFF, chance.randrange(256), data[at] ^ 1 << chance.randrange(8)])
    (tmp_path / "in.pcap").write_bytes(data)
    trim([(str(tmp_path / "in.pcap"), str(tmp_path / "out.pcap"))])
    for table in ("captures", "connections", "requests", "violations"):
        before, after = (from_capture(str(tmp_path / f"{each}.pcap"), table) for each in ("in", "out"))
        assert counted(before, PROVENANCE) == counted(after, PROVENANCE), table


@pytest.mark.parametrize(
    "source",
    [pytest.param(each, marks=[pytest.mark.whole] if n % 3 else []) for n, each in enumerate(CAPTURES) if ".pcap." in each.name],
    ids=lambda path: path.name,
)
def test_connections_that_are_joined_late_give_the_same_tables(source: Path, tmp_path: Path) -> None:
    """The first third of the packets is missing; the verdicts are among the tables."""
    data = gzip.decompress(source.read_bytes())
    starts = starts_of(data)
    (tmp_path / "late.pcap").write_bytes(data[:24] + data[starts[len(starts) // 3] :])
    (target,) = trimmed_to(tmp_path / "trimmed", tmp_path / "late.pcap")
    assert_same_tables(tmp_path / "late.pcap", target)


# A connection that was joined late: librdkafka 0.11 asks ApiVersions v0 with four zeros behind its client id; Metadata v2.
LIBRDKAFKA = (
    (1, "000000150012000000000001000772646b61666b6100000000"),
    (0, "000000220000000100000000000400000000000b00010000001100030000000d001200000004"),
    (1, "000000150003000200000002000772646b61666b6100000000"),
    (0, "000000120000000200000000ffffffffffff00000000"),
)


def test_zeros_behind_a_request_stay(tmp_path: Path) -> None:
    numbers, packets = [5000, 1000], []
    for side, payload in LIBRDKAFKA:
        data = bytes.fromhex(payload)
        ends = [("10.0.0.1", 9092), ("10.0.0.9", 40000)]
        (source, sport), (target, dport) = ends[side], ends[1 - side]
        packets.append(
            IP(src=source, dst=target) / TCP(sport=sport, dport=dport, seq=numbers[side], ack=numbers[1 - side], flags="A") / data
        )
        numbers[side] += len(data)
    wrpcap(str(tmp_path / "late.pcap"), packets, linktype=101)
    (target,) = trimmed_to(tmp_path / "trimmed", tmp_path / "late.pcap")
    before = run([str(tmp_path / "late.pcap")])
    assert [(row["api_key"], row["api_version"], row["client_id"]) for row in before["requests"].to_pylist()] == [
        (18, 0, "rdkafka"),
        (3, 2, "rdkafka"),
    ]
    assert_same_tables(tmp_path / "late.pcap", target)


def test_copies_and_overlaps_are_cleaned_too(tmp_path: Path) -> None:
    plain = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    (clean,) = trimmed_to(tmp_path, DATA / "seed.pcap.gz")
    allowed = gzip.decompress(clean.read_bytes())
    texts = [part for at in range(24, len(plain) - 24, 5) if (part := plain[at : at + 24]).isascii() and part.decode().isprintable()]
    gone = [part for part in texts if part not in allowed]
    assert gone, "something was written in clear"
    for name in ("overlapping-segments.pcap.gz", "reordered-duplicated.pcap.gz"):
        (target,) = trimmed_to(tmp_path, DATA / name)
        trimmed = gzip.decompress(target.read_bytes())
        assert not [part for part in gone if part in trimmed], name


def test_a_frame_over_two_files_is_understood_when_both_are_trimmed_together(tmp_path: Path) -> None:
    data = gzip.decompress((DATA / "dribble.pcap.gz").read_bytes())
    starts = starts_of(data)
    middle = starts[len(starts) // 2 + 1]
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    pieces = [tmp_path / "in" / f"trace_{number}.pcap" for number in (1, 2)]
    pieces[0].write_bytes(data[:middle])
    pieces[1].write_bytes(data[:24] + data[middle:])
    targets = trimmed_to(tmp_path / "out", *pieces)
    (whole,) = trimmed_to(tmp_path, DATA / "dribble.pcap.gz")
    assert targets[0].read_bytes() + targets[1].read_bytes()[24:] == gzip.decompress(whole.read_bytes())


def test_checksums_that_were_right_are_right(tmp_path: Path) -> None:
    from scapy.layers.inet import IP, TCP
    from scapy.utils import PcapReader

    def wrong(path: Path) -> int:
        count = 0
        with PcapReader(str(path)) as packets:
            for packet in packets:
                if TCP in packet:
                    was = packet[TCP].chksum
                    del packet[TCP].chksum
                    count += packet[IP].__class__(bytes(packet[IP]))[TCP].chksum != was
        return count

    (target,) = trimmed_to(tmp_path, DATA / "raw-ip.pcap.gz")
    for name, data in (("before", DATA / "raw-ip.pcap.gz"), ("after", target)):
        (tmp_path / name).write_bytes(gzip.decompress(data.read_bytes()))
    assert wrong(tmp_path / "after") == wrong(tmp_path / "before")


def test_nothing_is_left_where_trimming_fails(tmp_path: Path) -> None:
    (tmp_path / "text.pcap").write_bytes(b"this is a text of more than 24 bytes")
    with pytest.raises(InputError, match="not a capture"):
        trim([(str(DATA / "seed.pcap.gz"), str(tmp_path / "out.pcap.gz")), (str(tmp_path / "text.pcap"), str(tmp_path / "out2.pcap"))])
    assert [path.name for path in tmp_path.iterdir()] == ["text.pcap"]


def test_an_output_is_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "out.pcap.gz").write_text("mine")
    pair = (str(DATA / "seed.pcap.gz"), str(tmp_path / "out.pcap.gz"))
    with pytest.raises(InputError, match="exists already"):
        trim([pair])
    assert (tmp_path / "out.pcap.gz").read_text() == "mine"
    assert trim([pair], overwrite=True)[0].packets == 433
    with pytest.raises(InputError, match="is a folder"):
        trim([(pair[0], str(tmp_path))])


def test_a_folder_with_files_that_are_no_captures(tmp_path: Path) -> None:
    """They are left out, as an analysis leaves them out; the others of the series are trimmed."""
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    (tmp_path / "in").mkdir()
    first, last = pieces_of(data, 2)
    for name, content in (("x_1.pcap", first), ("x_2.pcap", b"this is a text of more than 24 bytes"), ("x_3.pcap", last), ("y.pcap", b"")):
        (tmp_path / "in" / name).write_bytes(content)
    result = CliRunner().invoke(commands, ["trim", f"{tmp_path}/in", f"{tmp_path}/out/"])
    assert result.exit_code == INCOMPLETE_INPUT
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x_1.pcap", "x_3.pcap"]
    assert "x_2.pcap is not a capture file" in result.stderr
    assert "y.pcap is empty" in result.stderr
    alone = CliRunner().invoke(commands, ["trim", f"{tmp_path}/in/x_2.pcap", f"{tmp_path}/alone.pcap"])
    assert (alone.exit_code, (tmp_path / "alone.pcap").exists()) == (1, False)


def test_the_command_says_what_it_took(tmp_path: Path) -> None:
    source = str(DATA / "seed.pcap.gz")
    result = CliRunner().invoke(commands, ["trim", source, f"{tmp_path}/", "--json"])
    assert result.exit_code == 0
    said: dict[str, Any] = json.loads(result.stdout)
    assert said["packets"] == 433
    assert 0 < said["kept_bytes"] < said["payload_bytes"]
    assert Path(said["target"]) == tmp_path / "seed.pcap.gz"
    again = CliRunner().invoke(commands, ["trim", source, f"{tmp_path}/"])
    assert again.exit_code == 1
    assert "exists already" in again.stderr
    over = CliRunner().invoke(commands, ["trim", said["target"], said["target"], "--overwrite"])
    assert over.exit_code == 1
    assert "over itself" in over.stderr
