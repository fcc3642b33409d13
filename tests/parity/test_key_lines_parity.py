"""Lines of key logs: the twins find the same ones, in any text."""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kwire.capture.tls import key_lines as pure
from kwire.codec.impl import load_twin

NAME, SECRET = bytes(range(32)), bytes(range(100, 148))
# What a line consists of, right and nearly right.
PARTS = st.one_of(
    st.sampled_from([b"CLIENT_RANDOM", b"client_random", b"Rsa", b"RSA", b"SERVER_TRAFFIC_SECRET_0", b"X" * 40, b"X" * 41, b"AB", b"#"]),
    st.sampled_from([b" ", b"\t", b" \t ", b"", b" " * 300]),
    st.sampled_from([b"Session-ID:", b"session-id:", b"Session-iD:", b"SESSION-ID:", b"Master-Key:", b"master-Key:", b"master-key"]),
    st.sampled_from([NAME.hex().encode(), NAME.hex().upper().encode(), NAME.hex().encode()[:-1], NAME[:8].hex().encode(), b"0" * 130]),
    st.sampled_from([SECRET.hex().encode(), SECRET.hex().encode()[:-1], b"f" * 32, b"f" * 30, b"f" * 256, b"f" * 258, b"g" * 64]),
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\0", b"\xff"]),
)
REGULAR = st.builds(
    lambda label, begin, name, middle, secret, end: label + b" " + begin + name + b" " + middle + secret + end,
    st.sampled_from([b"CLIENT_RANDOM", b"RSA", b"  exporter_secret"]), st.sampled_from([b"", b"", b"Session-ID:"]),
    st.sampled_from([NAME.hex().encode(), NAME.hex().upper().encode(), NAME[:8].hex().encode()]),
    st.sampled_from([b"", b"", b"Master-Key:"]),
    st.sampled_from([SECRET.hex().encode(), b"0" * 64]), st.sampled_from([b"\n", b"\r\n", b" \t\r\n", b""]),
)  # fmt: skip


def found(room: Any, text: bytes, size: int) -> Any:
    names, places = array("Q"), array("Q")
    room.index_lines(text, size, 1000, names, places)
    begins = [begin for begin in range(len(text)) if not begin or text[begin - 1 : begin] == b"\n"]
    by_name = [room.lines_of(text[begins[0] :] if begins else text, name, begins) for name in (NAME, NAME[:8], b"")]
    return names, places, by_name, [room.parse_line(line) for line in text.split(b"\n")]


@settings(deadline=None, max_examples=400)
@given(parts=st.lists(st.one_of(PARTS, REGULAR), max_size=24), short=st.integers(0, 40))
def test_twins_find_the_same_lines(parts: list[bytes], short: int) -> None:
    text = b"".join(parts)
    native = load_twin("capture", "key_lines", "native")
    assert found(native, text, len(text) - short) == found(pure, text, max(len(text) - short, 0))


@pytest.mark.parametrize("room", [pure, load_twin("capture", "key_lines", "native")])
def test_a_line_of_a_stranger_is_not_that_of_a_name_with_the_same_beginning(room: Any) -> None:
    line = b"CLIENT_RANDOM " + NAME.hex().encode() + b" " + SECRET.hex().encode()
    assert room.lines_of(line, NAME, [7]) == [("CLIENT_RANDOM", NAME, SECRET)]
    assert room.lines_of(line, NAME[:-1] + b"\0", [7]) == []


@pytest.mark.parametrize("room", [pure, load_twin("capture", "key_lines", "native")])
@pytest.mark.parametrize(("blanks", "is_line"), [(511 - 143, True), (512 - 143, False)])
def test_a_line_of_512_bytes_is_passed_over(room: Any, blanks: int, is_line: bool) -> None:
    line = b"CLIENT_RANDOM" + b" " * blanks + b"a" * 32 + b" " + b"b" * 96 + b" "
    assert len(line) == blanks + 143
    assert (room.parse_line(line) is not None) is is_line


