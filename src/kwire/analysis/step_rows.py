"""Steps of groups between tasks and timelines: rows of `group_steps` with the address of the client.

A group's members talk to its coordinator on connections of their own, and the coordinator may move; so the steps of a group come together
only when all series are merged.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kwire.analysis.row_sums import Connections
from kwire.tables import SeriesRows, SeriesView
from kwire.tables.observed_rows import GROUP_STEPS
from kwire.tables.schemas import TEXT

__all__ = ["STEPS", "steps_of"]

STEPS: Final = GROUP_STEPS.append(pa.field("client_address", TEXT))


def steps_of(rows: SeriesRows | SeriesView, join: Connections) -> pa.Table:
    steps = rows.table("group_steps")
    address = join.take("address", steps.column("connection_id"))
    return steps.append_column("client_address", address).cast(STEPS)
