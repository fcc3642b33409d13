"""Places of a message by their paths, for the walks of both backends.

A path is written as in errors, ``topics[2].partitions[0].leader_id``; an array without an index means all its elements. A *leaf* is a field
at the end of a path: a scalar, or an array of scalars. Leaves are found alone (*singles*) or together (*rules*).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kwire.codec.plan import WIDTH, Flag, Op, Plan
from kwire.errors import EncodeError

if TYPE_CHECKING:
    from kwire.codec.edit_actions import EditAction

__all__ = [
    "ANY", "EditPlan", "Leaf", "LeafPlace", "Marking", "Path", "Rule", "RuleShape", "find_array", "find_leaf", "leaf_of", "mark",
    "parse_path",
]  # fmt: skip

ANY: Final = -1  # index of every element

_STEP: Final = re.compile(r"([a-z_][a-z0-9_]*)((?:\[[0-9]{1,10}\])?)", re.ASCII)


class Path(NamedTuple):
    """Parsed path: `fields` without indexes, and attribute and index (`ANY` for none) of each step."""

    fields: str
    steps: tuple[tuple[str, int], ...]


@lru_cache(maxsize=1024)
def parse_path(text: str) -> Path:
    """Read a path."""
    steps = []
    for part in text.split("."):
        found = _STEP.fullmatch(part)
        if found is None:
            raise EncodeError(f"{text!r} is an invalid path; use topics[2].name for one element or topics.name for all")
        steps.append((found[1], int(found[2][1:-1]) if found[2] else ANY))
    return Path(".".join(name for name, _ in steps), tuple(steps))


class Rule(NamedTuple):
    """Fields that change together: paths of fields to read and of fields to write, without indexes."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Leaf(NamedTuple):
    """Field at the end of paths; `single` is its number among the singles, `register` its place for rules, -1 for none."""

    operation: int
    code: int
    compact: bool
    nullable: bool
    single: int
    register: int


class RuleShape(NamedTuple):
    """Rule of a plan: the struct at whose end it is applied, and its registers, -1 for fields that the version lacks."""

    block: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class Marking(NamedTuple):
    """Leaves that a walk finds, in a plan that has them as its projection."""

    plan: Plan
    leaves: tuple[Leaf, ...]
    singles: tuple[int, ...]  # leaf of each, an index of `leaves`
    rules: tuple[RuleShape, ...]
    registers: tuple[int, ...]  # leaf of each
    owners: tuple[int, ...]  # block in which each register is filled; the register is cleared at the block's beginning
    elements: tuple[int, ...] = ()  # operations of arrays of structs whose elements the walk records, because an edit may drop some


class EditPlan(NamedTuple):
    """Places that an edit changes, and an action for each.

    Attributes:
        patterns: for splices by path, the indexes of each choice of a single: `ANY` for every element, None for all places. No place
            matches two choices. Without patterns, each single is a choice.
    """

    marking: Marking
    singles: tuple[EditAction, ...] = ()
    rules: tuple[EditAction, ...] = ()
    patterns: tuple[tuple[tuple[int, ...] | None, ...], ...] = ()


class LeafPlace(NamedTuple):
    """Field in a plan: the structs on its path, the message first; its operation; and for each step, whether it is an array."""

    blocks: tuple[int, ...]
    operation: int
    arrays: tuple[bool, ...]


def find_array(plan: Plan, fields: str) -> int | None:
    """Find the operation of the innermost array of structs around a field, or None."""
    names = fields.split(".")
    for count in range(len(names) - 1, 0, -1):
        place = find_leaf(plan, ".".join(names[:count]), structs=True)
        if place is not None and place.arrays[-1]:
            return place.operation
    return None


