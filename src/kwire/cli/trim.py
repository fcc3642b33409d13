"""`kwire trim`: captures without secrets, for sharing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
import cloup

from kwire.cli.capture_options import group_files_option, ports_option
from kwire.cli.exit_status import INCOMPLETE_INPUT
from kwire.cli.progress import progress_bar
from kwire.cli.redaction_options import redaction_of, with_address_redaction
from kwire.cli.store_options import with_store_options
from kwire.cli.tls_options import with_tls_options
from kwire.errors import InputError

if TYPE_CHECKING:
    from kwire.capture.tls.plaintext_sink import LeftOut
    from kwire.capture.trimming.trim import TrimmedFile

__all__ = ["trim"]


def _target(source: str, out: str, into_folder: bool) -> str:
    return str(Path(out, source.rstrip("/").rpartition("/")[2])) if into_folder else out


def _check_targets(sources: Sequence[str], targets: Sequence[str]) -> None:
    """Raise InputError if two inputs have the same target, or a target is an input."""
    twice = next((target for target in targets if targets.count(target) > 1), None)
    if twice is not None:
        raise InputError(f"two of the captures would be written to {twice}; trim them into different folders")
    for source, target in zip(sources, targets, strict=True):
        if "://" not in source and Path(target).exists() and Path(target).samefile(source):
            raise InputError(f"{source} cannot be written over itself; choose another name")


def _tell(reports: Sequence[TrimmedFile]) -> None:
    from kwire.cli.terminal import printable

    for report in reports:
        taken = report.payload_bytes - report.kept_bytes
        said = f"{report.target}: {report.packets:,} packets; {taken:,} of {report.payload_bytes:,} payload bytes were overwritten"
        click.echo(printable(said), err=True)
        if report.damage:
            click.echo(f"kwire: {printable(report.source)} could not be read to its end: {report.damage}.", err=True)


def _tell_left_out(left_out: LeftOut) -> None:
    for reason, count in sorted(left_out.connections.items()):
        click.echo(f"left out: {count:,} encrypted {'connection' if count == 1 else 'connections'}: {reason}", err=True)
    if left_out.records:
        records = "record" if left_out.records == 1 else "records"
        said = f"left out: {left_out.records:,} {records} of decrypted connections: bytes of them are missing, or no key opens them"
        click.echo(said, err=True)


_INPUT, _OUTPUT = cloup.OptionGroup("Input"), cloup.OptionGroup("Output")


@cloup.command(short_help="Write captures without payloads and secrets, still analysable.")
@cloup.argument("captures", metavar="IN...", nargs=-1, required=True)
@cloup.argument("out", metavar="OUT")
@ports_option("Port where brokers listen; detected by default.", group=_INPUT)
@group_files_option(group=_INPUT)
@cloup.option(
    "--decrypt",
    group=_OUTPUT,
    is_flag=True,
    help="Write connections decrypted with --tls-keys, as exported PDUs in pcapng with secrets overwritten; OUT is no longer encrypted.",
)
@cloup.option("--overwrite", group=_OUTPUT, is_flag=True, help="Replace OUT if it exists.")
@cloup.option(
    "--json", "as_json", group=_OUTPUT, is_flag=True, help="Print one JSON line per file, and with --decrypt one for skipped connections."
)
@with_address_redaction
@with_tls_options
@with_store_options
def trim(
    captures: tuple[str, ...], out: str, ports: tuple[int, ...], series_rule: str, decrypt: bool, overwrite: bool, as_json: bool,
    redact: bool, key_file: str | None, keep_prefix: int | None,
) -> int:  # fmt: skip
    """Write the captures IN to OUT without record contents, SASL tokens, credentials, configuration values and user data.

    The packets keep their times, addresses, lengths and sequence numbers, and an analysis of OUT gives the same tables. Secrets and all
    payload that cannot be decoded are overwritten with x; TLS stays, because it is encrypted.

    Files that are not captures are left out, and the command ends with status 3.

    OUT is a folder when it is one, ends with / or there are several IN; rotated files of one group should be trimmed together. Of
    - (standard input) OUT is a file. The format and the compression stay.

    With --decrypt, OUT has the plaintext of TLS connections with known secrets, and all unencrypted connections, as exported PDUs in
    pcapng. It lacks link layers, outer IP headers and connections that stay encrypted. A summary at the end counts the omitted connections
    and records.

    With --redact --redact-key FILE, addresses in all headers and hosts in messages are pseudonyms; addresses of one network stay in one
    network. Topics, groups, client ids and principals stay, and of TLS only what shows that it is TLS.

    \b
    Examples:
      kwire trim kafka.pcap kafka-trimmed.pcap
      kwire trim captures/eth0-*.pcap.gz trimmed/
      kwire trim kafka.pcap for-the-vendor.pcap --redact --redact-key our.key
      kwire trim encrypted.pcapng plain.pcapng --tls-keys keys.log --decrypt
    """
    from dataclasses import asdict

    from kwire.capture.files.inputs import expand_inputs
    from kwire.capture.files.series import group_series, is_overlap
    from kwire.capture.tls.exported_plaintext import exported_series
    from kwire.capture.tls.plaintext_sink import LeftOut
    from kwire.capture.tls.session_keys import current_tls_options
    from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
    from kwire.capture.trimming.trim import check_capture
    from kwire.capture.trimming.trim import trim as trim_series
    from kwire.cli.terminal import json_line, warn

    if "://" in out:
        raise InputError("trimmed captures are written to disks only, and OUT is a URI; copy them there afterwards")
    if is_overlap(series_rule):
        raise InputError("overlapping captures are trimmed one by one; give --group-files overlap when the trimmed captures are analyzed")
    if current_tls_options().key_logs and not decrypt:
        raise click.UsageError("--tls-keys goes with --decrypt: without it, TLS stays encrypted in OUT.")
    redaction = redaction_of(redact, key_file, keep_prefix)
    pseudonyms = None if redaction is None else AddressPseudonyms(redaction.key, redaction.keep_prefix)

    left_out = LeftOut()

    def opened(sources: Sequence[str | BinaryIO]) -> Sequence[str | BinaryIO]:
        return exported_series(sources, frozenset(ports), left_out) if decrypt else sources

    reports: list[TrimmedFile] = []
    left: list[str] = []
    if captures == ("-",):
        stream: BinaryIO = sys.stdin.buffer
        reports += trim_series([(each, out) for each in opened([stream])], ports, overwrite=overwrite, pseudonyms=pseudonyms)
    else:
        files, missing = expand_inputs(captures)
        into_folder = len(files) + len(missing) > 1 or out.endswith("/") or Path(out).is_dir()
        left += [each.reason for each in missing]
        for file in [*files]:
            try:
                check_capture(file.location)
            except InputError as error:
                left.append(str(error))
                files.remove(file)
        if not files:
            raise InputError(left[0])
        if into_folder:
            Path(out).mkdir(parents=True, exist_ok=True)
        series = [[file.location for file in each.pieces] for each in group_series(files, series_rule)]
        targets = [[_target(source, out, into_folder) for source in sources] for sources in series]
        _check_targets([each for one in series for each in one], [each for one in targets for each in one])
        total, done = sum(file.size for file in files), 0
        with progress_bar("Trimming") as show:

            def progress(count: int) -> None:
                nonlocal done
                done += count
                show("Trimming", done, total)

            for sources, names in zip(series, targets, strict=True):
                renamed = list(zip(opened(sources), names, strict=True))
                made = trim_series(renamed, ports, overwrite=overwrite, progress=progress, pseudonyms=pseudonyms)
                for source, report in zip(sources, made, strict=True):
                    report.source = source
                reports += made
    if as_json:
        for report in reports:
            click.echo(json_line(asdict(report)))
        if decrypt:
            click.echo(json_line({"left_out": asdict(left_out)}))
    else:
        _tell(reports)
        _tell_left_out(left_out)
    for reason in left:
        warn(f"left out: {reason}")
    return INCOMPLETE_INPUT if left else 0
