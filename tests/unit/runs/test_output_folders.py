"""What holds of the output folder with renames and on a store alike."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kwire.errors import InputError
from kwire.runs.output import MANIFEST, PAGE, SUCCESS
from kwire.runs.parts import RUN, PartWriter, write_blob
from kwire.runs.store_folder import output_folder

SCHEMA = pa.schema([("n", pa.int64())])
TABLES = ("first", "second")


class Place:
    def __init__(self, store: Any, path: str, location: str) -> None:
        self.store, self.path, self.location = store, path, location

    def files(self) -> set[str]:
        return {name.removeprefix(f"{self.path}/") for name in self.store.find(self.path)} if self.store.exists(self.path) else set()

    def put(self, name: str, content: bytes) -> None:
        self.store.pipe(f"{self.path}/{name}", content)

    def numbers(self, part: str) -> list[int]:
        with self.store.open(f"{self.path}/{part}") as file:
            found: list[int] = pq.read_table(file)["n"].to_pylist()
        return found

    def write(self, table: str, name: str, number: int) -> str:
        with PartWriter(self.location, table, name, SCHEMA) as part:
            part.write(pa.record_batch({"n": [number]}, schema=SCHEMA))
        return f"{table}/{name}"

    def analyze(self, run: str, value: int, *, fault: BaseException | None = None, **how: bool) -> set[str]:
        folder = output_folder(self.location, TABLES)
        with folder.writing(**how):
            parts = [self.write(table, f"part-{run}.parquet", value) for table in TABLES]
            if fault is not None:
                raise fault
            folder.publish({"version": "x", "series": []}, parts)
            folder.complete()
        return set(parts)


@pytest.fixture(params=["local", "store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "local":
        yield Place(fsspec.filesystem("file", auto_mkdir=True), str(tmp_path / "out"), str(tmp_path / "out"))
        return
    store = fsspec.filesystem("memory")
    store.pipe("/lake/else.txt", b"")
    yield Place(store, "/lake/out", "memory://lake/out")
    assert store.exists("/lake/else.txt")
    store.store.clear()
    store.pseudo_dirs[:] = [""]


def test_a_run_that_fails_leaves_nothing(place: Place) -> None:
    with pytest.raises(KeyboardInterrupt):
        place.analyze("a", 1, fault=KeyboardInterrupt(), overwrite=True)
    assert not place.store.exists(place.path)


@pytest.mark.parametrize("how", ["overwrite", "append"])
def test_an_analysis_that_was_not_replaced_is_complete_again(place: Place, how: str) -> None:
    parts = place.analyze("a", 1)
    with pytest.raises(InputError, match="no space"):
        place.analyze("b", 2, fault=InputError("no space"), **{how: True})
    assert place.files() == {*parts, MANIFEST, SUCCESS}
    assert [place.numbers(part) for part in parts] == [[1], [1]]


def test_an_analysis_is_replaced_only_when_asked(place: Place) -> None:
    place.analyze("a", 1)
    place.put(PAGE, b"page")
    place.put("notes.txt", b"mine")
    with pytest.raises(InputError, match=r"out exists already; give --overwrite"):
        place.analyze("b", 2)
    parts = place.analyze("b", 2, overwrite=True)
    assert place.files() == {*parts, MANIFEST, SUCCESS, "notes.txt"}
    assert [place.numbers(part) for part in parts] == [[2], [2]]


def test_a_foreign_folder_is_never_emptied(place: Place) -> None:
    place.put("thesis.txt", b"years of work")
    for overwrite in (False, True):
        with pytest.raises(InputError, match="choose"):
            place.analyze("a", 1, overwrite=overwrite)
    assert place.files() == {"thesis.txt"}


def test_a_run_that_is_alive_is_left_alone(place: Place) -> None:
    place.put(RUN, json.dumps({"host": socket.gethostname(), "pid": os.getppid()}).encode())
    with pytest.raises(InputError, match="Another run is writing to"):
        place.analyze("a", 1)


def test_parts_that_executors_wrote_elsewhere_are_missed(place: Place) -> None:
    folder = output_folder(place.location, TABLES)
    with pytest.raises(InputError, match=r"1 parts that executors wrote are not in .*; give an --out that all machines"), folder.writing():
        folder.publish({}, ["first/part-0.parquet"])
    assert not place.store.exists(place.path)


def test_an_attempt_that_outlives_its_run_leaves_nothing(place: Place) -> None:
    parts = place.analyze("a", 1)
    with pytest.raises(InputError, match=r"out does not exist on .*; use an --out that all machines share"):
        place.write("first", "late.parquet", 2)
    with pytest.raises(InputError, match="does not exist on"):
        write_blob(place.location, "_state", "state-0", b"x")
    assert place.files() == {*parts, MANIFEST, SUCCESS}