def find_leaf(plan: Plan, fields: str, structs: bool = False) -> LeafPlace | None:
    """Find a field by its path without indexes; return None if the version lacks it, raise EncodeError if no version has it."""
    layouts = {layout.name: layout for layout in plan.layouts}
    layout, names = plan.layouts[0], fields.split(".")
    block: int | None = 0
    blocks, arrays, number = [0], [], -1
    for at, name in enumerate(names):
        slot = next((index for index, each in enumerate(layout.slots) if each.attribute == name), -1)
        kind = layout.slots[slot].type.removeprefix("[]") if slot >= 0 else ""
        last = at == len(names) - 1
        if last and kind in layouts and not structs:
            raise EncodeError("structs are here; name a field of them", path=fields, message=plan.message, api_version=plan.version)
        if not kind or (not last and kind not in layouts):
            raise EncodeError("there is no such field", path=fields, message=plan.message, api_version=plan.version)
        if not last:
            layout = layouts[kind]
        if block is None:
            continue
        found = plan.blocks[block]
        wire = range(found.first, found.first + found.untagged + found.tagged)
        number = next((index for index in wire if plan.ops[index * WIDTH + 1] == slot), -1)
        if number < 0:
            block = None  # go on: is there such a field in any version?
            continue
        operation = plan.operation(number)
        arrays.append(operation.code == Op.ARRAY)
        block = operation.block
        if not last:
            blocks.append(block)
    return None if block is None else LeafPlace(tuple(blocks), number, tuple(arrays))


def leaf_of(plan: Plan, number: int) -> Leaf:
    """Create the leaf of an operation, which is not yet a single or a member of a rule."""
    operation = plan.operation(number)
    array = operation.code == Op.ARRAY
    nullable = bool(operation.flags & Flag.NULLABLE) and not array  # Kafka has no nulls in arrays of strings or bytes
    return Leaf(number, operation.element if array else operation.code, bool(operation.flags & Flag.COMPACT), nullable, -1, -1)


def mark(plan: Plan, singles: tuple[str, ...], rules: tuple[Rule, ...], dropped: tuple[str, ...] = ()) -> Marking:
    """Find the leaves in a plan, which has all singles and all fields that the rules write.

    An edit may drop the element of the nearest array of structs around the leaves `dropped`. Raises ValueError for a rule that writes to
    several structs or into an array, or reads a field that is not in a surrounding struct or comes later.
    """
    places: dict[str, LeafPlace] = {}
    leaves: dict[int, Leaf] = {}

    def leaf(fields: str) -> LeafPlace | None:
        place = places.get(fields) or find_leaf(plan, fields)
        if place is not None:
            places[fields] = place
            leaves.setdefault(place.operation, leaf_of(plan, place.operation))
        return place

    single_numbers = []
    for at, fields in enumerate(singles):
        place = leaf(fields)
        if place is None:
            raise ValueError(f"{plan.message} v{plan.version} has no {fields}")
        leaves[place.operation] = leaves[place.operation]._replace(single=at)
        single_numbers.append(place.operation)
    registers: list[int] = []
    owners: list[int] = []

    def register(fields: str, blocks: tuple[int, ...]) -> int:
        place = leaf(fields)
        if place is None:
            return -1
        way, number = place.blocks, place.operation
        if blocks[: len(way)] != way or place.arrays[-1]:
            raise ValueError(f"{plan.message} v{plan.version}: {fields} is not one value of the struct or of one around it")
        if len(way) < len(blocks):  # what is read around a struct has to be there before the struct is
            inner = next(each for each in range(len(plan.ops) // WIDTH) if plan.operation(each).block == blocks[len(way)])
            if inner < number:
                raise ValueError(f"{plan.message} v{plan.version}: {fields} must precede the value that it describes")
        if leaves[number].register < 0:
            leaves[number] = leaves[number]._replace(register=len(registers))
            registers.append(number)
            owners.append(way[-1])
        return leaves[number].register

    shapes = []
    for rule in rules:
        written = [leaf(fields) for fields in rule.writes]
        blocks = {place.blocks if place is not None else None for place in written}
        if len(blocks) != 1 or (struct := blocks.pop()) is None:
            raise ValueError(f"{plan.message} v{plan.version}: {', '.join(rule.writes)} are not in one struct")
        writes = tuple(register(fields, struct) for fields in rule.writes)
        shapes.append(RuleShape(struct[-1], tuple(register(fields, struct) for fields in rule.reads), writes))
    order = sorted(leaves)
    index = {number: at for at, number in enumerate(order)}
    return Marking(
        plan, tuple(leaves[number] for number in order), tuple(index[number] for number in single_numbers), tuple(shapes),
        tuple(index[number] for number in registers), tuple(owners),
        tuple(sorted({array for fields in dropped if (array := find_array(plan, fields)) is not None})),
    )  # fmt: skip
