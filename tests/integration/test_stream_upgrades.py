"""A stream goes on from what an earlier version of kwire left: checkpoint and states that are kept in tests/captures/data/streams."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import kwire
from kept_streams import KEPT, OPTIONS
from kwire.errors import InputError
from kwire.spark.source import stream_state
from kwire.tables import carry_state
from stream_query import Query, batch_rows, comparable, rotate

FILES = sorted(KEPT.glob("*.json.gz"))


def resumed(kept: Path, folder: Path, state: Path) -> Query:
    """The query of that stream, with both files of its capture in the folder, the first of which it has read."""
    name, _, _ = kept.name.partition("-")
    found = json.loads(gzip.decompress(kept.read_bytes()))
    rotate(f"{name}.pcap.gz", folder, 2)
    query = Query(folder, state, **OPTIONS[name])
    query.offsets.append(found["offset"].replace("FOLDER", str(folder)))
    states = state / f"kwire-{query.at['stream']}"
    states.mkdir(parents=True)
    key = stream_state._key(f"{folder}/trace_*.pcap")
    for file, content in found["files"].items():
        (states / f"{key}-{file.partition('-')[2]}").write_bytes(bytes.fromhex(content))
    return query


@pytest.mark.parametrize("kept", FILES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_stream_goes_on_under_the_next_version(kept: Path, folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of both batches are those of the batch source; of the first one they are read by this version."""
    monkeypatch.setattr(kwire, "__version__", "99.0.0")
    query = resumed(kept, folder, state)
    before = Query(folder, state.parent / "anew", maxFilesPerTrigger="1", **OPTIONS[kept.name.partition("-")[0]])
    first = next(before.batches())
    query.restart(groupEndsAfter="0s")
    query.run()
    assert query.rows
    assert comparable(first + query.rows) == comparable(batch_rows(folder, **OPTIONS[kept.name.partition("-")[0]]))


@pytest.mark.parametrize("module", [stream_state, carry_state])
def test_a_state_of_another_form_is_refused_with_one_sentence(
    module: object, folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = resumed(FILES[0], folder, state)
    monkeypatch.setattr(kwire, "__version__", "99.0.0")
    monkeypatch.setattr(module, "_FORM", "kwire state 99")
    with pytest.raises(
        InputError, match=r"kwire 0\.1\.0 wrote it as .*, and kwire 99\.0\.0 reads 'kwire state 99'; start with a new checkpoint"
    ):
        query.run()


def test_rows_of_other_columns_are_refused(folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version before had another column of requests; a row of a client that has not said who it is waits in the state."""
    from kwire.spark.source import stream_batch
    from kwire.tables.schemas import SCHEMAS

    query = resumed(KEPT / "dribble-0.1.0.json.gz", folder, state)
    monkeypatch.setattr(stream_batch, "SCHEMAS", {**SCHEMAS, "requests": SCHEMAS["requests"].remove(5)})
    with pytest.raises(InputError, match=r"rows have other columns.*start with a new checkpoint"):
        query.run()
