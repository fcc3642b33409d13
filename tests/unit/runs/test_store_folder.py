"""The output folder on a store without rename: parts where they stay, counted once the manifest names them, complete with `_SUCCESS`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kwire.errors import InputError
from kwire.report.analysis_folder import AnalysisFolder
from kwire.runs.output import MANIFEST, SUCCESS, OutputFolder
from kwire.runs.parts import RUN, PartWriter
from kwire.runs.store_folder import StoreFolder, output_folder
from kwire.spark.shared_places import check_shared

OUT = "memory://lake/out"
SCHEMA = pa.schema([("n", pa.int64())])
TABLES = ("first", "second")


@pytest.fixture
def store() -> Iterator[Any]:
    found = fsspec.filesystem("memory")
    found.pipe("/lake/else.txt", b"")
    yield found
    found.store.clear()
    found.pseudo_dirs[:] = [""]


def write(table: str, name: str, *numbers: int) -> str:
    with PartWriter(OUT, table, name, SCHEMA) as part:
        part.write(pa.record_batch({"n": list(numbers)}, schema=SCHEMA))
    return f"{table}/{name}"


def files(store: Any) -> set[str]:
    return {path.removeprefix("/lake/out/") for path in store.find("/lake/out")} if store.exists("/lake/out") else set()


def numbers(store: Any, part: str) -> list[int]:
    with store.open(f"/lake/out/{part}") as file:
        found: list[int] = pq.read_table(file)["n"].to_pylist()
    return found


def folder() -> StoreFolder:
    found = output_folder(OUT, TABLES)
    assert isinstance(found, StoreFolder)
    return found


def analyze(run: str, value: int) -> list[str]:
    out = folder()
    with out.writing():
        parts = [write(table, f"part-{run}.parquet", value) for table in TABLES]
        out.publish({"version": "x", "series": []}, parts)
        out.complete()
    return parts


def killed_while_it_writes(run: str, **how: bool) -> None:
    """Leaves what a killed process leaves; no process of another host can be asked whether it lives."""
    folder().begin(**how)
    write("first", f"part-{run}.parquet", 99)
    forget_who_writes()


def forget_who_writes() -> None:
    found = fsspec.filesystem("memory")
    found.pipe(f"/lake/out/{RUN}", json.dumps({**json.loads(found.cat(f"/lake/out/{RUN}")), "host": "another"}).encode())


def test_local_folders_are_renamed_into(tmp_path: Any) -> None:
    assert type(output_folder(str(tmp_path / "out"), TABLES)) is OutputFolder
    assert type(output_folder((tmp_path / "out").as_uri(), TABLES)) is OutputFolder


def test_parts_are_written_where_they_stay_and_nothing_is_copied(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for copying in ("cp_file", "mv", "copy", "move", "rename"):
        monkeypatch.setattr(type(store), copying, None, raising=False)
    out = folder()
    out.begin()
    part = write("first", "part-0.parquet", 1, 2)
    assert files(store) == {RUN, part}
    out.publish({"version": "x"}, [part])
    assert files(store) == {RUN, part, MANIFEST}
    out.complete()
    assert files(store) == {part, MANIFEST, SUCCESS}
    assert numbers(store, part) == [1, 2]
    assert json.loads(store.cat(f"/lake/out/{MANIFEST}"))["parts"] == {"first": ["part-0.parquet"]}


def test_parts_of_dates_are_parts_like_others(store: Any) -> None:
    def dated(run: str, *days: int, append: bool = False, kept: tuple[str, ...] = ()) -> list[str]:
        out = folder()
        with out.writing(append=append):
            parts = [write("first", f"date=2026-11-{day}/part-{run}.parquet", day) for day in days]
            out.publish({"version": "x", "series": []}, parts, kept)
            out.complete()
        return parts

    early, late = dated("a", 22, 23)
    (again,) = dated("b", 23, append=True, kept=(early,))
    assert files(store) == {early, again, MANIFEST, SUCCESS, *files(store) & {RUN}}
    assert late not in files(store)
    assert json.loads(store.cat(f"/lake/out/{MANIFEST}"))["parts"] == {"first": [early.partition("/")[2], again.partition("/")[2]]}
    out = folder()
    out.begin(overwrite=True)
    write("first", "date=2026-11-24/part-c.parquet", 24)
    out.abandon()
    assert {early, again, SUCCESS} <= files(store)
    assert not [name for name in files(store) if "part-c" in name]


def test_a_task_that_fails_leaves_no_part(store: Any) -> None:
    folder().begin()
    with pytest.raises(ZeroDivisionError), PartWriter(OUT, "first", "p.parquet", SCHEMA):
        raise ZeroDivisionError
    assert files(store) == {RUN}


def test_an_attempt_whose_run_ends_while_it_writes_leaves_nothing(store: Any) -> None:
    parts = analyze("a", 1)
    folder().begin(overwrite=True)
    with pytest.raises(InputError, match="does not exist on"), PartWriter(OUT, "first", "late.parquet", SCHEMA):
        store.rm(f"/lake/out/{RUN}")  # the run ends while the attempt writes
    assert files(store) == {*parts, MANIFEST}


def test_what_a_killed_first_run_left_is_in_nobodys_way(store: Any) -> None:
    killed_while_it_writes("a")
    assert files(store) == {"first/part-a.parquet", RUN}
    parts = analyze("b", 3)
    assert files(store) == {*parts, MANIFEST, SUCCESS}


@pytest.mark.parametrize("how", ["overwrite", "append"])
def test_an_analysis_outlives_a_run_that_was_killed_beside_it(store: Any, how: str) -> None:
    parts = analyze("a", 1)
    killed_while_it_writes("b", **{how: True})
    assert files(store) == {*parts, "first/part-b.parquet", MANIFEST, RUN}  # nothing looks complete
    with pytest.raises(InputError, match="exists already; give --overwrite"):
        analyze("c", 2)
    out = folder()
    with out.writing(append=True) as manifest:
        assert manifest is not None
        assert manifest["parts"] == {"first": ["part-a.parquet"], "second": ["part-a.parquet"]}
        assert "first/part-b.parquet" not in files(store)
        more = write("first", "part-c.parquet", 2)
        out.publish(manifest, [more], parts)
        out.complete()
    assert files(store) == {*parts, more, MANIFEST, SUCCESS}


def test_a_first_run_killed_after_its_manifest_can_be_gone_on_with(store: Any) -> None:
    out = folder()
    out.begin()
    part = write("first", "part-a.parquet", 1)
    out.publish({"series": []}, [part])
    forget_who_writes()
    assert SUCCESS not in files(store)
    assert (folder().begin(append=True) or {})["parts"] == {"first": ["part-a.parquet"]}
    forget_who_writes()
    store.rm(f"/lake/out/{part}")
    with pytest.raises(InputError, match="lacks parts listed in its manifest; use --overwrite"):
        folder().begin(append=True)


def test_a_run_whose_folder_another_took_does_not_publish(store: Any) -> None:
    out = folder()
    out.begin()
    part = write("first", "part-a.parquet", 1)
    forget_who_writes()
    folder().begin()
    theirs = write("first", "part-b.parquet", 2)
    with pytest.raises(InputError, match="Another run has begun to write to memory://lake/out"):
        out.publish({}, [part])
    out.abandon()
    assert files(store) == {theirs, RUN}


def test_readers_see_the_parts_that_the_manifest_names(store: Any) -> None:
    def captures(name: str, packets: int) -> str:
        from kwire.tables import SCHEMAS

        schema = SCHEMAS["captures"]
        with PartWriter(OUT, "captures", name, schema) as part:
            row = dict.fromkeys(schema.names) | {"capture": name, "packets": packets}
            part.write(pa.RecordBatch.from_pylist([row], schema=schema))
        return f"captures/{name}"

    out = output_folder(OUT, ("captures",))
    out.begin()
    part = captures("a", 1)
    with pytest.raises(InputError, match="holds no tables of an analysis"):
        AnalysisFolder(OUT)
    out.publish({"series": []}, [part])
    out.complete()
    output_folder(OUT, ("captures",)).begin(overwrite=True)
    captures("b", 2)
    assert AnalysisFolder(OUT).rows("captures", ["capture", "packets"]) == [{"capture": "a", "packets": 1}]
    assert AnalysisFolder(OUT).write("report.html", b"page") == f"{OUT}/report.html"
    assert store.cat("/lake/out/report.html") == b"page"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:443", "sc://host"])
def test_a_plain_path_is_refused_where_executors_may_not_see_it(master: str) -> None:
    with pytest.raises(
        InputError, match=rf"the output folder /data/out is on this machine, but executors of {master} may .* file:///data/out if"
    ):
        check_shared(master, "/data/out", ("s3://lake/x",))
    with pytest.raises(InputError, match=r"the input x\*\.pcap is on this machine"):
        check_shared(master, "s3://lake/out", ("s3://lake/x", "x*.pcap"))
    check_shared(master, "file:///data/out", ("file:///data/x.pcap", "s3://lake/x"))


@pytest.mark.parametrize("master", [None, "local", "local[*]", "local[4]", "local-cluster[2,1,1024]"])
def test_a_plain_path_serves_where_all_run_on_this_machine(master: str | None) -> None:
    check_shared(master, "out", ("x.pcap",))
