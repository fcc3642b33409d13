"""`kwire demo`: a report of the sample capture that comes with kwire."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final

import click
import cloup

from kwire.cli.report_options import open_page, show_reports
from kwire.errors import InputError

__all__ = ["OWNERS", "SAMPLE", "demo"]

SAMPLE: Final = "three-brokers.pcap.gz"
"""Capture of 20 clients of many ages on three brokers of Kafka 3.9 (kwire/samples)."""

OWNERS: Final = "three-brokers-owners.csv"
"""Teams of these clients."""


@cloup.command(short_help="Make a report of a sample capture and open it in a browser.")
@cloup.option("--out", default="kwire-demo", show_default=True, metavar="DIR", help="Folder for the capture, the tables and the report.")
@cloup.option("--open/--no-open", "open_it", default=True, show_default=True, help="Open the report in a browser.")
def demo(out: str, open_it: bool) -> None:
    """Analyze the sample capture that comes with kwire and open the report. Needs no Java and no PySpark, and takes a few seconds.

    DIR then holds the capture, the file of owners, and the analysis in DIR/report. A second run replaces them.

    \b
    Examples:
      kwire demo
      kwire demo --out /tmp/kwire-demo --no-open
    """
    from kwire.tables.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    from kwire.cli.running import print_outcome, run_with_bar
    from kwire.report import FILES, summarize, write_reports
    from kwire.runs.job_request import JobRequest

    folder = Path(out)
    if folder.exists() and any(path.name not in (SAMPLE, OWNERS, "report") for path in folder.iterdir()):
        raise InputError(f"{out} holds other files; choose another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    capture, owners, analysis = folder / SAMPLE, folder / OWNERS, str(folder / "report")
    for path in (capture, owners):
        path.write_bytes(resources.files("kwire.samples").joinpath(path.name).read_bytes())
    request = JobRequest(inputs=(str(capture),), out=analysis, engine="local", overwrite=True, owners=str(owners))
    command = f"kwire analyze {capture} --owners {owners} --out {analysis}"
    report = run_with_bar(request, lambda made: write_reports(made, command=command))
    print_outcome(report, summarize(analysis))
    page = f"{analysis}/{FILES['html']}"
    show_reports([page])
    click.echo(f"Rows behind it: kwire inspect {capture}")
    if open_it:
        open_page(page)