OTHER_NAMES = [NAME, NAME[:8] + bytes(24), b"\7" * 32]  # two of them begin alike
OF_13 = [b"CLIENT_HANDSHAKE_TRAFFIC_SECRET", b"SERVER_HANDSHAKE_TRAFFIC_SECRET", b"CLIENT_TRAFFIC_SECRET_0", b"SERVER_TRAFFIC_SECRET_0"]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.tuples(st.sampled_from([*OF_13, b"CLIENT_RANDOM", b"EXPORTER_SECRET"]), st.sampled_from(OTHER_NAMES)), max_size=12),
    is_sorted=st.booleans(), is_changed=st.booleans(),
)  # fmt: skip
def test_twins_know_the_same_of_a_name(lines: list[tuple[bytes, bytes]], is_sorted: bool, is_changed: bool, tmp_path: Path) -> None:
    """Complete with the label of TLS 1.2 or four labels of TLS 1.3, in a file that is as it was when it was read."""
    path = tmp_path / "keys.log"
    text = b"".join(b"%s %s %s\n" % (label, name.hex().encode(), SECRET.hex().encode()) for label, name in lines)
    path.write_bytes(text)
    names, places = array("Q"), array("Q")
    pure.index_lines(text, len(text), 0, names, places)
    recent: dict[int, list[int]] = {}
    sorted_names = sorted_places = None
    if is_sorted:
        order = np.argsort(np.array(names, np.uint64), kind="stable")
        sorted_names, sorted_places = np.array(names, np.uint64)[order], np.array(places, np.uint64)[order]
    else:
        for number, place in zip(names, places, strict=True):
            recent.setdefault(number, []).append(place)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        stamp = pure.stamp_of(os.fstat(descriptor))
        if is_changed:
            stamp = (stamp[0], stamp[1] - 1, stamp[2])
        for name in OTHER_NAMES:
            labels = [label for label, each in lines if each == name]
            expected = [(label.decode(), name, SECRET) for label in labels]
            has_all = b"CLIENT_RANDOM" in labels or set(OF_13) <= set(labels)
            is_all = not is_changed and has_all
            secrets = {label.decode(): SECRET for label in labels}, has_all
            for room in (pure, load_twin("capture", "key_lines", "native")):
                assert room.held_secrets(bytearray(text), name, recent, sorted_names, sorted_places) == secrets
                assert room.known_lines(descriptor, stamp, name, recent, sorted_names, sorted_places) == (expected, is_all)
                assert room.known_lines(-1, None, name, recent, sorted_names, sorted_places) is None
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("room", [pure, load_twin("capture", "key_lines", "native")])
def test_places_that_no_longer_fit_the_text_give_nothing(room: Any) -> None:
    line = b"CLIENT_RANDOM " + NAME.hex().encode() + b" " + SECRET.hex().encode()
    number = int.from_bytes(NAME[:8], "big")
    for text, places in [(line, [1000]), (line[:-1], [0]), (b"", [0]), (b" " * 400 + line, [0]), (line, [170, 200])]:
        assert room.held_secrets(bytearray(text), NAME, {number: places}, None, None) == ({}, False)
    assert room.held_secrets(bytearray(b"\n" + line + b"\n"), NAME, {number: [1000, 1]}, None, None) == ({"CLIENT_RANDOM": SECRET}, True)
    assert room.held_secrets(bytearray(line), NAME[:7], {number: [0]}, None, None) == ({}, False)


@pytest.mark.parametrize("room", [pure, load_twin("capture", "key_lines", "native")])
def test_of_a_label_that_stands_twice_the_last_counts(room: Any) -> None:
    line = b"client_random " + NAME.hex().encode() + b" " + SECRET.hex().encode() + b"\n"
    later = b"CLIENT_RANDOM " + NAME.hex().encode() + b" " + bytes(48).hex().encode() + b"\n"
    places = {int.from_bytes(NAME[:8], "big"): [0, len(line)]}
    assert room.held_secrets(bytearray(line + later), NAME, places, None, None) == ({"CLIENT_RANDOM": bytes(48)}, True)
