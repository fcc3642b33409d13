"""Checked options of the data source, from `.option(...)`. Spark passes all values as text and all names in lower case."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kwire.capture.request_logs.times import zone_of
from kwire.capture.tls.certificates import PrincipalRules
from kwire.capture.tls.session_keys import TlsOptions, expand_key_logs
from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, current_store_options, store_options
from kwire.schema import catalog
from kwire.spark.body_types import JSON_BODY, BodyType, body_type
from kwire.spark.reading_options import ReadingOptions, paths_of, reading_options
from kwire.spark.source.frame_options import FrameFiles, frame_files
from kwire.spark.source.stream_options import StreamOptions, stream_options
from kwire.tables.schemas import SCHEMAS

__all__ = ["SourceOptions", "source_options", "with_corrupt_record"]

_WHO: Final = "The kwire data source"
_BYTES: Final = re.compile(r"([0-9]+)\s*([kmgt]?)i?b?", re.IGNORECASE)
_CORRUPT_RECORD: Final = "_corrupt_record"  # what spark.sql.columnNameOfCorruptRecord is without being set
# What clients prove themselves with is looked at once and kept nowhere.
_TOKENS: Final = ("SaslAuthenticateRequest", "SaslAuthenticateResponse")
# earlier names of options, which keep working
_NEW_NAMES: Final = {"series": "groupfiles", "seriesendsafter": "groupendsafter"}
_UNITS: Final = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Checked options; Spark pickles them.

    Attributes:
        paths: files, folders, globs and URIs, as given.
        table: one of `kwire.tables.SCHEMAS`; ignored for messages.
        body: message to read instead of a table; `JSON_BODY` for none.
        columns: columns to return, in this order; None for all.
        reading: treatment of invalid bytes.
        series: rule that groups files (`kwire.capture.files.series.group_series`).
        path_glob_filter: pattern of file names; None for all.
        store: options of object stores.
        tls: options of encrypted connections.
        ignore_missing_files, ignore_corrupt_files: skip files that are missing or cannot be read.
        push_filters: apply conditions of `where` in the reader; a Spark setting must enable that too.
        min_partitions: number of tasks if there are fewer series; None for the number of the driver's processors. target_releases,
        broker_release: releases for `upgrade_impact`, as in `kwire analyze`.
        max_bytes_per_trigger, max_files_per_trigger: limits of
        streams; None for no limit.
        stream: other options of streams.
        frames: options of Parquet or Arrow files; None for captures and request logs.
    """

    paths: tuple[str, ...]
    table: str = "requests"
    body: BodyType = JSON_BODY
    ports: tuple[int, ...] = ()
    columns: tuple[str, ...] | None = None
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    series: str = "name"
    log_zone: str | None = None
    path_glob_filter: str | None = None
    store: StoreOptions = field(default_factory=StoreOptions)
    tls: TlsOptions = field(default_factory=TlsOptions)
    ignore_missing_files: bool = False
    ignore_corrupt_files: bool = False
    push_filters: bool = False
    min_partitions: int | None = None
    target_releases: tuple[str, ...] = ()
    broker_release: str | None = None
    max_bytes_per_trigger: int | None = None
    max_files_per_trigger: int | None = None
    stream: StreamOptions = field(default_factory=StreamOptions)
    frames: FrameFiles | None = None

    @property
    def reads_messages(self) -> bool:
        """True if messages of captures are read instead of a table."""
        return self.body.message is not None and self.frames is None


def source_options(options: Mapping[str, str], *, strict: bool = False) -> SourceOptions:
    """Check options; unknown ones are ignored with a warning, as Spark's own readers ignore them, and an error if `strict` or in the mode
    FAILFAST."""
    given = {_NEW_NAMES.get(name.lower(), name.lower()): value for name, value in options.items()}
    reading: dict[str, str] = {name: given.pop(name) for name in ("mode", "columnnameofcorruptrecord") if name in given}
    frames = frame_files(given)
    body = _body_of(given, frames)
    if frames is not None and "table" in given:
        raise InputError(f"{_WHO} reads tables from captures only: use one of the options table and source={frames.format}.")
    if body.message is None and frames is None and "columnnameofcorruptrecord" in reading:
        raise InputError("The option columnNameOfCorruptRecord needs the option message, because rows of tables have no bytes.")
    found = SourceOptions(
        paths=_paths(given),
        table=_table(given.pop("table", None), body),
        body=body,
        reading=reading_options(reading, _WHO, drops=True),
        ports=_taken(given, "ports", _ports, ()),
        columns=_taken(given, "columns", paths_of, None),
        series=_taken(given, "groupFiles", _series, "name"),
        log_zone=_taken(given, "logZone", _zone, None),
        path_glob_filter=given.pop("pathglobfilter", None),
        store=_store(given),
        tls=_tls(given),
        ignore_missing_files=_taken(given, "ignoreMissingFiles", _bool, False),
        ignore_corrupt_files=_taken(given, "ignoreCorruptFiles", _bool, False),
        push_filters=_taken(given, "pushFilters", _bool, False),
        min_partitions=_taken(given, "minPartitions", _count, None),
        target_releases=_taken(given, "targetReleases", paths_of, ()),
        broker_release=given.pop("brokerrelease", None),
        max_bytes_per_trigger=_taken(given, "maxBytesPerTrigger", _bytes, None),
        max_files_per_trigger=_taken(given, "maxFilesPerTrigger", _count, None),
        stream=stream_options(given),
        frames=frames,
    )
    _refuse_tokens(found)
    if given:
        text = f"{_WHO} has no option{'s' * (len(given) > 1)} {', '.join(sorted(given))}."
        if strict or found.reading.fails:
            raise InputError(text)
        warnings.warn(text, stacklevel=2)
    return found


