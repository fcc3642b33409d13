"""Used versions of each api, and what the newest target release does to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import pyarrow.compute as pc

from kwire.analysis.digests.of_clients import VERDICTS
from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.records import record

__all__ = ["HEAT_STEPS", "VERSIONS_SHOWN", "ApiVersions", "VersionCell", "VersionGrid", "read_version_grid"]

HEAT_STEPS: Final = 5
VERSIONS_SHOWN: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCell:
    """Requests of one api at one version; `heat` is 1 to `HEAT_STEPS` on a logarithmic scale."""

    version: int
    requests: int
    errors: int
    clients: int
    heat: int
    verdict: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersions:
    """One api: a cell for each version up to the highest in use anywhere, None if unused.

    `odd_requests` counts requests with versions that no release comes near (below 0, or `VERSIONS_SHOWN` and above).
    """

    api_name: str
    api_key: int | None
    requests: int
    cells: tuple[VersionCell | None, ...]
    odd_requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionGrid:
    """Apis by key x versions; `target` is the release whose verdicts the cells carry, empty without any."""

    apis: tuple[ApiVersions, ...]
    versions: tuple[int, ...]
    target: str
    most: int


def read_version_grid(folder: AnalysisFolder, target: str) -> VersionGrid:
    """Read the versions that all clients use, with the verdicts of a target; empty for none."""
    sums = folder.digest["api_versions"].to_pylist()
    counts = [row["requests"] or 0 for row in sums] or [0]
    fewest, most = min(counts), max(counts)
    verdicts = _worst_verdicts(folder, target)
    by_api: dict[tuple[int, str], dict[int, VersionCell]] = {}
    for row in sums:
        api = -1 if row["api_key"] is None else row["api_key"], row["api_name"] or f"api {row['api_key']}"
        version = row["api_version"]
        by_api.setdefault(api, {})[version] = record(
            VersionCell,
            row,
            version=version,
            heat=_heat(row["requests"] or 0, fewest, most),
            verdict=verdicts.get((row["api_name"], version)),
        )
    versions = range(1 + max((version for cells in by_api.values() for version in cells if _is_plausible(version)), default=-1))
    return VersionGrid(
        apis=tuple(
            ApiVersions(
                api_name=name,
                api_key=key if key >= 0 else None,
                requests=sum(cell.requests for cell in cells.values()),
                cells=tuple(cells.get(version) for version in versions),
                odd_requests=sum(cell.requests for version, cell in cells.items() if not _is_plausible(version)),
            )
            for (key, name), cells in sorted(by_api.items())
        ),
        versions=tuple(versions),
        target=target if verdicts else "",
        most=most,
    )


def _is_plausible(version: int) -> bool:
    return 0 <= version < VERSIONS_SHOWN


def _heat(requests: int, fewest: int, most: int) -> int:
    if most <= fewest:
        return HEAT_STEPS
    low = math.log(max(fewest, 1))
    place = (math.log(max(requests, 1)) - low) / (math.log(most) - low or 1)
    return min(HEAT_STEPS, 1 + int(HEAT_STEPS * place))


def _worst_verdicts(folder: AnalysisFolder, target: str) -> dict[tuple[str, int], str]:
    worst = rows_of(folder.digest, "api_verdicts", pc.field("target_release") == target)
    return {(row["api_name"], row["api_version"]): VERDICTS[row["rank"]] for row in worst}
