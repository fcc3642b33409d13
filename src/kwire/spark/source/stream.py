"""Reader of a stream, which returns closed files of rotating captures and growing request logs exactly once
(`spark.readStream.format("kwire")`).

Theory of operation. Spark requests an offset from the driver (`latestOffset`): a plan (`stream_plan`) of the next pieces (files or lines)
of each series, which is in the checkpoint before the batch runs. Each series is a task: it loads the state of its last batch from the state
folder, reads its pieces, writes the next state and returns its rows (`stream_batch`). If the driver is killed or a task fails, the batch
runs again. It then reads the same pieces from the same state, so rows and state are the same, and Spark's sinks write a batch once.
`commit` removes states that are no longer needed.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.series import in_order, is_overlap, series_key
from kwire.capture.tls.session_keys import tls_options
from kwire.errors import InputError
from kwire.files.file_systems import store_options
from kwire.spark.source.options import SourceOptions, with_corrupt_record
from kwire.spark.source.partitions import absolute_path
from kwire.spark.source.schema import in_schema, output_columns
from kwire.spark.source.stream_batch import SeriesBatch, series_rows
from kwire.spark.source.stream_files import FileWatch, SeenFile, line_end, locate
from kwire.spark.source.stream_offsets import Piece, StreamOffset
from kwire.spark.source.stream_plan import BatchLimit, followed, plan_batch
from kwire.spark.source.stream_state import StateFolder
from kwire.tables.schemas import ROW_TABLES

try:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, ReadMaxFiles, SupportsTriggerAvailableNow
except ImportError as missing:
    raise InputError("streams of kwire need Spark 4.2 or newer, whose data sources can limit the size of a batch.") from missing

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["KwireStreamReader"]


class _SeriesPartition(InputPartition):
    def __init__(self, batch: SeriesBatch) -> None:
        super().__init__(None)
        self.batch = batch


class KwireStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reader of captures and request logs as they arrive; Spark pickles it."""

    def __init__(self, schema: StructType, options: SourceOptions) -> None:
        options = with_corrupt_record(options, schema.names)
        _check(options)
        self._options = options
        self._asked = _asked(options)
        self._columns = output_columns(options, schema)
        self._stream = uuid.uuid4().hex[:16]
        self._watch: FileWatch | None = None
        # with Trigger.AvailableNow what lay there when the query began, and when that was
        self._frozen: tuple[list[SeenFile], int] | None = None

    # On the driver.

    def initialOffset(self) -> dict[str, Any]:
        """Return the first offset of a new query. Offsets include the name of the stream."""
        return StreamOffset(self._stream, self._asked).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self._options
        if options.max_bytes_per_trigger is not None:
            return ReadMaxBytes(options.max_bytes_per_trigger)
        return ReadAllAvailable() if options.max_files_per_trigger is None else ReadMaxFiles(options.max_files_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:
        """List the files now; later files are read by the next query."""
        with store_options(self._options.store), tls_options(self._options.tls):
            self._frozen = self._look(), time.time_ns()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        offset = StreamOffset.from_json(start, self._asked)
        with store_options(self._options.store), tls_options(self._options.tls):
            files, now_ns = (self._look(), time.time_ns()) if self._frozen is None else self._frozen
            found = plan_batch(
                offset,
                self._series(files, offset),
                self._options.stream,
                now_ns=now_ns,
                limit=_limit(limit),
                line_end=_line_end,
                has_state=self._states(offset).has,
            )
        return start if found is offset else found.to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        before, after = StreamOffset.from_json(start, self._asked), StreamOffset.from_json(end, self._asked)
        if after.batch not in (before.batch, before.batch + 1):
            raise InputError(f"the checkpoint lacks batches between {before.batch} and {after.batch} of the stream.")
        return [
            _SeriesPartition(SeriesBatch(after.stream, name, series.base, series.state, series.again, series.read))
            for name, series in sorted(after.series.items())
            if series.state == after.batch != before.batch
        ]

    def commit(self, end: dict[str, Any]) -> None:
        """Remove states older than the batch that ends here; a checkpoint that is set back by one batch still needs that one."""
        offset = StreamOffset.from_json(end, self._asked)
        with store_options(self._options.store), tls_options(self._options.tls):
            self._states(offset).forget({name: series.base for name, series in offset.series.items()})

    def _states(self, offset: StreamOffset) -> StateFolder:
        assert self._options.stream.state_location is not None
        return StateFolder(self._options.stream.state_location, offset.stream)

    def _look(self) -> list[SeenFile]:
        if self._watch is None:
            pattern = self._options.path_glob_filter
            wanted: Callable[[str], bool] | None = None if pattern is None else lambda name: fnmatchcase(name, pattern)
            self._watch = FileWatch(tuple(map(absolute_path, self._options.paths)), wanted)
        return self._watch.look()

    def _series(self, files: list[SeenFile], offset: StreamOffset) -> Mapping[str, list[SeenFile]]:
        """Group files by series, in order, including a followed log that rotation has renamed."""
        rule = self._options.series
        name_of = series_key(rule)
        groups: dict[str, list[SeenFile]] = {}
        for seen in files:
            # packets and lines have no order in common
            name = name_of(seen.file) if rule == "name" or seen.kind != "log" else f"{name_of(seen.file)} (request log)"
            groups.setdefault(name, []).append(seen)
        for name, series in offset.series.items():
            group = groups.get(name)
            if group and series.log is not None and followed(group, series.log) is None:
                place = locate(series.log.location, series.log.head, series.log.mark)
                renamed = None if place is None or self._watch is None else self._watch.look_at(_file_at(place))
                if renamed is not None and all(renamed.file.location != seen.file.location for seen in group):
                    group.append(renamed)
        return {name: _ordered(name, group) for name, group in groups.items()}

    # In a task.

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, _SeriesPartition)
        with store_options(self._options.store), tls_options(self._options.tls):
            for batch in series_rows(partition.batch, self._options):
                if batch.num_rows:
                    yield in_schema(batch, self._columns)


