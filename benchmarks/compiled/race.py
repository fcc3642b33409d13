"""kwire beside compiled decoders of the same bytes: one table of nanoseconds a message. `make peers`.

Java (kafka-clients), Go (franz-go's kmsg) and Rust (kafka-protocol) are built from their registries; one that cannot be built is named and
left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from programs import BUILDS, Unbuilt

from decoder_process import DecoderProcess
from frames import Corpus
from kwire import __version__
from kwire.codec.classes import CompiledCatalog
from kwire.codec.columns import Columns
from kwire.codec.decoding import FrameReader
from kwire.codec.header_scan import HeaderScan
from kwire.schema import catalog

ROUND_SECONDS = 0.1  # what kwire's objects take for a round; the others decode as many messages
OBJECTS, VIEWS, COLUMNS = "kwire objects", "kwire views", "kwire columns"

COMPILED = CompiledCatalog(catalog(), "native")
READER = FrameReader(COMPILED)


@dataclass(frozen=True)
class Work:
    """A line of the table.

    Attributes:
        title: what it is called there.
        messages: what is decoded.
        objects: kwire's call for one message.
        seen: what the first pass of a contender counts, of one message that kwire decoded.
        columns: kwire's call for all messages together, None where it has none.
        views: kwire's calls for all messages that leave records where they are; None for messages without records.
    """

    title: str
    messages: list[bytes]
    objects: Callable[[bytes], Any]
    seen: Callable[[Any], int]
    columns: Callable[[], Any] | None
    views: Callable[[], Any] | None = None


def body(title: str, name: str, version: int, topics: str, partitions: str, messages: list[bytes], records: bool = False) -> Work:
    to_arrow = Columns(COMPILED).to_arrow
    decode = COMPILED.decoder(name, version).decode_whole

    def views() -> None:
        for message in messages:
            decode(message, 0, False, True)

    return Work(
        title,
        messages,
        decode,
        lambda message: sum(len(getattr(topic, partitions)) for topic in getattr(message, topics)),
        lambda: to_arrow(name, messages, version),
        views if records else None,
    )


def works() -> dict[str, Work]:
    """The lines of the table, under the names that the programs know them by."""
    corpus = Corpus()
    headers = [corpus.next_header(1, 12) + bytes(100) for _ in range(1000)]
    stream = b"".join(struct.pack(">i", len(frame)) + frame for frame in headers)
    scan = HeaderScan(COMPILED).scan_headers
    responses = [corpus.fetch_response() for _ in range(20)]
    requests = [corpus.fetch_request() for _ in range(50)]
    metadata = [corpus.metadata_response() for _ in range(50)]
    produced = [corpus.produce_request(1, 10_000) for _ in range(100)]
    return {
        "fetch-response": body("FetchResponse v12, 50 x 6, 1 KB each", "FetchResponse", 12, "responses", "partitions", responses, True),
        "fetch-request": body("FetchRequest v12, 50 x 6", "FetchRequest", 12, "topics", "partitions", requests),
        "metadata": body("MetadataResponse v12, 50 x 6", "MetadataResponse", 12, "topics", "partitions", metadata),
        "produce": body("ProduceRequest v9, 10 KB", "ProduceRequest", 9, "topic_data", "partition_data", produced, True),
        "requests": Work(
            "mixed requests, header and body",
            corpus.request_stream(1000),
            READER.decode_request,
            lambda message: int(message.header.correlation_id),
            None,
        ),
        "headers": Work("request header v2", headers, READER.peek_header, lambda header: int(header.correlation_id), lambda: scan(stream)),
    }


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def contest(name: str, work: Work, commands: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """The median nanoseconds a message of each contender; a round of each, then one of each again."""

    def objects() -> None:
        decode = work.objects
        for message in work.messages:
            decode(message)

    expected = sum(work.seen(work.objects(message)) for message in work.messages)
    repeats = max(1, round(ROUND_SECONDS / min(seconds(objects) for _ in range(3))))

    def timed(run: Callable[[], Any]) -> float:
        return seconds(lambda: [run() for _ in range(repeats)]) * 1e9 / repeats / len(work.messages)

    contenders: dict[str, Callable[[], float]] = {OBJECTS: lambda: timed(objects)}
    if work.views is not None:
        views = work.views
        contenders[VIEWS] = lambda: timed(views)
    if work.columns is not None:
        columns = work.columns
        contenders[COLUMNS] = lambda: timed(columns)
    took: dict[str, list[float]] = {}
    started: list[DecoderProcess] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for peer, command in commands.items():
                started.append(process := DecoderProcess(command, name, work.messages, Path(folder), repeats))
                if process.first != expected:
                    raise ValueError(f"{peer} decodes {work.title} otherwise than kwire: it counts {process.first}, kwire {expected}")
                contenders[peer] = process.nanoseconds
            for _ in range(rounds):
                for contender, once in contenders.items():
                    took.setdefault(contender, []).append(once())
        finally:
            for process in started:
                process.close()
    return {contender: median(each) for contender, each in took.items()}


def shown(nanoseconds: float | None) -> str:
    if nanoseconds is None:
        return "-"
    return f"{nanoseconds:.0f} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:.{1 if nanoseconds < 100_000 else 0}f} us"


def table(figures: dict[str, dict[str, float]], peers: list[str]) -> list[str]:
    """Lines of Markdown: a line a work, a column a contender."""
    contenders = [OBJECTS, VIEWS, COLUMNS, *peers]
    lines = [f"| Time of one message | {' | '.join(contenders)} |", "|---" * (len(contenders) + 1) + "|"]
    for title, took in figures.items():
        lines.append(f"| {title} | {' | '.join(shown(took.get(contender)) for contender in contenders)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=31, help="rounds of each contender, of which the median is shown (31)")
    parser.add_argument("--only", help="works, with commas between them: fetch-response, requests, ...")
    parser.add_argument("--json", type=Path, help="where the figures are written, in nanoseconds")
    arguments = parser.parse_args()
    commands: dict[str, list[str]] = {}
    notes = [f"kwire {__version__}, {platform.python_implementation()} {platform.python_version()}"]
    for peer, build in BUILDS.items():
        try:
            note, commands[peer] = build()
        except Unbuilt as reason:
            note = f"{peer}: not built, {reason}"
        notes.append(note)
    chosen = {name: work for name, work in works().items() if not arguments.only or name in arguments.only.split(",")}
    figures = {work.title: contest(name, work, commands, arguments.rounds) for name, work in chosen.items()}
    print(f"{date.today()}, {platform.machine()}, medians of {arguments.rounds} rounds in turns. {'; '.join(notes)}.\n")
    print("\n".join(table(figures, list(commands))))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
