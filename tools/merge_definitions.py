"""Merges the definitions of one message from many releases into one definition over all versions ever released.

Rule: a version looks as the newest release that has it defines it. The merge takes each definition apart into
(struct, version) -> fields, picks per version the newest source, and puts the fields together again with version ranges.
`check` takes the result apart once more and compares it with every source; what an older release defined otherwise under the
same version number comes back as a note.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from kafka_jars import minor_of
from kwire.schema.header_versions import derive_header_versions
from kwire.schema.layout import LayoutField, fields_at, paired_fields, wire_shape
from kwire.schema.model import NO_VERSIONS, Field, Message, Struct, Versions, camel_name
from kwire.schema.release_table import release_key


class MergeError(Exception):
    """Error of sources that do not fit into one definition."""


@dataclass
class Source:
    """A definition with the release it is from."""

    release: str
    message: Message


@dataclass
class _Strand:
    """A field of one struct over versions: `at` has the field as the version's source defines it."""

    at: dict[int, Field] = field(default_factory=dict)

    @property
    def newest(self) -> Field:
        return self.at[max(self.at)]


def _tight(present: set[int], absent: set[int], versions_of_message: list[int], own: Versions | None) -> Versions:
    """Return the range with `present` and nothing of `absent`; the definition's `own` spelling if it is equal."""
    if own is not None and all(v in own for v in present) and not any(v in own for v in absent):
        return own
    if not present:
        return NO_VERSIONS
    highest = max(present)
    found = Versions(min(present), Versions.OPEN if highest == versions_of_message[-1] else highest)
    if any(v in found for v in absent):
        raise MergeError(f"versions {sorted(present)} without {sorted(absent)} are no range")
    return found