def _check(options: SourceOptions) -> None:
    if options.frames is not None:
        raise InputError(f"A stream of kwire reads captures and logs; follow {options.frames.format} files with Spark, and use map_frames.")
    if not options.reads_messages and options.table not in ROW_TABLES:
        raise InputError(f"A stream cannot return {options.table}, which sums up whole captures; choose one of {', '.join(ROW_TABLES)}.")
    if is_overlap(options.series):
        raise InputError("A stream cannot read overlapping captures, because it would need all of them at once.")
    if options.max_bytes_per_trigger is not None and options.max_files_per_trigger is not None:
        raise InputError("Use one of the options maxBytesPerTrigger and maxFilesPerTrigger, not both.")
    if options.stream.state_location is None:
        raise InputError(
            "Streams of kwire need the option stateLocation: a folder for the state of open connections that driver and executors "
            "can reach, such as the query's checkpointLocation."
        )


def _asked(options: SourceOptions) -> dict[str, str]:
    body = options.body
    return {
        "table": "" if options.reads_messages else options.table,
        "message": f"{body.message} v{body.version}" if options.reads_messages else "",
        "ports": ",".join(map(str, options.ports)),
        "series": options.series,
        "logZone": options.log_zone or "",
    }


def _limit(limit: ReadLimit) -> BatchLimit:
    if isinstance(limit, ReadMaxBytes):
        return BatchLimit(max_bytes=limit.max_bytes)
    return BatchLimit(max_files=limit.max_files) if isinstance(limit, ReadMaxFiles) else BatchLimit()


def _line_end(piece: Piece, most: int | None) -> int:
    assert piece.stop is not None
    location = locate(piece.location, piece.head, piece.mark)
    return piece.start if location is None else line_end(location, piece.start, piece.stop, most)


def _ordered(name: str, group: list[SeenFile]) -> list[SeenFile]:
    by_location = {seen.file.location: seen for seen in group}
    pieces = in_order(name, [seen.file for seen in group], lambda location: by_location[location].began_ns).pieces
    return [by_location[file.location] for file in pieces]


def _file_at(location: str) -> CaptureFile:
    folder, _, name = location.rpartition("/")
    return CaptureFile(location, folder, name, 0)
