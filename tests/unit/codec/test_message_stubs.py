"""The type stubs of message classes: what they promise is what objects hold, on bytes of Kafka's own classes; and they are not stale."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import kwire
from kwire import messages
from kwire.schema import catalog
from script_modules import module_of

PACKAGE = Path(kwire.__file__).parent
TOOL = Path(__file__).resolve().parents[3] / "tools" / "build_stubs.py"
SCALARS = {"bool": bool, "int": int, "float": float, "str": str, "bytes": bytes, "Uuid": kwire.Uuid}


class Stub:
    """A class of a stub: annotations and defaults of its attributes, which are the keywords of the constructor too."""

    def __init__(self, found: ast.ClassDef) -> None:
        annotated = [each for each in found.body if isinstance(each, ast.AnnAssign)]
        lines = [each for each in annotated if not ast.unparse(each.annotation).startswith("ClassVar[")]
        self.class_attributes = {each.target.id: ast.unparse(each.annotation) for each in annotated if each not in lines}
        self.attributes = {each.target.id: each.annotation for each in lines}
        self.defaults = {each.target.id: each.value for each in lines}
        self.nested = {each.name: Stub(each) for each in found.body if isinstance(each, ast.ClassDef)}
        assert [ast.unparse(each) for each in found.bases] == ["MessageObject"]


@cache
def stubs() -> dict[str, Stub]:
    """The stub classes of all messages, found through the imports of the package's stub, as a type checker finds them."""
    found = {}
    for line in ast.parse((PACKAGE / "messages" / "__init__.pyi").read_text("utf-8")).body:
        assert isinstance(line, ast.ImportFrom)
        [name] = line.names
        assert name.name == name.asname
        for each in _classes(line.module.rpartition(".")[2]):
            if each.name == name.name != "MessageObject":
                found[each.name] = Stub(each)
    return found


@cache
def _classes(module: str) -> list[ast.ClassDef]:
    tree = ast.parse((PACKAGE / "messages" / "_types" / f"{module}.pyi").read_text("utf-8"))
    return [each for each in tree.body if isinstance(each, ast.ClassDef)]


def holds(annotation: ast.expr, value: Any) -> bool:
    """Whether a value is exactly of an annotated type; structs are looked into."""
    match annotation:
        case ast.Constant(value=None):
            return value is None
        case ast.Name(id=name) if name in SCALARS:
            return type(value) is SCALARS[name]
        case ast.Attribute() | ast.Name():
            name = ast.unparse(annotation)
            top, _, inner = name.partition(".")
            return type(value).__qualname__ == name and fits(stubs()[top].nested[inner] if inner else stubs()[top], value)
        case ast.BinOp(left=left, right=right):
            return holds(left, value) or holds(right, value)
        case ast.Subscript(value=ast.Name(id="list"), slice=inner):
            return type(value) is list and all(holds(inner, each) for each in value)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[inner, ast.Constant(value=rest)])):
            return rest is ... and type(value) is tuple and all(holds(inner, each) for each in value)
    raise AssertionError(f"an annotation of a form that the stubs do not have: {ast.unparse(annotation)}")


def fits(stub: Stub, value: Any) -> bool:
    wrong = [name for name, annotation in stub.attributes.items() if not holds(annotation, getattr(value, name))]
    assert not wrong, f"{type(value).__qualname__}.{wrong[0]} is {getattr(value, wrong[0])!r}, not {ast.unparse(stub.attributes[wrong[0]])}"
    return True


def every_class() -> Iterator[tuple[str, Stub, Any]]:
    for name, stub in stubs().items():
        kind = getattr(messages, name)
        yield name, stub, kind
        for inner, nested in stub.nested.items():
            yield f"{name}.{inner}", nested, getattr(kind, inner)


def test_stubs_are_what_the_catalog_says() -> None:
    tool = module_of(TOOL)
    assert tool.stale(PACKAGE) == [], "run python tools/build_stubs.py"


def test_every_message_has_a_stub() -> None:
    assert set(stubs()) == set(catalog())


def test_attributes_keywords_and_defaults_are_those_of_the_classes() -> None:
    seen = 0
    for name, stub, kind in every_class():
        current = [attribute for attribute in stub.attributes if attribute not in getattr(kind, "aliases", {})]
        assert (*current, "unknown_tagged_fields") == kind.slot_names, name
        assert {*stub.attributes} - {*current} == {*getattr(kind, "aliases", {})}, name
        made = kind()
        assert fits(stub, made)
        for keyword, default in stub.defaults.items():
            held = getattr(made, keyword)
            if isinstance(default, ast.Constant) and default.value is ...:
                assert type(held) in (list, kwire.Uuid) or isinstance(held, messages.MessageObject), f"{name}.{keyword}"
            else:
                assert held == ast.literal_eval(default), f"{name}.{keyword}"
        seen += 1
    assert seen > 600


def test_class_attributes_are_what_the_classes_have() -> None:
    for name, stub, kind in every_class():
        key = stub.class_attributes.get("api_key")
        if key is not None:
            assert key == f"ClassVar[Literal[ApiKey.{kind.api_key.name}]]", name
        if "valid_versions" in stub.class_attributes:
            assert kind.valid_versions == catalog()[name].valid_versions
    assert stubs()["MetadataRequest"].class_attributes.keys() == {"api_key", "valid_versions"}


def test_what_the_constructor_takes_is_held_as_annotated() -> None:
    made = messages.MetadataResponse.MetadataResponsePartition(replica_nodes=[1, 2], isr_nodes=(3,), unknown_tagged_fields=[(7, b"x")])
    assert (made.replica_nodes, made.isr_nodes, made.unknown_tagged_fields) == ((1, 2), (3,), ((7, b"x"),))
    with pytest.raises(TypeError, match="replicas"):
        messages.MetadataResponse.MetadataResponsePartition(replicas=[1])


def test_decoded_messages_of_kafka_hold_what_the_stubs_say(vectors, share) -> None:
    seen = set()
    for case in share(vectors("messages-sample"), 3):
        name = case["message"]
        assert fits(stubs()[name], kwire.decode(name, bytes.fromhex(case["hex"]), case["version"]))
        seen.add(name)
    assert len(seen) > 200
