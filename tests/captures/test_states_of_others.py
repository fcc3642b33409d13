"""A folder that others wrote: its states are data, so nothing in them runs, and invalid ones are refused with one sentence."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.runs.job_request import JobRequest
from kwire.runs.output import MANIFEST
from kwire.runs.parts import STATE
from kwire.runs.series_state import _END, _FORM
from kwire.runs.sums_files import _packed
from kwire.spark.job import run_job
from kwire.spark.source.stream_state import SeriesState, StateFolder
from kwire.tables.carry_state import pack_carry, unpack_carry
from kwire.tables.series import TablesCarry, begin_series, finish_series, iter_piece
from kwire.tables.state_records import BadState, packed, read_rows, reading_state, record_of, records_of
from pcap_files import pieces_of

DATA = Path(__file__).parent / "data"


class Hostile:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def cut(into: Path, name: str = "seed.pcap.gz", pieces: int = 2) -> list[str]:
    paths = [into / f"trace_{number:05d}.pcap" for number in range(pieces)]
    for path, data in zip(paths, pieces_of(gzip.decompress((DATA / name).read_bytes()), pieces), strict=True):
        path.write_bytes(data)
    return list(map(str, paths))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def begun(tmp_path: Path, job_in_process: Callable[..., None]) -> tuple[list[str], Path]:
    pieces = cut(tmp_path)
    run_job(JobRequest(inputs=tuple(pieces[:1]), out=str(tmp_path / "out")))
    return pieces, tmp_path / "out"


def state_of(out: Path) -> Path:
    [path] = (out / STATE).glob("state-*")
    return path


def refused(pieces: list[str], out: Path) -> str:
    before = contents(out)
    with pytest.raises(InputError) as caught:
        run_job(JobRequest(inputs=tuple(pieces), out=str(out), append=True))
    assert contents(out) == before
    return str(caught.value)


def framed(old: bytes, rest: bytes) -> bytes:
    settled, still, _, _ = _END.unpack(old[-_END.size :])
    return old[: settled + still] + rest + _END.pack(settled, still, len(rest), _FORM)


def test_a_pickle_in_a_state_is_never_read(begun: tuple[list[str], Path], tmp_path: Path) -> None:
    pieces, out = begun
    state, marker = state_of(out), tmp_path / "marker"
    old = state.read_bytes()
    settled, still, length, _ = _END.unpack(old[-_END.size :])
    code = pickle.dumps(Hostile(marker))
    forms = [
        code,
        old[: settled + still] + code + struct.pack("<3q", settled, still, len(code)),  # as states were written before
        framed(old, code),
        framed(old, record_of(code)),
        framed(old, record_of(packed(("0.1.0", code, {})))),
        framed(old, record_of(packed(("0.1.0", record_of(code), {"group_steps": code})))),
    ]
    for form in forms:
        state.write_bytes(form)
        assert "is not a valid state" in refused(pieces, out) or "written by kwire" in refused(pieces, out)
        assert not marker.exists()
    assert length


def test_a_damaged_state_is_refused_with_one_sentence(begun: tuple[list[str], Path]) -> None:
    pieces, out = begun
    state = state_of(out)
    whole, chance = state.read_bytes(), random.Random(4)
    damaged = [whole[:size] for size in (0, 1, 20, len(whole) // 2, len(whole) - 1)]
    damaged += [whole + b"more", b"\xff" * len(whole), whole[: -_END.size] + _END.pack(1 << 60, 1, 1, _FORM)]
    settled, still, _, _ = _END.unpack(whole[-_END.size :])
    read = [*range(settled), *range(settled + still, len(whole))]  # sums of open connections are counted again
    for at in chance.sample(read, 40):
        damaged.append(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
    for data in damaged:
        state.write_bytes(data)
        sentence = refused(pieces, out)
        assert sentence.count(". ") == 0
        assert sentence.endswith(".")
    state.write_bytes(whole)
    run_job(JobRequest(inputs=tuple(pieces), out=str(out), append=True))


@pytest.mark.parametrize("name", ["nodes", "captures", "other"])
def test_sums_of_other_columns_are_refused(name: str, begun: tuple[list[str], Path]) -> None:
    pieces, out = begun
    state = state_of(out)
    old = state.read_bytes()
    settled, still, length, _ = _END.unpack(old[-_END.size :])
    whole = _packed({name: pa.table({"node_id": ["one"]})})
    ends = struct.pack("<2q", len(whole), len(whole))
    other = whole + ends + struct.pack("<IQ", zlib.crc32(ends), 2)
    state.write_bytes(other + old[settled : settled + still + length] + _END.pack(len(other), still, length, _FORM))
    assert "cannot be read" in refused(pieces, out)


INVALID = [
    ("captures", None), ("captures", [None]), ("parts", []), ("parts", {"requests": [1]}), ("parts", {"requests": ["../../x"]}),
    ("run", "1"), ("run", -1), ("series", 5), ("series", [5]), ("series", [{"name": "s"}]),
]  # fmt: skip


def test_an_invalid_manifest_is_refused(begun: tuple[list[str], Path]) -> None:
    pieces, out = begun
    whole = json.loads((out / MANIFEST).read_text())
    for key, value in INVALID:
        (out / MANIFEST).write_text(json.dumps(whole | {key: value}))
        assert "invalid manifest" in refused(pieces, out), (key, value)
    for key in ("name", "number", "shares", "files", "states", "waiting", "packed", "by_hosts"):
        for value in (None, -5, 10**12, "../../x", ["../../x"], {"a": 1}):
            if key == "name" and isinstance(value, str):
                continue  # a name like any other
            series = [whole["series"][0] | {key: value}, *whole["series"][1:]]
            (out / MANIFEST).write_text(json.dumps(whole | {"series": series}))
            assert "invalid manifest" in refused(pieces, out), (key, value)
    for text in ("3", "[]", "{", "[" * 100_000):
        (out / MANIFEST).write_text(text)
        assert "without the state that --append needs" in refused(pieces, out)


def test_rows_that_arrow_cannot_read_are_refused() -> None:
    """A compressed column claims a length that no memory has."""
    rows = pa.table({"a": ["x" * 1000] * 100})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(rows)
    data, length = sink.getvalue().to_pybytes(), struct.pack("<q", 100_000)
    assert data.count(length) == 1
    with pytest.raises(BadState), reading_state():
        read_rows(data.replace(length, struct.pack("<q", 1 << 60)), None)


def test_the_command_fails_with_the_sentence(begun: tuple[list[str], Path]) -> None:
    pieces, out = begun
    state = state_of(out)
    state.write_bytes(state.read_bytes()[:-1])
    found = CliRunner().invoke(commands, ["analyze", *pieces, "--out", str(out), "--append"])
    assert found.exit_code != 0
    assert "is not a valid state" in found.output
    assert "use --overwrite" in found.output
    assert "Traceback" not in found.output


def test_without_msgspec_a_folder_is_whole_but_cannot_be_appended_to(
    tmp_path: Path, job_in_process: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces, out = cut(tmp_path), tmp_path / "out"
    with monkeypatch.context() as without:
        without.setattr("kwire.runs.series_task.has_states", lambda: False)
        run_job(JobRequest(inputs=tuple(pieces[:1]), out=str(out)))
    assert "without the state that --append needs" in refused(pieces, out)


def read(path: str) -> TablesCarry:
    carry = begin_series("s")
    for _ in iter_piece(path, carry):
        pass
    return carry


def leaves(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(found, list | dict):
        for key in range(len(found)) if isinstance(found, list) else list(found):
            yield from leaves(found[key], (*path, key))


@pytest.mark.parametrize("name", ["seed.pcap.gz", "late-join.pcap.gz", "sasl.pcap.gz", "tls.pcapng.gz", "old-0.10-requests.log.gz"])
def test_values_of_other_types_are_refused(name: str, tmp_path: Path) -> None:
    """Each value of a record is replaced by one of a type that no field has there; the checksums are right."""
    path = tmp_path / "trace"
    path.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    records = [bytes(record) for record in records_of(b"".join(pack_carry(read(str(path)))))]
    chance = random.Random(name)
    for number in range(1, min(len(records), 12)):
        plain = msgspec.msgpack.decode(records[number])
        places = list(leaves(plain))
        for place in chance.sample(places, min(len(places), 60)):
            changed = msgspec.msgpack.decode(records[number])
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = 1.5
            data = b"".join(map(record_of, [*records[:number], msgspec.msgpack.encode(changed), *records[number + 1 :]]))
            with pytest.raises(BadState):
                unpack_carry(data)


def test_a_deep_state_is_refused(tmp_path: Path) -> None:
    deep = b"\x91" * 1_000_000
    records = [bytes(record) for record in records_of(b"".join(pack_carry(read(cut(tmp_path)[0]))))]
    with pytest.raises(BadState):
        unpack_carry(b"".join(map(record_of, [records[0], deep, *records[2:]])))


def test_a_connection_that_is_there_twice_or_missing(tmp_path: Path) -> None:
    records = [bytes(record) for record in records_of(b"".join(pack_carry(read(cut(tmp_path)[0]))))]
    assert len(records) > 3
    for found, why in (
        ([*records[:-1], records[2]], "twice"),
        (records[:-1], "cut off"),
        ([*records, records[-1]], "longer"),
        (records[1:], "invalid"),
    ):
        with pytest.raises(BadState, match=why):
            unpack_carry(b"".join(map(record_of, found)))


def test_a_state_is_what_it_was(tmp_path: Path) -> None:
    """A carry goes on in the same way before and after; it is written again to the same bytes."""
    first, second = cut(tmp_path, "topicids.pcap.gz")
    carry = read(first)
    state = b"".join(pack_carry(carry))
    stored = unpack_carry(state)
    assert b"".join(pack_carry(stored)) == state
    for each in (carry, stored):
        for _ in iter_piece(second, each):
            pass
    assert finish_series(carry)[1] == finish_series(stored)[1]


def test_states_of_a_stream_hold_no_pickle(tmp_path: Path) -> None:
    folder, marker = StateFolder(str(tmp_path / "states"), "stream"), tmp_path / "marker"
    folder.write("s", 1, SeriesState(read(cut(tmp_path)[0])))
    assert folder.read("s", 1).carry.series == "s"
    [state] = (tmp_path / "states" / "kwire-stream").iterdir()
    whole = state.read_bytes()
    for data in (
        pickle.dumps(Hostile(marker)),
        record_of(pickle.dumps(Hostile(marker))),
        whole[:-1],
        whole[:30],
        b"",
        whole[:60] + b"\xff" + whole[61:],
    ):
        state.write_bytes(data)
        with pytest.raises(InputError, match="start with a new checkpoint"):
            folder.read("s", 1)
        folder.forget({"t": 1})
        assert not marker.exists()


def test_files_that_are_counted_in_two_ways(tmp_path: Path) -> None:
    carry = read(cut(tmp_path)[0])
    carry.facts.append(None)
    with pytest.raises(BadState, match="two ways"):
        unpack_carry(b"".join(pack_carry(carry)))