def _rename_structs(message: Message, newer: Message) -> Message:
    """Give the structs of an older definition the names that the newer one has for the same field paths."""
    names: dict[str, str] = {}

    def pair(old: tuple[Field, ...], new: tuple[Field, ...]) -> None:
        by_name = {each.name: each for each in new}
        for each in old:
            other = by_name.get(each.name)
            if other is None or not (each.is_struct and other.is_struct):
                continue
            if each.element_type in names:
                continue
            names[each.element_type] = other.element_type
            pair(message.structs[each.element_type].fields, newer.structs[other.element_type].fields)

    pair(message.fields, newer.fields)
    wanted = {old: new for old, new in names.items() if old != new}
    if not wanted:
        return message

    def rename(fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(
            replace(
                each, type=("[]" if each.is_array else "") + wanted.get(each.element_type, each.element_type), fields=rename(each.fields)
            )
            for each in fields
        )

    structs = {
        wanted.get(name, name): Struct(wanted.get(name, name), struct.versions, rename(struct.fields))
        for name, struct in message.common_structs.items()
    }
    return replace(message, fields=rename(message.fields), common_structs=structs)


def _order(lists: list[list[str]]) -> list[str]:
    """Return one order that agrees with every list; among free names, the first lists decide."""
    after: dict[str, set[str]] = defaultdict(set)
    names: list[str] = []
    for each in lists:
        for position, name in enumerate(each):
            if name not in names:
                names.append(name)
            after[name].update(each[:position])
    ordered: list[str] = []
    while names:
        free = next((name for name in names if not after[name] & (set(names) - {name})), None)
        if free is None:
            raise MergeError(f"no order fits for {names}")
        ordered.append(free)
        names.remove(free)
    return ordered


def merge(sources: list[Source]) -> tuple[Message, dict[int, str]]:
    """Merge the definitions of one message, the newest release first; return the result, and the release that each version was taken
    from."""
    living = [each for each in sources if each.message.valid_versions]
    newest = living[0].message
    picked: dict[int, tuple[str, Message]] = {}
    for source in living:
        message = source.message if source.message is newest else _rename_structs(source.message, newest)
        for version in message.valid_versions:
            picked.setdefault(version, (source.release, message))
    versions = sorted(picked)

    # struct name -> field name -> strand, and the orders seen
    strands: dict[str, dict[str, _Strand]] = defaultdict(lambda: defaultdict(_Strand))
    orders: dict[str, list[list[str]]] = defaultdict(list)
    uses: dict[str, set[tuple[str, str]]] = defaultdict(set)
    lacking: dict[tuple[str, str], dict[int, bool]] = defaultdict(dict)  # struct and field -> version without it -> ignorable
    common: set[str] = set()
    for version in sorted(versions, reverse=True):
        message = picked[version][1]
        common.update(message.common_structs)
        seen: set[str] = set()

        def walk(struct: str, fields: tuple[Field, ...], message: Message = message, version: int = version, seen: set[str] = seen) -> None:
            if struct in seen:
                return
            seen.add(struct)
            there = [each for each in fields if version in each.versions]
            for each in fields:
                if version not in each.versions:
                    lacking[struct, each.name][version] = each.ignorable
            order = [each.name for each in there]
            if order not in orders[struct]:
                orders[struct].append(order)
            for each in there:
                strands[struct][each.name].at[version] = each
                if each.is_struct:
                    uses[each.element_type].add((struct, each.name))
                    walk(each.element_type, message.structs[each.element_type].fields)

        walk(newest.name, message.fields)

    def ranges(struct: str, struct_versions: set[int], strand: _Strand) -> Field:
        model = strand.newest
        # It matters where a version lacks the field; 4.0, which dropped request header 0, no longer calls ClientId ignorable.
        without = lacking[struct, model.name]
        present = set(strand.at)
        for name in ("type", "default"):
            if len({getattr(each, name) for each in strand.at.values()}) > 1:
                raise MergeError(f"{newest.name}: {name} of {model.name} differs by version: {strand.at}")
        tags = {each.tag for v, each in strand.at.items() if v in each.tagged_versions}
        if len(tags) > 1:
            raise MergeError(f"{newest.name}: tag of {model.name} differs by version")

        def part(attribute: str) -> Versions:
            inside = {v for v, each in strand.at.items() if v in (getattr(each, attribute) or NO_VERSIONS)}
            return _tight(inside, present - inside, versions, getattr(model, attribute)) if inside else NO_VERSIONS

        return replace(
            model,
            versions=_tight(present, struct_versions - present, versions, model.versions),
            nullable_versions=part("nullable_versions"),
            tagged_versions=part("tagged_versions"),
            tag=next(iter(tags), None),
            ignorable=without[max(without)] if without else model.ignorable,
            fields=(),
        )

    shared = {name for name in strands if name != newest.name and (name in common or len(uses[name]) > 1)}

    def build(struct: str) -> tuple[Field, ...]:
        struct_versions = {v for strand in strands[struct].values() for v in strand.at}
        built = []
        for name in _order(orders[struct]):
            each = ranges(struct, struct_versions, strands[struct][name])
            if each.is_struct and each.element_type not in shared:
                each = replace(each, fields=build(each.element_type))
            built.append(each)
        return tuple(built)

    flexible = {v for v in versions if picked[v][1].is_flexible(v)}
    flexible_versions = _tight(flexible, set(versions) - flexible, versions, newest.flexible_versions)
    key = next((each.message.api_key for each in sources if each.message.api_key is not None), None)
    merged = replace(
        newest,
        api_key=key,
        valid_versions=Versions(versions[0], versions[-1]),
        flexible_versions=flexible_versions,
        header_versions=derive_header_versions(newest.kind, key, flexible_versions),
        fields=build(newest.name),
        common_structs={
            name: Struct(name, Versions(min(v for s in strands[name].values() for v in s.at), Versions.OPEN), build(name))
            for name in sorted(shared, key=list(strands).index)
        },
    )
    return merged, {version: release for version, (release, _) in picked.items()}


def check(merged: Message, taken: dict[int, str], sources: list[Source]) -> list[str]:
    """Compare the merged definition with every source at every version; raise MergeError for a difference.

    Returns a sentence for each layout of older releases under a version number that a newer one defines otherwise.
    """
    others: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for source in sources:
        for version in source.message.valid_versions:
            theirs, ours = fields_at(source.message, version), fields_at(merged, version)
            same_rules = source.message.is_flexible(version) == merged.is_flexible(version)
            if taken[version] == source.release:
                if _plain(theirs) != _plain(ours) or not same_rules:
                    raise MergeError(f"{merged.name} v{version} is not as in {source.release}:\n{_plain(theirs)}\n{_plain(ours)}")
            elif wire_shape(theirs) != wire_shape(ours) or not same_rules:
                difference = "; ".join(_differences(theirs, ours)) or "the fields stand in another order"
                others[difference if same_rules else "it is not flexible"][version].append(source.release)
    notes = []
    for difference, by_version in others.items():
        versions = sorted(by_version)
        releases = [release for source in sources if any((release := source.release) in each for each in by_version.values())]
        notes.append(f"Version {Versions(versions[0], versions[-1])} in {_span(releases)}: {difference}.")
    return sorted(notes)


_Layouts = list[tuple[str, int, tuple[LayoutField, ...]]]  # release, version, and the fields that the release gave it
_Names = dict[tuple[str, str], dict[str, str]]  # struct and field -> former name -> last minor release


def _former_names(merged: Message, layouts: _Layouts) -> _Names:
    found: _Names = defaultdict(dict)

    def walk(struct: str, theirs: tuple[LayoutField, ...], ours: tuple[LayoutField, ...], release: str) -> None:
        for old, new in paired_fields(theirs, ours):
            if camel_name(old.name) != camel_name(new.name):
                found[struct, new.name].setdefault(old.name, release)
            walk(new.type.removeprefix("[]"), old.fields, new.fields, release)

    for release, version, fields in sorted(layouts, key=lambda each: release_key(each[0]), reverse=True):
        if version in merged.valid_versions:
            walk(merged.name, fields, fields_at(merged, version), minor_of(release))
    return found


def with_former_names(merged: Message, defined: _Layouts, coded: _Layouts) -> Message:
    """Add the names that releases gave to fields of the merged definition: in their definitions, and in their code."""
    former, in_code = _former_names(merged, defined), _former_names(merged, coded)

    def named(struct: str, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(
            replace(
                each,
                former_names=tuple(former[struct, each.name].items()),
                names_in_code=tuple(item for item in in_code[struct, each.name].items() if item[0] not in former[struct, each.name]),
                fields=named(each.element_type, each.fields),
            )
            for each in fields
        )

    common = {name: replace(struct, fields=named(name, struct.fields)) for name, struct in merged.common_structs.items()}
    return replace(merged, fields=named(merged.name, merged.fields), common_structs=common)


def _differences(old: tuple[LayoutField, ...], new: tuple[LayoutField, ...], path: str = "") -> list[str]:
    """Describe differences on the wire, old against new; fields are matched by name, renamed ones by position."""
    found = []
    by_name = {each.name: each for each in new}
    only_old = [each for each in old if each.name not in by_name]
    only_new = [each for each in new if each.name not in {one.name for one in old}]
    if len(only_old) == len(only_new) and all(
        (a.type.startswith("[]"), bool(a.fields)) == (b.type.startswith("[]"), bool(b.fields))
        for a, b in zip(only_old, only_new, strict=True)
    ):
        by_name.update((a.name, b) for a, b in zip(only_old, only_new, strict=True))
        only_new = []
    for each in old:
        other = by_name.get(each.name)
        if other is None:
            found.append(f"{path}{each.name} ({each.type}) is there too")
            continue
        if wire_shape((replace(each, fields=()),)) != wire_shape((replace(other, fields=()),)):
            for what in ("type", "nullable", "tag"):
                was, now = getattr(each, what), getattr(other, what)
                if was != now and not (what == "type" and each.fields and other.fields):
                    found.append(f"{path}{each.name} has {what} {str(was).lower()}")
        found += _differences(each.fields, other.fields, f"{path}{each.name}.")
    return found + [f"no {path}{each.name}" for each in only_new]


def _span(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[-1]} to {releases[0]}"


def _plain(fields: tuple[LayoutField, ...]) -> object:
    """Return a layout without struct names, which releases changed at will, and without what concerns only the newest definition."""
    return [
        (f.name, f.type if not f.fields else f.type.startswith("[]"), f.nullable, f.tag, f.compact, f.default, _plain(f.fields))
        for f in fields
    ]
