"""Key logs: which lines count, how they are found, and that nothing of them shows."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kwire.capture.secrets_blocks import SecretsBlock
from kwire.capture.tls.key_lines import parse_line
from kwire.capture.tls.key_log import KeyLog, KeyText
from kwire.capture.tls.session_keys import SeriesKeys, Session, TlsOptions, expand_key_logs
from kwire.errors import InputError
from tls_wire import block_of

RANDOM = bytes(range(32))
SECRET = bytes(range(100, 148))
LINE = f"CLIENT_RANDOM {RANDOM.hex()} {SECRET.hex()}\n"


@pytest.mark.parametrize(
    ("line", "label"),
    [
        (LINE, "CLIENT_RANDOM"),
        (LINE.replace("\n", "\r\n"), "CLIENT_RANDOM"),
        (LINE.upper(), "CLIENT_RANDOM"),
        (f"client_traffic_secret_0  {RANDOM.hex()}\t{SECRET.hex()}  ", "CLIENT_TRAFFIC_SECRET_0"),
        (f"EXPORTER_SECRET {RANDOM.hex()} {SECRET.hex()}", "EXPORTER_SECRET"),
    ],
)
def test_a_line_is_read_however_it_is_written(line: str, label: str) -> None:
    assert parse_line(line.encode()) == (label, RANDOM, SECRET)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# CLIENT_RANDOM",
        "CLIENT_RANDOM",
        f"CLIENT_RANDOM {RANDOM.hex()} xyz",
        f"# {LINE}",
        LINE[:-2] + "g",
        LINE[:-2],
        " " * 400 + LINE,
    ],
)
def test_comments_and_broken_lines_are_no_lines(line: str) -> None:
    assert parse_line(line.encode()) is None


def test_lines_of_rsa_name_an_encrypted_premaster_or_a_session() -> None:
    assert parse_line(b"RSA 0011223344556677 " + SECRET.hex().encode()) == ("RSA", bytes.fromhex("0011223344556677"), SECRET)
    line = f"RSA Session-ID:{RANDOM.hex()} Master-Key:{SECRET.hex()}".encode()
    assert parse_line(line) == ("SESSION_ID", RANDOM, SECRET)


def test_a_log_is_searched_by_client_random(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    other = bytes(reversed(RANDOM))
    path.write_text(
        f"# SSL/TLS secrets\n\n{LINE}{LINE}SERVER_TRAFFIC_SECRET_0 {RANDOM.hex()} {'ab' * 32}\r\nCLIENT_RANDOM {other.hex()} {'cd' * 48}\n"
    )
    log = KeyLog(str(path))
    assert {label for label, _, _ in log.find(RANDOM)} == {"CLIENT_RANDOM", "SERVER_TRAFFIC_SECRET_0"}
    assert log.find(other) == [("CLIENT_RANDOM", other, b"\xcd" * 48)]
    assert log.find(b"\1" * 32) == []
    # the first 8 bytes are the same, the rest is not
    assert log.find(RANDOM[:8] + b"\1" * 24) == []


def test_a_log_may_grow_and_end_inside_a_line(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    path.write_text(LINE[:50])
    log = KeyLog(str(path))
    assert log.find(RANDOM) == []
    with path.open("a") as file:
        file.write(LINE[50:-1])  # whole but for its end
    assert log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]
    later = b"\7" * 32
    with path.open("a") as file:
        file.write(f"\nCLIENT_RANDOM {later.hex()} {SECRET.hex()}\n")
    assert log.find(later) == [("CLIENT_RANDOM", later, SECRET)]
    assert log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]


def test_a_last_line_that_was_valid_and_grows_broken_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    path.write_text(LINE[:-1])
    log = KeyLog(str(path))
    assert log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]
    with path.open("a") as file:
        file.write("f\n")
    assert log.find(RANDOM) == []


def test_a_log_that_was_begun_again_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    path.write_text(LINE * 3)
    log = KeyLog(str(path))
    log.find(RANDOM)
    later = b"\7" * 32
    path.write_text(f"CLIENT_RANDOM {later.hex()} {SECRET.hex()}\n")
    assert log.find(later) == [("CLIENT_RANDOM", later, SECRET)]


def test_a_log_that_is_written_over_with_as_many_bytes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    path.write_text(LINE)
    log = KeyLog(str(path))
    log.find(RANDOM)
    later = b"\7" * 32
    path.write_text(f"CLIENT_RANDOM {later.hex()} {SECRET.hex()}\n")
    os.utime(path, ns=(0, 1))
    assert log.find(later) == [("CLIENT_RANDOM", later, SECRET)]
    assert log.find(RANDOM) == []


def test_several_sources_of_secrets_are_all_asked(tmp_path: Path) -> None:
    """A client random that one log has all of may have more lines in another log, or in a block."""
    early = f"CLIENT_EARLY_TRAFFIC_SECRET {RANDOM.hex()} {SECRET.hex()}\n"
    (tmp_path / "a.log").write_text(LINE)
    (tmp_path / "b.log").write_text(early)
    both = {"CLIENT_RANDOM": SECRET, "CLIENT_EARLY_TRAFFIC_SECRET": SECRET}
    keys = SeriesKeys(TlsOptions((str(tmp_path / "a.log"), str(tmp_path / "b.log"))))
    assert keys.find(RANDOM) == keys.find(RANDOM) == both
    keys = SeriesKeys(TlsOptions((str(tmp_path / "a.log"),)))
    assert keys.find(RANDOM) == keys.find(RANDOM) == {"CLIENT_RANDOM": SECRET}
    keys.take_block(block_of(early.encode()))
    assert keys.find(RANDOM) == both


def test_a_log_that_is_gone_still_gives_what_it_had(tmp_path: Path) -> None:
    """An operator deletes the keys while connections go on: their secrets are complete, so nothing else is looked for."""
    path = tmp_path / "keys.log"
    path.write_text(LINE)
    log = KeyLog(str(path))
    assert log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]
    path.unlink()
    assert log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]
    with pytest.raises(InputError, match="cannot be read"):
        log.find(b"\1" * 32)


@pytest.mark.parametrize("others", [0, 20_000])
def test_a_log_behind_a_uri_is_read_on(others: int, tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    more = "".join(f"CLIENT_RANDOM {number:064x} {SECRET.hex()}\n" for number in range(1, others + 1))
    path.write_text(more + LINE)
    log, later = KeyLog(path.as_uri()), b"\7" * 32
    assert log.find(RANDOM) == log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]
    with path.open("a") as file:
        file.write(f"CLIENT_RANDOM {later.hex()} {SECRET.hex()}\n")
    assert log.find(later) == [("CLIENT_RANDOM", later, SECRET)]
    assert log.find(RANDOM) == [("CLIENT_RANDOM", RANDOM, SECRET)]


def test_a_large_log_takes_few_bytes_a_line(tmp_path: Path) -> None:
    """Ten million lines have to fit into 1 GB: so 100,000 into 10 MB, beside what is read at once."""
    path = tmp_path / "keys.log"
    with path.open("w") as file:
        for number in range(100_000):
            file.write(f"CLIENT_TRAFFIC_SECRET_0 {number:016x}{'0' * 48} {number:096x}\n")
    log = KeyLog(str(path))
    wanted = (77_777).to_bytes(8, "big") + bytes(24)
    log.find(wanted)  # imports numpy
    log = KeyLog(str(path))
    tracemalloc.start()
    try:
        found = log.find(wanted)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == [("CLIENT_TRAFFIC_SECRET_0", wanted, (77_777).to_bytes(48, "big"))]
    # 10 million lines have to stay below 1 GB: 100 bytes a line, what is read at once (some times 4 MiB) aside
    assert held < 40 * 100_000
    assert peak < 100 * 100_000 + (20 << 20)


def test_lines_far_into_a_log_are_found(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    randoms = [number.to_bytes(4, "big") * 8 for number in range(60_000)]
    path.write_text("".join(f"CLIENT_RANDOM {random.hex()} {random.hex()}\n" for random in randoms))
    log = KeyLog(str(path))
    for number in (0, 31_234, 59_999):
        assert log.find(randoms[number]) == [("CLIENT_RANDOM", randoms[number], randoms[number])]


def test_several_logs_and_globs(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(LINE)
    found = expand_key_logs([str(tmp_path / "*.log"), str(tmp_path / "a.log")])
    assert [Path(each).name for each in found] == ["a.log", "b.log"]
    assert SeriesKeys(TlsOptions(found)).find(RANDOM) == {"CLIENT_RANDOM": SECRET}
    with pytest.raises(InputError, match="there is no key log"):
        expand_key_logs([str(tmp_path / "none-*.log")])


def test_without_cryptography_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LINE)
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(InputError, match=r"pip install 'kwire\[tls\]'"):
        expand_key_logs([str(tmp_path / "a.log")])
    keys = SeriesKeys(TlsOptions())
    with pytest.warns(UserWarning, match=r"pip install 'kwire\[tls\]'"):
        keys.take_block(block_of(LINE.encode()))
    assert keys.find(RANDOM) == {}  # what the capture brings is left, and the rest works as before


def test_blocks_are_bounded() -> None:
    text = KeyText(most_bytes=len(LINE))
    text.add((LINE + LINE + LINE.replace("CLIENT_RANDOM", "EXPORTER_SECRET")).encode())
    assert (len(text.find(RANDOM)), text.left_out) == (1, 1)


def test_blocks_are_read_again_from_their_file(tmp_path: Path) -> None:
    """A pickle has the place of a block, never its text."""
    path = tmp_path / "capture.pcapng"
    path.write_bytes(b"0123456789" + LINE.encode() + b"0123")
    keys = SeriesKeys(TlsOptions())
    keys.take_block(SecretsBlock(str(path), 10, len(LINE), LINE.encode()))
    keys.remember(b"ticket", Session("CLIENT_RANDOM", RANDOM, subject="CN=a"))
    packed = pickle.dumps(keys)
    assert SECRET not in packed
    assert SECRET.hex().encode() not in packed
    again = pickle.loads(packed)
    assert again.find(RANDOM) == {"CLIENT_RANDOM": SECRET}
    session = again.recall(b"ticket")
    assert session is not None
    assert (again.master_of(session), session.subject) == (SECRET, "CN=a")
    path.unlink()
    with pytest.warns(UserWarning, match="capture.pcapng"):
        assert pickle.loads(packed).find(RANDOM) == {}


def test_blocks_may_be_declined() -> None:
    left = SeriesKeys(TlsOptions(capture_keys=False))
    left.take_block(block_of(LINE.encode()))
    assert left.find(RANDOM) == {}


def test_nothing_that_is_shown_holds_a_secret(tmp_path: Path) -> None:
    path = tmp_path / "keys.log"
    path.write_text(LINE)
    keys = SeriesKeys(TlsOptions((str(path),)))
    keys.take_block(block_of(LINE.encode()))
    for shown in (repr(keys), repr(keys.__dict__), repr(KeyLog(str(path))), repr(Session(derived=SECRET)), repr(keys.options)):
        assert SECRET.hex() not in shown
        assert repr(SECRET)[2:20] not in shown


NAMES = [RANDOM, RANDOM[:8] + bytes(24), bytes(32)]  # two of them begin alike: an index knows 8 bytes
LINES = st.one_of(
    st.builds(
        lambda label, name, secret, gap, end: label + gap + name.hex().encode() + gap + secret.hex().encode() + end,
        st.sampled_from([b"CLIENT_RANDOM", b"client_random", b"SERVER_TRAFFIC_SECRET_0", b"RSA", b"X" * 50, b"# CLIENT_RANDOM"]),
        st.sampled_from(NAMES), st.sampled_from([SECRET, SECRET[:32], b"s" * 48, b"short"]), st.sampled_from([b" ", b"\t ", b""]),
        st.sampled_from([b"\n", b"\r\n", b" \n", b"f\n", b"\n\n"]),
    ),
    st.binary(max_size=60).map(lambda noise: noise.replace(b"\r", b"") + b"\n"),
    st.just(b"a" * 3000 + b"\n"),
)  # fmt: skip


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.lists(LINES, max_size=12), min_size=1, max_size=3), cut=st.integers(0, 90))
def test_any_log_is_read_as_its_lines_are_by_themselves(parts: list[list[bytes]], cut: int, tmp_path: Path) -> None:
    """A log that grows, ends inside a line, and holds noise: what is found are its lines, each read by itself, as in a block in memory."""
    path = tmp_path / "keys.log"
    path.write_bytes(b"")
    log, text = KeyLog(str(path)), b""
    for number, part in enumerate(parts):
        text += b"".join(part)
        shown = text[: max(len(text) - cut, 0)] if number == 0 else text
        with path.open("r+b") as file:
            file.seek(file.seek(0, 2))
            file.write(shown[file.tell() :])
        in_memory = KeyText()
        in_memory.add(shown)
        for name in NAMES:
            lines = [parse_line(line) for line in shown.split(b"\n") if len(line) < 512]
            expected = {line for line in lines if line is not None and line[1] == name}
            assert set(log.find(name)) == expected
            assert set(in_memory.find(name)) == expected
