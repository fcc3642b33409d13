"""Plan of the next batch of a stream, a pure function of the offset, the files and the clock.

A capture is read once, whole, when it is closed: a later file of its series was changed at the same time or after it (tools that rotate
close one file before they open the next), or it did not change for a while. Only the latter applies to compressed files. A request log is
read to its last whole line; its end is read once a later file of its series exists. Over all series, the file with the earliest change
comes first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kwire.capture.request_logs.names import is_log_name
from kwire.errors import InputError
from kwire.spark.source.stream_files import SeenFile
from kwire.spark.source.stream_offsets import HEAD_BYTES, LastFile, LogPlace, Piece, SeriesOffset, StreamOffset, mark_of
from kwire.spark.source.stream_options import StreamOptions

__all__ = ["BatchLimit", "followed", "plan_batch"]

# Batches without a state; each costs the next ones its time once more.
_MOST_AGAIN: Final = 16
_SECOND_NS: Final = 1_000_000_000

LineEnd = Callable[[Piece, int | None], int]


@dataclass(frozen=True, slots=True)
class BatchLimit:
    """Limits of a batch; None for no limit. At least one piece is read, regardless of its size."""

    max_bytes: int | None = None
    max_files: int | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """Next piece to read: the readable part of a file."""

    piece: Piece
    seen: SeenFile | None
    size: int


def plan_batch(
    start: StreamOffset,
    lying: Mapping[str, Sequence[SeenFile]],
    options: StreamOptions,
    *,
    now_ns: int,
    limit: BatchLimit,
    line_end: LineEnd,
    has_state: Callable[[str, int], bool],
) -> StreamOffset:
    """Plan the next batch; return the offset at its end, with its pieces, or `start` itself if there is nothing to read.

    `lying` has the files of each series in order; `now_ns` is the current time on the clock of the files' times.
    """
    backlogs = {name: _Backlog(name, files, start.series.get(name, SeriesOffset()), options, now_ns) for name, files in lying.items()}
    for name, offset in start.series.items():
        if name not in backlogs:
            backlogs[name] = _Backlog(name, (), offset, options, now_ns)
    waiting = [(backlog.changed_ns, name) for name, backlog in backlogs.items() if backlog.steps]
    heapq.heapify(waiting)
    taken, count = 0, 0
    while waiting and not (count and ((limit.max_files or count + 1) <= count or (limit.max_bytes or taken + 1) <= taken)):
        _, name = heapq.heappop(waiting)
        backlog = backlogs[name]
        left = None if limit.max_bytes is None else limit.max_bytes - taken
        size = backlog.take(left, must=not count, line_end=line_end)
        if size is None:
            if left is not None and backlog.cut:
                break  # what comes first is not overtaken
            continue
        taken += size
        count += 1
        if backlog.steps and not backlog.cut:
            heapq.heappush(waiting, (backlog.changed_ns, name))
    advanced = {name: found for name, backlog in backlogs.items() if (found := backlog.end(start.batch + 1, has_state)) is not None}
    return start.advanced(advanced) if advanced else start


def followed(files: Sequence[SeenFile], log: LogPlace) -> SeenFile | None:
    """Find the followed log; if there are several copies, the one with the same name."""
    same = [seen for seen in files if seen.begins_as(log.head, log.mark) and (seen.compressed or seen.file.size >= log.at)]
    return min(same, key=lambda seen: (seen.file.location != log.location, seen.compressed), default=None)


class _Backlog:
    """Unread files of a series; `cut` if the limit ended inside the first of the next `steps`."""

    def __init__(self, name: str, files: Sequence[SeenFile], offset: SeriesOffset, options: StreamOptions, now_ns: int) -> None:
        self._name = name
        self._files = files
        self._offset = offset
        self._options = options
        self._now_ns = now_ns
        ends_after = options.closed_after if options.series_ends_after is None else options.series_ends_after
        self._closed_ns = round(min(options.closed_after, ends_after) * _SECOND_NS)
        self._read: list[Piece] = []
        self._marks: set[str] = set()
        self._last = offset.last
        self._log = offset.log
        self._is_waiting = False  # a file is not closed yet
        self.cut = False
        self.steps = list(self._find()) if files else []

    @property
    def changed_ns(self) -> int:
        seen = self.steps[0].seen
        return 0 if seen is None else seen.changed_ns

    # What there is to read.

    def _find(self) -> Iterator[_Step]:
        offset, log = self._offset, self._offset.log
        following = None if log is None else followed(self._files, log)
        last = self._index_of_last(following)
        if log is not None and following is None:
            self._lose(f"{log.location} was emptied, replaced or removed after byte {log.at:,}, and later data is gone")
            yield _Step(Piece(log.location, "lost", start=log.at), None, 0)
        yield from self._grown(last)
        known = set(offset.done)
        for index, seen in enumerate(self._files):
            if seen is following:
                assert log is not None
                yield from self._log_step(index, seen, log.at)
            elif seen.mark in known or self._is_copy(seen, log):
                continue
            elif not self._is_closed(index):
                self._is_waiting = True
                if seen.began_ns is not None or seen.kind == "log":
                    return
                # nothing is in it yet: it may be the next file of a ring, or a log with nothing but a banner, so nothing waits for it
            elif self._is_late(index, seen, last):
                self._lose(f"{seen.file.location} belongs before data already read of {self._name}")
                known.add(seen.mark)
                yield _Step(Piece(seen.file.location, "late"), seen, 0)
            elif seen.kind == "log":
                known.add(seen.mark)
                yield from self._log_step(index, seen, 0)
            else:
                known.add(seen.mark)
                head = len(seen.head)
                yield _Step(Piece(seen.file.location, "capture", head, mark_of(seen.head), 0, seen.file.size), seen, seen.file.size)

    def _log_step(self, index: int, seen: SeenFile, at: int) -> Iterator[_Step]:
        last = seen.compressed or self._has_later(index)
        if seen.compressed or seen.file.size > at or (last and at):
            stop = None if seen.compressed else seen.file.size
            size = seen.file.size - (0 if seen.compressed else at)
            yield _Step(Piece(seen.file.location, "log", len(seen.head), mark_of(seen.head), at, stop, last), seen, size)

    def _index_of_last(self, following: SeenFile | None) -> int | None:
        for index in range(len(self._files) - 1, -1, -1):
            seen = self._files[index]
            if seen is following or (self._last is not None and self._is_last(seen, self._last)):
                return index
        return None

    def _grown(self, last: int | None) -> Iterator[_Step]:
        """Report that the latest file was still open when it was read."""
        seen, before = None if last is None else self._files[last], self._last
        if seen is None or seen.compressed or before is None or before.size is None or not self._is_last(seen, before):
            return
        if seen.file.size > before.size:
            sizes = f"{before.size:,} bytes then, {seen.file.size:,} now"
            self._lose(f"{seen.file.location} has grown since it was read: {sizes}; a longer closedAfter waits for such files")
            yield _Step(Piece(seen.file.location, "grown", start=before.size), seen, 0)

    def _is_copy(self, seen: SeenFile, log: LogPlace | None) -> bool:
        """Return whether a file begins like the followed log or the latest file, as a copy or a grown file does."""
        if log is not None and seen.begins_as(log.head, log.mark):
            return True
        return self._offset.last is not None and self._is_last(seen, self._offset.last)

    @staticmethod
    def _is_last(seen: SeenFile, last: LastFile) -> bool:
        return seen.begins_as(last.head, last.mark) and (seen.kind == "log" or seen.began_ns == last.began_ns)

    def _is_late(self, index: int, seen: SeenFile, last: int | None) -> bool:
        if last is not None:
            return index < last and seen.began_ns is not None
        before = None if self._offset.last is None else self._offset.last.began_ns
        return before is not None and seen.began_ns is not None and seen.began_ns < before

    def _is_closed(self, index: int) -> bool:
        """Return whether a file is closed; True for plain logs, which are read by lines."""
        seen = self._files[index]
        if seen.kind == "log" and not seen.compressed:
            return True
        if self._now_ns - seen.changed_ns >= self._closed_ns:
            return seen.kind != "unreadable" or not is_log_name(seen.file.name) or self._has_later(index)
        # whoever compresses a file writes to it while later ones are there
        return (
            seen.kind == "capture" and not seen.compressed and any(each.changed_ns >= seen.changed_ns for each in self._files[index + 1 :])
        )

    def _has_later(self, index: int) -> bool:
        log = self._offset.log
        return any(not self._is_copy(later, log) and later.head for later in self._files[index + 1 :])

    def _lose(self, what: str) -> None:
        if self._options.fail_on_data_loss:
            raise InputError(f"{what}; with the option failOnDataLoss=false the stream continues and records it in violations.")

    # What the batch takes of it.

    def take(self, left: int | None, *, must: bool, line_end: LineEnd) -> int | None:
        """Take the first step, or some of its lines, within `left` bytes; return its size, or None if it does not fit.

        With `must`, take one line or file of any size.
        """
        step = self.steps[0]
        piece, seen, size = step.piece, step.seen, step.size
        if left is not None and size > left:
            if piece.kind != "log" or piece.stop is None:
                self.cut = not must
                if self.cut:
                    return None
            else:
                self.cut = True
                piece = replace(piece, last=False)
        if piece.kind == "log" and not piece.last:
            assert piece.stop is not None
            stop = line_end(piece, left if self.cut else None)
            if left is not None and not must and stop - piece.start > left:
                return None  # a single line that is longer
            if stop == piece.start:
                if not step.piece.last:
                    self.steps.pop(0)
                    return None
                piece, stop = replace(piece, last=True), step.piece.stop or stop  # the end of a closed log, all of it one torn line
            piece = replace(piece, stop=stop)
            size = stop - piece.start
        if not (self.cut and piece.stop != step.piece.stop):
            self.steps.pop(0)
        else:
            self.steps[0] = replace(step, piece=replace(step.piece, start=piece.stop or 0))
        self._read.append(piece)
        self._pass(piece, seen)
        return size

    def _pass(self, piece: Piece, seen: SeenFile | None) -> None:
        if piece.kind == "lost":
            self._log = None
            return
        assert seen is not None
        if piece.kind == "log" and not piece.last:
            head = min(HEAD_BYTES, piece.stop or 0, len(seen.head))
            self._log = LogPlace(seen.file.location, head, mark_of(seen.head[:head]), piece.stop or 0)
            return
        self._marks.add(seen.mark)
        if piece.kind == "late":
            return
        if piece.kind == "grown" and self._last is not None:
            self._last = replace(self._last, size=seen.file.size)
            return
        if piece.kind == "log":
            self._log = None
        size = None if seen.compressed else seen.file.size
        head = len(seen.head) if seen.kind == "log" or seen.began_ns is not None else 0
        self._last = LastFile(seen.file.location, head, mark_of(seen.head), size, seen.began_ns)

    def end(self, batch: int, has_state: Callable[[str, int], bool]) -> SeriesOffset | None:
        """Return the offset after the pieces taken, or None."""
        before = self._offset
        changed_ns = max([before.changed_ns, *(seen.changed_ns for seen in self._files)])
        ends_after = self._options.series_ends_after
        over = before.over and not self._read
        if ends_after is not None and not over and not self.steps and not self._is_waiting and (self._read or before.state):
            over = self._now_ns - changed_ns >= ends_after * _SECOND_NS
            if over:
                self._read.append(Piece("", "end"))
        if not self._read:
            return None
        base: int = before.state
        again: tuple[tuple[Piece, ...], ...] = ()
        if before.state and not has_state(self._name, before.state):
            base, again = before.base, (*before.again, before.read)
            if len(again) > _MOST_AGAIN:
                raise InputError(
                    f"{len(again)} batches have left no state of {self._name} in stateLocation: is it a folder that the driver and all "
                    "executors share, and does the query read all rows of its batches?"
                )
        listed = {seen.mark for seen in self._files}
        return SeriesOffset(
            done=frozenset((before.done & listed) | self._marks),
            last=self._last,
            log=self._log,
            changed_ns=changed_ns,
            base=base,
            state=batch,
            again=again,
            read=tuple(self._read),
            over=over,
        )
