"""The rules of plans, each on a small definition made for it: what is expected follows from the definition by hand.

They are those of Kafka's generator (`MessageDataGenerator`, `FieldSpec`, `Versions`): which versions have a field, when it is tagged,
compact or nullable, and what a reader of this version refuses.
"""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec.plan import Absent, Flag, Op, Operation, Plan, compile_plan
from kwire.errors import KwireError
from kwire.schema.definitions import parse_definition


def field(name: str, of: str = "int32", versions: str = "0+", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": of, "versions": versions, **more}


def plan_of(fields: list[dict[str, Any]], version: int, wanted: list[str] | None = None, flexible: str = "none", **more: Any) -> Plan:
    definition = {"type": "data", "name": "Made", "validVersions": "0-3", "flexibleVersions": flexible, "fields": fields, **more}
    return compile_plan(parse_definition(definition, "made.json"), version, wanted)


def operations(plan: Plan, block: int = 0) -> dict[str, Operation]:
    its = plan.blocks[block]
    return {plan.attribute(block, number): plan.operation(number) for number in range(its.first, its.first + its.untagged + its.tagged)}


def kept(plan: Plan, block: int = 0) -> set[str]:
    return {name for name, each in operations(plan, block).items() if not each.flags & Flag.SKIP}


def absent(plan: Plan, block: int = 0) -> dict[int, Absent]:
    return {each.slot: each for each in plan.blocks[block].absent}


POINT = {"commonStructs": [{"name": "Point", "versions": "0+", "fields": [field("X"), field("Y", "int64")]}]}


@pytest.mark.parametrize(
    ("kind", "old", "compact"), [("string", 2, 1), ("bytes", 4, 1), ("records", 4, 1), ("uuid", 16, 16), ("int64", 8, 8)]
)
def test_a_value_takes_at_least_its_length_or_its_size(kind: str, old: int, compact: int) -> None:
    fields = [field("Value", kind)]
    assert operations(plan_of(fields, 0, flexible="1+"))["value"].minimum == old
    assert operations(plan_of(fields, 1, flexible="1+"))["value"].minimum == compact
    assert plan_of(fields, 0, flexible="1+").blocks[0].minimum == old
    assert plan_of(fields, 1, flexible="1+").blocks[0].minimum == compact + 1  # and the count of its tagged fields


def test_bytes_of_records_are_marked() -> None:
    assert operations(plan_of([field("Value", "records")], 0))["value"].flags == Flag.RECORDS
    assert operations(plan_of([field("Value", "bytes")], 0))["value"].flags == 0


def test_an_element_of_no_bytes_counts_as_one() -> None:
    """A struct whose fields are all of later versions: a count of such elements must be bounded too."""
    items = field("Items", "[]Item", fields=[field("Later", versions="2+")])
    assert operations(plan_of([items], 0))["items"].minimum == 1
    assert operations(plan_of([items], 2))["items"].minimum == 4


def test_null_is_for_the_versions_that_say_so() -> None:
    fields = [field("Name", "string", nullableVersions="1-2")]
    assert [operations(plan_of(fields, version))["name"].flags for version in range(4)] == [0, Flag.NULLABLE, Flag.NULLABLE, 0]


def test_a_nullable_struct_takes_its_marker() -> None:
    inner = [field("X", "int64")]
    fields = [field("At", "Point", nullableVersions="1+", fields=inner)]
    assert [operations(plan_of(fields, version))["at"].minimum for version in (0, 1)] == [8, 1]


def test_only_a_tagged_struct_has_a_marker_of_a_varint() -> None:
    inner = [field("X")]
    plain = field("At", "Point", nullableVersions="0+", fields=inner)
    assert operations(plan_of([plain], 0, flexible="0+"))["at"].flags == Flag.NULLABLE
    tagged = {**plain, "tag": 0, "taggedVersions": "0+"}
    assert operations(plan_of([tagged], 0, flexible="0+"))["at"].flags == Flag.NULLABLE | Flag.COMPACT | Flag.TAGGED


def test_a_field_is_tagged_where_its_versions_say_so() -> None:
    """Version 1 has it among the others, version 2 behind them, version 0 not at all, where its tag is refused."""
    fields = [field("Late", "int8", "1+", tag=7, taggedVersions="2+", ignorable=True), field("First", "int16")]
    plans = [plan_of(fields, version, flexible="1+") for version in range(3)]
    assert [list(operations(plan)) for plan in plans] == [["first"], ["late", "first"], ["first", "late"]]
    assert [operations(plan)["late"].tag for plan in plans[1:]] == [-1, 7]
    assert [(plan.blocks[0].untagged, plan.blocks[0].tagged) for plan in plans] == [(1, 0), (2, 0), (1, 1)]
    assert [plan.blocks[0].minimum for plan in plans] == [2, 1 + 2 + 1, 2 + 1]  # a tagged field may be left out
    assert [plan.blocks[0].refused_tags for plan in plans] == [(7,), (7,), ()]
    # What the wire may leave out gets its default; it is no fault to lose it where it is tagged or the version has it.
    assert [absent(plan) for plan in plans] == [{0: Absent(0, 0, 0, True, False)}, {}, {0: Absent(0, 0, 0, True, True)}]


def test_no_field_is_tagged_below_flexible_versions() -> None:
    fields = [field("Late", tag=0, taggedVersions="0+")]
    (old,) = operations(plan_of(fields, 0, flexible="1+")).values()
    assert (old.tag, old.flags) == (-1, 0)
    assert plan_of(fields, 0, flexible="1+").blocks[0].tagged == 0


def test_tagged_fields_are_read_in_the_order_of_their_tags() -> None:
    fields = [field(name, tag=tag, taggedVersions="0+") for name, tag in (("C", 2), ("A", 0), ("B", 1))]
    plan = plan_of(fields, 0, flexible="0+")
    assert [(name, each.tag) for name, each in operations(plan).items()] == [("a", 0), ("b", 1), ("c", 2)]


def test_a_tag_that_another_field_has_now_is_not_refused() -> None:
    fields = [field("Old", versions="0-1", tag=0, taggedVersions="0-1"), field("New", versions="2+", tag=0, taggedVersions="2+")]
    assert [plan_of(fields, version, flexible="0+").blocks[0].refused_tags for version in (1, 2)] == [(), ()]
    assert [list(operations(plan_of(fields, version, flexible="0+"))) for version in (1, 2)] == [["old"], ["new"]]


def test_what_a_version_lacks_says_whether_it_may_be_lost() -> None:
    fields = [field("Here"), field("Kept", versions="1+", default="5"), field("Lost", versions="1+", ignorable=True)]
    assert absent(plan_of(fields, 0)) == {1: Absent(1, 0, 5, False, False), 2: Absent(2, 0, 0, True, False)}
    assert absent(plan_of(fields, 1)) == {}


def test_versions_of_a_field_may_be_less_compact_than_those_of_its_message() -> None:
    """RequestHeader v2's client id is the one that Kafka has."""
    fields = [
        field("Id", "string", flexibleVersions="none"),
        field("Name", "string"),
        field("Names", "[]string"),
        field("Numbers", "[]int32"),
    ]
    found = operations(plan_of(fields, 0, flexible="0+"))
    assert {name: each.flags for name, each in found.items()} == {
        "id": 0, "name": Flag.COMPACT, "names": Flag.COMPACT, "numbers": Flag.COMPACT,
    }  # fmt: skip
    assert {name: (each.code, each.element, each.minimum) for name, each in found.items()} == {
        "id": (Op.STRING, 0, 2), "name": (Op.STRING, 0, 1), "names": (Op.ARRAY, Op.STRING, 1), "numbers": (Op.ARRAY, Op.INT32, 4),
    }  # fmt: skip
    assert plan_of(fields, 0, flexible="0+").blocks[0].minimum == 2 + 1 + 1 + 1 + 1


def test_a_struct_of_two_fields_is_one_block() -> None:
    fields = [field("From", "Point"), field("To", "[]Point")]
    plan = plan_of(fields, 0, **POINT)
    found = operations(plan)
    assert (found["from"].block, found["to"].block, len(plan.blocks)) == (1, 1, 2)
    assert (found["from"].code, found["from"].element, found["from"].minimum) == (Op.STRUCT, 0, 12)
    assert (found["to"].code, found["to"].element, found["to"].minimum) == (Op.ARRAY, Op.STRUCT, 12)
    assert plan.blocks[1].first == 2  # operations, of which the message has two


def test_a_struct_of_two_fields_is_a_block_for_each_projection() -> None:
    fields = [field("From", "Point"), field("To", "Point")]
    plan = plan_of(fields, 0, ["from.x", "to.y"], **POINT)
    found = operations(plan)
    assert kept(plan) == {"from", "to"}
    assert (kept(plan, found["from"].block), kept(plan, found["to"].block)) == ({"x"}, {"y"})


@pytest.mark.parametrize("wanted", [["from", "to"], ["from.x", "from", "to"]])
def test_a_path_to_a_struct_takes_all_in_it(wanted: list[str]) -> None:
    fields = [field("From", "Point"), field("To", "Point"), field("Other")]
    plan = plan_of(fields, 0, wanted, **POINT)
    found = operations(plan)
    assert kept(plan) == {"from", "to"}
    assert kept(plan, found["from"].block) == kept(plan, found["to"].block) == {"x", "y"}
    assert len(plan.blocks) == 2  # built whole in both


def test_what_is_stepped_over_is_one_block_that_skips_nothing() -> None:
    """Stepping over checks all of it, so its fields carry no mark of their own."""
    fields = [field("From", "Point"), field("To", "Point"), field("Other")]
    plan = plan_of(fields, 0, ["other"], **POINT)
    found = operations(plan)
    assert kept(plan) == {"other"}
    assert found["from"].block == found["to"].block
    assert kept(plan, found["from"].block) == {"x", "y"}


def test_what_a_version_lacks_is_built_where_it_is_wanted() -> None:
    fields = [field("Here"), field("Later", versions="1+"), field("Tag", versions="1+", tag=0, taggedVersions="1+")]
    assert set(absent(plan_of(fields, 0, ["later"], "1+"))) == {1}
    assert set(absent(plan_of(fields, 0, ["here"], "1+"))) == set()
    assert set(absent(plan_of(fields, 1, ["tag"], "1+"))) == {2}
    assert set(absent(plan_of(fields, 1, ["here"], "1+"))) == set()  # a tagged field that is stepped over has no slot to fill
    assert set(absent(plan_of(fields, 1, flexible="1+"))) == {2}


def test_paths_that_name_no_field() -> None:
    fields = [field("Items", "[]Item", fields=[field("X")]), field("Other")]
    for path in ("items.y", "other.x", "item", "items.x.z"):
        with pytest.raises(KwireError, match=rf"^Made has no field '{path}'$"):
            plan_of(fields, 0, [path])
    assert kept(plan_of(fields, 0, ["items.x"])) == {"items"}
