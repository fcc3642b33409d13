"""Table `group_events`: steps of group members, and the resulting rebalances.

Steps stay in columns because there may be millions; rebalances are made from a few of their columns as Python rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Columns, flat, rows_of, with_columns
from kwire.analysis.group_timelines import STEP_COLUMNS, Rebalance, timeline
from kwire.analysis.partials import Partial
from kwire.protocol.groups import PROTOCOL_TYPES
from kwire.schema import error_name
from kwire.tables.schemas import GROUP_EVENTS, INT, LONG, TEXT

__all__ = ["group_events"]

_OF_STEP: Final = (
    "series", "capture", "connection_id", "request_index", "group_id", "protocol", "client_key", "client_id", "client_address",
    "protocol_type", "protocol_name", "leader",
)  # fmt: skip
_OF_CLIENT: Final = ("client_key", "client_id", "client_address")
_OF_REBALANCE: Final = (
    "event", "member_id", "group_instance_id", "trigger_member_id", "generation", "members_before", "members_after", "time", "duration_us",
    "reason", "diff",
)  # fmt: skip
# What a timeline of classic members is made from; of other members it is every step.
_TELLING: Final = pa.array(["join", "sync", "leave"])
_READABLE: Final = pa.array(list(PROTOCOL_TYPES))
_BY_TOPIC_ID: Final = pa.array(["consumer", "share"])
_ORDER: Final = ("group_id", "time", "event", "connection_id", "request_index")
# The step that a row was made from, by its number among the steps.
_STEP: Final = "step"
_Event = tuple[Any, ...]  # the number of its step, and values of `_OF_REBALANCE`


def group_events(partial: Partial) -> pa.Table:
    steps = _typed(partial["group_steps"].sort_by([("group_id", "ascending"), ("time", "ascending")]))
    steps = _with_topic_names(steps, partial["topic_names"])
    numbered = steps.select(["group_id", *STEP_COLUMNS]).append_column(_STEP, pa.array(np.arange(len(steps))))
    telling: Any = pc.is_in(steps.column("event"), value_set=_TELLING)
    newer: Any = pc.fill_null(pc.not_equal(steps.column("protocol"), pa.scalar("classic")), pa.scalar(True))
    found: list[_Event] = []
    for _group, of_group in groupby(rows_of(numbered.filter(pc.or_(telling, newer))), key=itemgetter("group_id")):
        for rebalance in timeline(list(of_group)):
            found += _of_rebalance(rebalance)
    events = pa.concat_tables([_of_steps(steps), _of_rebalances(found, steps)])
    return events.sort_by([(column, "ascending") for column in _ORDER])


def _typed(steps: pa.Table) -> pa.Table:
    """Fill in the protocol type of syncs without one (SyncGroup below v5) from the group's previous join.

    Their assignments were read as those of consumers or of Connect, and are dropped for other types.
    """
    types, groups, given = (flat(steps, name) for name in ("protocol_type", "group_id", "assignment"))
    told: Any = pc.is_valid(types)
    nothing = pa.scalar(None, TEXT)
    same: Any = pc.equal(pc.fill_null_forward(pc.if_else(told, groups, nothing)), groups)
    silent: Any = pc.and_(pc.equal(flat(steps, "event"), pa.scalar("sync")), pc.invert(told))
    known: Any = pc.if_else(pc.and_(silent, pc.fill_null(same, False)), pc.fill_null_forward(types), nothing)
    other: Any = pc.and_(pc.is_valid(known), pc.invert(pc.is_in(known, value_set=_READABLE)))
    assignment = pc.if_else(other, pa.scalar(None, given.type), given)
    return with_columns(steps, {"protocol_type": pc.coalesce(types, known), "assignment": assignment})


def _with_topic_names(steps: pa.Table, names: pa.Table) -> pa.Table:
    """Replace topic ids by names in assignments of KIP-848 and KIP-932, which have only ids; an unknown id stays."""
    lists = flat(steps, "assignment")
    by_id = dict(zip(names.column("topic_id").to_pylist(), names.column("topic").to_pylist(), strict=True))
    has_ids: Any = pc.is_in(flat(steps, "protocol"), value_set=_BY_TOPIC_ID)
    coded = lists.flatten().dictionary_encode()
    parts = [text.partition(":") for text in coded.dictionary.to_pylist()]
    named = pa.array([f"{by_id.get(topic, topic)}{colon}{numbers}" for topic, colon, numbers in parts], TEXT)
    texts = pc.if_else(has_ids.take(pc.list_parent_indices(lists)), named.take(coded.indices), lists.flatten())
    found = pa.ListArray.from_arrays(_offsets(lists), texts, mask=pc.is_null(lists)) if len(lists) else lists
    return with_columns(steps, {"assignment": found})


def _offsets(lists: Any) -> Any:
    """Return offsets into the flattened values; nulls have no values."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), INT)


def _of_steps(steps: pa.Table) -> pa.Table:
    codes = flat(steps, "error_code").dictionary_encode()
    names = pa.array([error_name(code) if code else None for code in codes.dictionary.to_pylist()], TEXT)
    duration: Any = pc.subtract(steps.column("response_time").cast(LONG), steps.column("time").cast(LONG))
    more = {"error_name": names.take(codes.indices), "duration_us": duration}
    return _events({name: steps.column(name) for name in steps.column_names} | more, len(steps))


def _events(found: Columns, count: int) -> pa.Table:
    columns: list[Any] = [found[field.name] if field.name in found else pa.nulls(count, field.type) for field in GROUP_EVENTS]
    return pa.table(columns, schema=GROUP_EVENTS)


def _of_rebalances(found: list[_Event], steps: pa.Table) -> pa.Table:
    numbers, *values = zip(*found, strict=True) if found else [()] * (1 + len(_OF_REBALANCE))
    own = {name: pa.array(column, GROUP_EVENTS.field(name).type) for name, column in zip(_OF_REBALANCE, values, strict=True)}
    of_step = steps.select(_OF_STEP).take(pa.array(numbers, INT))
    expired: Any = pc.equal(own["event"], pa.scalar("expired"))
    shown = {name: of_step.column(name) for name in _OF_STEP}
    # the client of the step is not the member that is gone
    shown |= {name: pc.if_else(expired, pa.scalar(None, TEXT), shown[name]) for name in _OF_CLIENT}
    return _events(shown | own, len(found))


def _of_rebalance(rebalance: Rebalance) -> Iterator[_Event]:
    step, trigger, time = rebalance.step[_STEP], rebalance.trigger, rebalance.time
    both = (trigger, rebalance.generation, len(rebalance.before), len(rebalance.after), time)
    duration = None if rebalance.ended is None else rebalance.ended - time
    yield (step, "rebalance", trigger, None, *both, duration, rebalance.reason, rebalance.diff)
    for member_id in rebalance.expired:
        yield (step, "expired", member_id, rebalance.before[member_id].instance_id, *both, None, None, None)
