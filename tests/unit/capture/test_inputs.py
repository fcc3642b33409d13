"""Files, folders, globs and URIs to capture files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwire.capture.files.inputs import MissingInput, expand_inputs, is_capture_name
from kwire.errors import InputError


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.pcap", "a.pcap1", "b.pcapng.gz", "notes.txt", ".hidden.pcap", "deep/er/c.cap.zst", "odd [1].pcap", "x.pcap.2.gz"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    (tmp_path / "empty").mkdir()
    return tmp_path


def names(*arguments: str) -> list[str]:
    return [file.name for file in expand_inputs(arguments)[0]]


def test_a_file_is_taken_whatever_its_name(tree: Path) -> None:
    (found,), missing = expand_inputs([str(tree / "notes.txt")])
    assert (found.location, found.folder, found.name, found.size) == (str(tree / "notes.txt"), str(tree), "notes.txt", 5)
    assert missing == []


def test_a_folder_gives_all_captures_below_it(tree: Path) -> None:
    assert names(str(tree)) == ["a.pcap", "a.pcap1", "b.pcapng.gz", "c.cap.zst", "odd [1].pcap", "x.pcap.2.gz"]
    assert all(Path(file.location).exists() for file in expand_inputs([str(tree)])[0])
    assert names(f"{tree}/") == names(str(tree))


def test_globs(tree: Path) -> None:
    assert names(f"{tree}/a.pcap*") == ["a.pcap", "a.pcap1"]
    assert names(f"{tree}/?.pcap") == ["a.pcap"]
    assert names(f"{tree}/**/*.zst") == ["c.cap.zst"]
    assert names(f"{tree}/d*/e*/*") == ["c.cap.zst"]
    assert names(f"{tree}/[ab].*") == ["a.pcap", "a.pcap1", "b.pcapng.gz"]


def test_a_name_with_wildcards_in_it_that_exists_is_a_file(tree: Path) -> None:
    assert names(f"{tree}/odd [1].pcap") == ["odd [1].pcap"]


def test_relative_paths_stay_relative(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    assert [file.location for file in expand_inputs(["a.pcap", "deep", "x*"])[0]] == ["a.pcap", "deep/er/c.cap.zst", "x.pcap.2.gz"]
    assert [file.folder for file in expand_inputs(["a.pcap", "deep", "x*"])[0]] == ["", "deep/er", ""]
    assert [file.location for file in expand_inputs(["./deep"])[0]] == ["./deep/er/c.cap.zst"]
    assert len(expand_inputs(["."])[0]) == 6


def test_uris(tree: Path) -> None:
    uri = tree.as_uri()
    assert [file.location for file in expand_inputs([f"{uri}/a.pcap"])[0]] == [f"{uri}/a.pcap"]
    assert [file.location for file in expand_inputs([f"{uri}/a.pcap*"])[0]] == [f"{uri}/a.pcap", f"{uri}/a.pcap1"]
    assert f"{uri}/odd%20%5B1%5D.pcap" in [file.location for file in expand_inputs([uri])[0]]


def test_one_file_named_twice_is_read_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    Path("link.pcap").symlink_to("a.pcap")
    assert names("a.pcap", str(tree / "a.pcap"), "./a.pcap", "link.pcap") == ["a.pcap"]


def test_a_missing_file_among_many_stops_nothing(tree: Path) -> None:
    files, missing = expand_inputs([str(tree / "no.pcap"), str(tree / "a.pcap"), str(tree / "empty"), f"{tree}/no*"])
    assert [file.name for file in files] == ["a.pcap", "notes.txt"]
    assert missing == [
        MissingInput(str(tree / "no.pcap"), f"{tree}/no.pcap does not exist"),
        MissingInput(str(tree / "empty"), f"the folder {tree}/empty holds no capture file and no request log"),
    ]


def test_nothing_left_is_an_error(tree: Path) -> None:
    with pytest.raises(InputError, match=r"no\.pcap does not exist$"):
        expand_inputs([str(tree / "no.pcap")])
    with pytest.raises(InputError, match=r"^none of the 2 inputs can be read; the first: no file matches .*/z\*$"):
        expand_inputs([f"{tree}/z*", str(tree / "empty")])
    with pytest.raises(InputError, match=r"^no capture files given$"):
        expand_inputs([])
    with pytest.raises(InputError, match=r"^nowhere://x cannot be opened: "):
        expand_inputs(["nowhere://x"])


def test_capture_names() -> None:
    for name in ("x.pcap", "x.PCAP", "x.pcapng", "x.cap", "x.pcap12", "x.pcap.3", "x.pcap.3.gz", "x.pcap.zst", "x.ntar"):
        assert is_capture_name(name)
    for name in ("x.txt", "pcap", "x.pcap.part", ".x.pcap", "truth.json", "requests.jsonl.gz"):
        assert not is_capture_name(name)
