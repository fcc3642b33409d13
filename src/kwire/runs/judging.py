"""Verdicts of a complete analysis for other targets, made from its sums; captures are not read again, and nothing is written."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from kwire.analysis.answers import Options, answers_by_key, cluster_of
from kwire.analysis.partials import merge
from kwire.analysis.programs import united
from kwire.runs.finish_task import STEP_BYTES, bits_of
from kwire.runs.merging import given_analyses
from kwire.runs.sums_files import read_bucket_sums, read_whole_sums
from kwire.schema import Release

__all__ = ["judge_again"]


def judge_again(location: str, targets: Sequence[str | Release], broker_release: str | None = None) -> pa.Table:
    """Return `upgrade_impact` for other targets; `broker_release` is that of the analysis by default.

    Raises:
        InputError: the folder has no analysis with sums, or that of another version of kwire.
    """
    [given] = given_analyses([location])
    files = given.sums()
    options = Options(target_releases=targets, broker_release=broker_release or given.manifest["broker_release"])
    options.check()
    cluster = cluster_of(merge(read_whole_sums(location, file) for file in files), options)
    bits = bits_of(files, STEP_BYTES)
    found = []
    for bucket in range(1 << bits):
        sums, _ = united(merge(piece for file in files for piece in read_bucket_sums(location, file, bits, bucket)))
        found.append(answers_by_key(sums, cluster)["upgrade_impact"])
    return pa.concat_tables(found)
