"""File names to series and their order, as the rotating tools write them."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from kwire.capture.files.capture_points import points_of
from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.series import Series, first_packet_ns, group_series
from kwire.errors import InputError


def group(*names: str, times: dict[str, int | None] | None = None, rule: str = "name") -> list[Series]:
    """Group names in random order; without times the first packets follow the order of the names given."""
    known: dict[str, int | None] = dict(times) if times else {name: index for index, name in enumerate(names)}
    files = [CaptureFile(name, name.rpartition("/")[0], name.rpartition("/")[2], 1) for name in names]
    random.Random(len(names)).shuffle(files)
    found = group_series(files, rule, first_packet=known.__getitem__)
    return sorted(found, key=lambda series: series.name)


def pieces(series: Series) -> list[str]:
    return [piece.location for piece in series.pieces]


@pytest.mark.parametrize(
    "names",
    [
        ["x.pcap", "x.pcap1", "x.pcap2", "x.pcap10"],  # tcpdump -C
        ["x.pcap00", "x.pcap01", "x.pcap02"],  # tcpdump -C -W
        ["x-20240101235900.pcap", "x-20240102000000.pcap"],  # tcpdump -G with %Y%m%d%H%M%S
        ["x_2024-01-01_23:59:00.pcap", "x_2024-01-02_00:00:00.pcap"],
        ["x-2024-01-01T23.59.pcap", "x-2024-01-02T00.00.pcap"],
        ["x_1700000000.pcap", "x_1700000600.pcap"],  # tcpdump -G with %s
        ["x-20240101.pcap", "x-20240101.pcap1", "x-20240102.pcap"],  # tcpdump -G -C
        ["x_00001_20240101120000.pcapng", "x_00002_20240101120500.pcapng", "x_00010_20240101121000.pcapng"],  # dumpcap -b
        ["trace_00000.pcap", "trace_00001.pcap", "trace_00002.pcap"],  # editcap -c, with other names
        ["x_00000_20240101120000.pcap", "x_00001_20240101110000.pcap"],  # the number counts, not the clock that was set back
        ["x.pcap.10.gz", "x.pcap.2.gz", "x.pcap.1.gz", "x.pcap"],  # logrotate: the higher the older
        ["x.pcap", "x.pcap.1", "x.pcap.2"],  # the same form written upwards
        ["d/x_001.pcap.gz", "d/x_002.pcap"],
    ],
    ids=lambda names: names[-1],
)
def test_one_series_in_order(names: list[str]) -> None:
    (found,) = group(*names)
    assert pieces(found) == names
    assert found.disorder == ""


@pytest.mark.parametrize(
    "names",
    [
        ["broker-1.pcap", "broker-2.pcap"],  # capture points
        ["broker1.pcap", "broker2.pcap"],
        ["a/x.pcap", "b/x.pcap"],
        ["a/x_001.pcap", "b/x_002.pcap"],
        ["x.pcap", "x.pcapng"],
        ["10.0.0.101.pcap", "10.0.0.102.pcap"],
        ["east_001.pcap", "west_002.pcap"],
    ],
    ids=lambda names: names[-1],
)
def test_two_series(names: list[str]) -> None:
    assert [pieces(series) for series in group(*names)] == [[name] for name in sorted(names)]
    assert [series.name for series in group(*names)] == sorted(names)


def test_the_name_of_a_series_shows_what_rotates() -> None:
    assert group("d/x_00001_20240101120000.pcapng", "d/x_00002_20240101120500.pcapng")[0].name == "d/x_*_*.pcapng"
    assert group("x.pcap", "x.pcap1")[0].name == "x.pcap"


def test_a_ring_that_began_again_is_read_by_its_packets_and_reported() -> None:
    (found,) = group(*(f"x.pcap{index}" for index in range(5)), times={f"x.pcap{index}": (index - 3) % 5 for index in range(5)})
    assert pieces(found) == ["x.pcap3", "x.pcap4", "x.pcap0", "x.pcap1", "x.pcap2"]
    assert "ring" in found.disorder


def test_numbers_decide_and_disagreement_is_reported() -> None:
    (found,) = group(
        "x_001.pcap", "x_002.pcap", "x_003.pcap", "x_004.pcap", times={"x_001.pcap": 0, "x_002.pcap": 5, "x_003.pcap": 2, "x_004.pcap": 7}
    )
    assert pieces(found) == ["x_001.pcap", "x_002.pcap", "x_003.pcap", "x_004.pcap"]
    assert found.disorder == "x_003.pcap of x_*.pcap begins before the file that its number follows: they are read by number"


def test_files_without_packets_disagree_with_nothing() -> None:
    (found,) = group("x_001.pcap", "x_002.pcap", "x_003.pcap", times={"x_001.pcap": 4, "x_002.pcap": None, "x_003.pcap": 5})
    assert pieces(found) == ["x_001.pcap", "x_002.pcap", "x_003.pcap"]
    assert found.disorder == ""


def test_rules() -> None:
    names = ["a/x_001.pcap", "a/y.pcap", "b/x_002.pcap"]
    assert [len(series.pieces) for series in group(*names, rule="file")] == [1, 1, 1]
    assert [pieces(series) for series in group(*names, rule="folder")] == [["a/x_001.pcap", "a/y.pcap"], ["b/x_002.pcap"]]
    assert [pieces(series) for series in group(*names, rule="all")] == [names]
    assert [pieces(series) for series in group(*names, rule=r"match:/(.)_")] == [["a/y.pcap"], ["a/x_001.pcap", "b/x_002.pcap"]]
    with pytest.raises(InputError, match="choose name, folder, all, file, overlap, overlap:REGEX or match:REGEX"):
        group(*names, rule="nonsense")
    with pytest.raises(InputError, match="not a regular expression"):
        group(*names, rule="match:(")


def test_points_are_one_series_of_one_piece() -> None:
    names = ["client_001.pcap", "client_002.pcap", "broker_001.pcap", "broker_002.pcap"]
    (found,) = group(*names, rule="overlap")
    (piece,) = found.pieces
    assert sorted(points_of(piece.location)) == [["broker_001.pcap", "broker_002.pcap"], ["client_001.pcap", "client_002.pcap"]]
    assert piece.size == 4
    assert sorted(found.name.split(" + ")) == ["broker_*.pcap", "client_*.pcap"]
    pairs = group("a/x-1.pcap", "a/x-2.pcap", "b/x-1.pcap", "b/x-2.pcap", "c/x-1.pcap", rule="overlap:(.)/x")
    assert [sorted(points_of(series.pieces[0].location)) for series in pairs if len(series.name) > 10] == [
        [["a/x-1.pcap"], ["a/x-2.pcap"]],
        [["b/x-1.pcap"], ["b/x-2.pcap"]],
    ]
    assert [pieces(series) for series in pairs if len(series.name) <= 10] == [["c/x-1.pcap"]]
    with pytest.raises(InputError, match="not a regular expression"):
        group(*names, rule="overlap:(")


def test_the_first_packet_of_a_file(tmp_path: Path) -> None:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 4096, 101)
    (tmp_path / "x.pcap").write_bytes(head + struct.pack("<IIII", 5, 6, 1, 1) + b"x" + struct.pack("<IIII", 7, 0, 1, 1) + b"x")
    (tmp_path / "none.pcap").write_bytes(head)
    (tmp_path / "text.pcap").write_bytes(b"no capture at all, only text")
    assert first_packet_ns(str(tmp_path / "x.pcap")) == 5_000_006_000
    assert first_packet_ns(str(tmp_path / "none.pcap")) is None
    assert first_packet_ns(str(tmp_path / "text.pcap")) is None
    assert first_packet_ns(str(tmp_path / "missing.pcap")) is None
