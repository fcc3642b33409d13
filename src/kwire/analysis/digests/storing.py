"""Digest file beside the tables, from which a report is made without reading the tables."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from kwire.analysis.digests.tables import DIGESTS, Digest, schema_of
from kwire.analysis.partials import from_bytes, to_bytes
from kwire.files.file_systems import has_rename
from kwire.files.private_files import new_file
from kwire.tables.schemas import SCHEMAS

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["DIGEST_FILE", "final_tables", "read_digest", "read_final", "state_of", "write_digest"]

DIGEST_FILE: Final = "_digest.arrow"
"""File name in the folder of an analysis; readers of Parquet skip names with this prefix."""
_VERSION: Final = b"kwire digest 4\n"
_FINAL: Final = "final"


def state_of(filesystem: FileSystem, path: str, parts: Mapping[str, Iterable[str]] | None = None) -> bytes:
    """Return a 32-byte hash of the parts of all tables; a digest is valid only for these parts.

    If there is no manifest of parts by table, the names and sizes of files are hashed.
    """
    from pyarrow.fs import FileSelector, FileType

    if parts is not None:
        names = [f"{table}/{name}" for table, listed in parts.items() if table in SCHEMAS for name in listed]
    else:
        folders = [FileSelector(f"{path}/{table}", allow_not_found=True, recursive=True) for table in SCHEMAS]  # also those of dates
        infos = [info for folder in folders for info in filesystem.get_file_info(folder)]
        names = [f"{info.path[len(path) :]} {info.size}" for info in infos if info.type is FileType.File]
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "surrogateescape")).digest()


def write_digest(filesystem: FileSystem, path: str, digest: Digest, parts: Mapping[str, Iterable[str]]) -> None:
    """Write the digest file of a newly published analysis."""
    state = state_of(filesystem, path, None if has_rename(filesystem) else parts)
    target = f"{path}/{DIGEST_FILE}"
    with new_file(target) if filesystem.type_name == "local" else filesystem.open_output_stream(target, compression=None) as file:
        data = to_bytes(digest)
        file.write(_VERSION + state + hashlib.sha256(data).digest() + data)


def read_digest(filesystem: FileSystem, path: str, parts: Mapping[str, Iterable[str]] | None) -> Digest | None:
    """Read the digest file; return None if it is missing, damaged, or for other tables."""
    with suppress(OSError, pa.ArrowException, ValueError, KeyError, struct.error):
        return {name: _checked(name, table) for name, table in _read(filesystem, path, parts).items() if name in DIGESTS}
    return None


def read_final(filesystem: FileSystem, path: str, parts: Mapping[str, Iterable[str]]) -> tuple[str, str, Digest] | None:
    """Read what `final_tables` has put into the digest file; None as `read_digest`."""
    with suppress(OSError, pa.ArrowException, ValueError, KeyError, IndexError, struct.error):
        found = _read(filesystem, path, None if has_rename(filesystem) else parts)
        [row] = found[_FINAL].to_pylist()
        names = {name: f"{_FINAL} {name}" for name in DIGESTS}
        return row["key"], row["late"], {name: _checked(name, found[stored]) for name, stored in names.items() if stored in found}
    return None


def final_tables(key: str, late: str, digest: Digest) -> Digest:
    """Return the digest of final rows and two hashes as tables to store with a digest; a report does not read them."""
    return {_FINAL: pa.table({"key": [key], "late": [late]})} | {f"{_FINAL} {name}": table for name, table in digest.items()}


def _read(filesystem: FileSystem, path: str, parts: Mapping[str, Iterable[str]] | None) -> Digest:
    with filesystem.open_input_stream(f"{path}/{DIGEST_FILE}", compression=None) as file:
        data = file.read()
    head = len(_VERSION) + 2 * hashlib.sha256().digest_size
    if data[:head] != _VERSION + state_of(filesystem, path, parts) + hashlib.sha256(data[head:]).digest():
        raise ValueError("damaged, or of other tables")
    return from_bytes(data[head:])


def _checked(name: str, table: pa.Table) -> pa.Table:
    """Check the offsets, because Arrow trusts those of a file unless `validate` is called."""
    table.validate(full=True)
    return table.select(schema_of(name).names).cast(schema_of(name))