def _taken(given: dict[str, str], name: str, read: Callable[[str], Any], default: Any) -> Any:
    text = given.pop(name.lower(), None)
    if text is None:
        return default
    try:
        return read(text)
    except ValueError as error:
        raise InputError(f"The option {name} of the kwire data source must be {error}, not {text!r}.") from None


def _paths(given: dict[str, str]) -> tuple[str, ...]:
    one, several = given.pop("path", None), given.pop("paths", None)
    found = tuple(json.loads(several)) if several else ()
    if one is not None and found:
        raise InputError(f"{_WHO} takes paths from the option path or from load(...), not from both.")
    found = found or ((one,) if one else ())
    if not found:
        raise InputError(f"{_WHO} has no path: pass files, folders or globs to load(...), or use the option path.")
    return found


def _table(name: str | None, body: BodyType) -> str:
    if name is not None and body.message is not None:
        raise InputError(f"{_WHO} reads a table or a message: use one of the options table and message.")
    found = "requests" if name is None else name.lower()
    if found not in SCHEMAS:
        raise InputError(f"{_WHO} has no table {name!r}; its tables are {', '.join(SCHEMAS)}.")
    return found


def _body_of(given: dict[str, str], frames: FrameFiles | None) -> BodyType:
    message, fields = given.pop("message", None), given.pop("fields", None)
    version = _taken(given, "version", _version, None)
    if message is not None and version is None and frames is None:
        raise InputError(f"{_WHO} needs a version for messages in captures.")
    found = body_type(message, version, fields, None, _WHO)
    if message is not None and frames is None and catalog()[message].kind not in ("request", "response"):
        raise InputError(f"{_WHO} reads requests and responses from captures; {message} is neither.")
    return found


def with_corrupt_record(options: SourceOptions, names: Iterable[str]) -> SourceOptions:
    """Return the options for a user's own schema; a column with Spark's default name keeps the bytes of unreadable messages."""
    if (
        (not options.reads_messages and options.frames is None)
        or options.reading.corrupt_record is not None
        or _CORRUPT_RECORD not in names
    ):
        return options
    found = replace(options, reading=options.reading._replace(corrupt_record=_CORRUPT_RECORD))
    _refuse_tokens(found)
    return found


def _refuse_tokens(options: SourceOptions) -> None:
    body = options.body
    if body.message in _TOKENS and (body.fields is None or "auth_bytes" in body.fields or options.reading.corrupt_record is not None):
        raise InputError(
            f"kwire does not keep passwords: select fields of {body.message} with the option fields, without auth_bytes, and no column for "
            "corrupt records."
        )


def _store(given: dict[str, str]) -> StoreOptions:
    with store_options(StoreOptions(given.pop("region", None), given.pop("endpoint", None))):
        return current_store_options()


def _tls(given: dict[str, str]) -> TlsOptions:
    rules = given.pop("sslprincipalmappingrules", "DEFAULT")
    PrincipalRules(rules)
    key_logs = _taken(given, "tlsKeys", paths_of, ())
    return TlsOptions(
        expand_key_logs(key_logs),
        _taken(given, "tlsCaptureKeys", _bool, True),
        _taken(given, "tlsUnverified", _bool, False),
        rules,
    )


def _version(text: str) -> int:
    return _number(text, 0, 32767, "the version of a message")


def _ports(text: str) -> tuple[int, ...]:
    return tuple(_number(part, 1, 65535, "a comma-separated list of port numbers") for part in text.split(","))


def _count(text: str) -> int:
    return _number(text, 1, 1 << 62, "a number from 1 on")


def _number(text: str, low: int, high: int, what: str) -> int:
    stripped = text.strip()
    if not (stripped.isascii() and stripped.isdigit() and low <= int(stripped) <= high):
        raise ValueError(what)
    return int(stripped)


def _bytes(text: str) -> int:
    found = _BYTES.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise ValueError("a number of bytes such as 67108864 or 64m")
    return int(found[1]) << _UNITS[found[2].lower()]


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _zone(text: str) -> str:
    zone_of(text)
    return text


def _series(text: str) -> str:
    kind, _, pattern = text.partition(":")
    if kind not in ("match", "overlap", "points") if pattern else text not in ("name", "folder", "all", "file", "overlap", "points"):
        raise ValueError("name, folder, all, file, overlap, overlap:REGEX or match:REGEX")
    try:
        re.compile(pattern)
    except re.error:
        raise ValueError(f"{kind}: and a regular expression") from None
    return text
