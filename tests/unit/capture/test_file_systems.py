"""Paths and URIs to file systems, and what stores say in few words. Errors are those that Arrow 26 gives for answers of S3."""

from __future__ import annotations

import gzip
import io
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest
from pyarrow import fs

from kwire.capture.files import source
from kwire.capture.files.inputs import expand_inputs
from kwire.capture.files.source import open_capture
from kwire.errors import InputError, KwireError
from kwire.files.file_systems import (
    StoreOptions,
    below,
    current_store_options,
    filesystem_of,
    has_rename,
    place_of,
    reason_of,
    refuse_secrets,
    store_options,
)

AWS = "When reading information for key 'x' in bucket 'lake': AWS Error "


@pytest.fixture
def memory() -> Iterator[Any]:
    """A store of fsspec's, which has no rename and no folders of its own."""
    found = fsspec.filesystem("memory")
    yield found
    found.store.clear()


@pytest.mark.parametrize(
    "location",
    [
        "s3://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI@bucket/x.pcap",
        "s3a://AKIAIOSFODNN7EXAMPLE:wJalr/XUtnFEMI@bucket/x.pcap",  # as AWS' secrets are, with a slash
        "s3://bucket/x.pcap?secret_key=wJalrXUtnFEMI",
        "sftp://me:wJalrXUtnFEMI@host/x.pcap",
        "https://bucket.s3.amazonaws.com/x.pcap?X-Amz-Signature=wJalrXUtnFEMI",
        "abfss://box@account.dfs.core.windows.net/x.pcap?sig=wJalrXUtnFEMI",
    ],
)
def test_a_uri_with_a_secret_is_refused_before_anything_names_it(location: str, tmp_path: Path) -> None:
    (tmp_path / "x.pcap").touch()
    for open_it in (refuse_secrets, filesystem_of, lambda text: expand_inputs([str(tmp_path / "x.pcap"), text])):
        with pytest.raises(InputError, match=r"holds a (password|secret \(.*\)), which would appear in tables and logs") as told:
            open_it(location)
        assert "wJalr" not in str(told.value)


@pytest.mark.parametrize(
    "location",
    [
        "s3://bucket/x:y@z.pcap", "gs://anonymous@bucket/x", "hdfs://user@namenode:8020/x", "abfss://box@account.dfs.core.windows.net/x",
        "http://[::1]:8080/x", "s3://bucket/x?region=eu-west-1&endpoint_override=host:9000", "/home/a:b@c", "file:///a:b@c",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_is_none(location: str) -> None:
    refuse_secrets(location)


def test_region_and_endpoint_come_from_the_options_and_a_uri_may_have_its_own() -> None:
    with store_options(StoreOptions("eu-west-1", "http://127.0.0.1:9")):
        found, path = filesystem_of("s3a://bucket/a%20b/")
        assert isinstance(found, fs.S3FileSystem)
        assert (found.region, path) == ("eu-west-1", "bucket/a b")
        assert filesystem_of("s3://bucket/c")[0] is found  # its connections are kept
        assert filesystem_of("s3://bucket/c?region=us-west-2")[0].region == "us-west-2"
    assert current_store_options() == StoreOptions()


def test_the_environment_of_the_driver_tells_tasks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert current_store_options() == StoreOptions("eu-west-3", "http://127.0.0.1:9000")
    with store_options(StoreOptions(region="us-west-2")):
        assert current_store_options() == StoreOptions("us-west-2", "http://127.0.0.1:9000")


@pytest.mark.parametrize("endpoint", ["http://me:wJalr@host", "ftp://host", "http://host/path", "http://"])
def test_an_endpoint_that_is_none(endpoint: str) -> None:
    with pytest.raises(InputError, match="the endpoint") as told, store_options(StoreOptions(endpoint=endpoint)):
        pass
    assert "wJalr" not in str(told.value)


def test_one_file_has_one_place_however_it_is_reached() -> None:
    assert {place_of(f"{scheme}://b/x.pcap{query}") for scheme in ("s3", "s3a") for query in ("", "?region=eu-west-1")} == {"s3://b/x.pcap"}
    assert place_of("/a?b") == "/a?b"
    assert [below(each, "x/y") for each in ("s3://b/a/?region=r", "s3://b/a", "/a?b/")] == [
        "s3://b/a/x/y?region=r",
        "s3://b/a/x/y",
        "/a?b/x/y",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NO_SUCH_BUCKET during ListObjectsV2 operation: The specified bucket does not exist", "there is no bucket lake"),
        ("ACCESS_DENIED during HeadObject operation: No response body.", "access to the bucket lake is denied"),
        (
            "ACCESS_DENIED during HeadObject operation: No response body. Looks like the configured region is '' while the bucket is "
            "located in 'us-east-1'.",
            "access to the bucket lake is denied",
        ),
        (
            "INVALID_ACCESS_KEY_ID during GetObject operation: The AWS Access Key Id you provided does not exist in our records.",
            "the store does not take the credentials (The AWS Access Key Id you provided does not exist in our records)",
        ),
        ("UNKNOWN (HTTP status 301) during HeadObject operation: No response body.", "the bucket lake lies in another region; name"),
        (
            "UNKNOWN (HTTP status 400) during HeadObject operation: No response body. Looks like the configured region is 'us-east-1' "
            "while the bucket is located in 'eu-central-1'.",
            "the bucket lake lies in another region, eu-central-1; name the region",
        ),
        (
            "UNKNOWN (HTTP status 400) during ListObjectsV2 operation: Unable to parse ExceptionName: AuthorizationHeaderMalformed "
            "Message: The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-central-1'",
            "the bucket lake lies in another region, eu-central-1; name the region",
        ),
        (
            "NETWORK_CONNECTION during HeadObject operation: curlCode: 7, Could not connect to server; Details: Failed to connect to "
            "127.0.0.1:9 after 0 ms: Could not connect to server",
            "the store cannot be reached: Failed to connect to 127.0.0.1:9 after 0 ms: Could not connect to server",
        ),
        ("SLOW_DOWN during GetObject operation: Please reduce your request rate.", "the store fails, after several tries too (SLOW_DOWN)"),
        ("UNKNOWN (HTTP status 500) during HeadObject operation: No response body.", "the store fails, after several tries too (500)"),
        ("INVALID_OBJECT_STATE during GetObject operation: The object is archived (Request ID: 1)", "The object is archived"),
    ],
)
def test_what_a_store_says_in_few_words(text: str, reason: str) -> None:
    assert reason_of(OSError(AWS + text)).startswith(reason)


def test_other_schemes_are_fsspecs(memory: Any) -> None:
    memory.pipe({"/deep/a.pcap": b"12345", "/deep/odd [1]#%?.pcap": b"54321", "/deep/er/c.cap.zst": b"1", "/notes.txt": b"1"})
    found, path = filesystem_of("memory://deep/er/")
    assert (found.get_file_info(path).type, has_rename(found)) == (fs.FileType.Directory, False)
    names = [file.location for file in expand_inputs(["memory://deep"])[0]]
    assert names == ["memory://deep/a.pcap", "memory://deep/er/c.cap.zst", "memory://deep/odd%20%5B1%5D%23%25%3F.pcap"]
    assert [file.size for file in expand_inputs(["memory://deep/*.pcap"])[0]] == [5, 5]
    with open_capture(names[2]) as capture:
        assert capture.read(99) == b"54321"


def test_a_scheme_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"^moon://x cannot be opened: Protocol not known: moon$"):
        filesystem_of("moon://x")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match=r"^moon://x cannot be opened: moon:// is not one of Arrow's, and fsspec is not installed$"):
        filesystem_of("moon://x")


class _Counted(io.BytesIO):
    """A file on a store that counts what is asked of it, and fails as often as it is told."""

    asked: list[int]
    faults: int

    def read(self, size: int | None = -1) -> bytes:
        if self.faults:
            self.faults -= 1
            raise OSError(f"{AWS}SLOW_DOWN during GetObject operation: Please reduce your request rate.")
        self.asked.append(size or -1)
        return super().read(size)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> _Counted:
    """What `open_capture("s3://lake/x")` opens."""
    file = _Counted()
    file.asked, file.faults = [], 0

    class _Store:
        type_name = "s3"

        def open_input_file(self, _path: str) -> pa.PythonFile:
            file.seek(0)
            return pa.PythonFile(file, mode="r")

    monkeypatch.setattr(source, "filesystem_of", lambda _location: (_Store(), "lake/x"))
    monkeypatch.setattr(source, "_PAUSES", (0.0, 0.0))
    return file


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: pa.compress(data, codec="zstd", asbytes=True)])
def test_a_file_on_a_store_is_read_in_blocks_and_never_held_whole(store: _Counted, pack: Any) -> None:
    whole = random.Random(1).randbytes(1 << 20)
    store.write(pack(whole))
    with open_capture("s3://lake/x", block_bytes=1 << 14) as capture:
        found = b"".join(iter(lambda: capture.read(1 << 12), b""))
        assert capture.sha256()
    assert found == whole
    assert max(store.asked) <= 1 << 14
    assert len(store.asked) >= len(pack(whole)) >> 14


def test_of_a_file_on_a_store_that_is_only_looked_at_one_block_is_read(store: _Counted) -> None:
    store.write(b"x" * 100_000)
    with open_capture("s3://lake/x", block_bytes=1 << 14) as capture:
        capture.read(24)
    assert store.asked == [1 << 14]


def test_a_block_that_fails_is_asked_for_again(store: _Counted) -> None:
    store.write(b"x" * 100_000)
    with open_capture("s3://lake/x", block_bytes=1 << 14) as capture:
        capture.read(20_000)
        store.faults = 2
        assert capture.read(100_000) == b"x" * 80_000


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_store_that_fails_for_good_is_no_end_of_a_file(store: _Counted, pack: Any) -> None:
    store.write(pack(random.Random(1).randbytes(100_000)))
    with open_capture("s3://lake/x", block_bytes=1 << 12) as capture:
        capture.read(10)
        store.faults = 3
        with pytest.raises(
            KwireError, match=r"^cannot continue reading s3://lake/x at byte 4096: the store fails, after several tries too"
        ) as told:
            capture.read(100_000)
    assert not isinstance(told.value, InputError)  # which would have the file left out
