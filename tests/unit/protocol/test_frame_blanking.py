"""Frames without secrets: Kafka's own frames of every message keep all but what the tables of rules call secret."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_bytes import framed, text
from kwire.codec import decode_request, decode_response, to_json
from kwire.protocol.nested_rules import RULES
from kwire.protocol.sasl import attempted_name
from kwire.protocol.secrets.frame_blanking import MOST_REMEMBERED, FrameBlanker
from kwire.protocol.secrets.secret_texts import HARMLESS_TEXTS, SECRET_TEXTS
from kwire.protocol.secrets.token_blanking import blank_client_token, blank_server_token
from kwire.schema import catalog, snake_name

Vectors = Callable[[str], list[dict[str, Any]]]
KEPT = {"principal", "address", "metrics"}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar of a message's JSON with its path in snake_case, without indexes."""
    if isinstance(value, dict):
        for name, held in value.items():
            here = snake_name(name[:1].upper() + name[1:])
            yield from leaves(held, f"{path}.{here}" if path else here)
    elif isinstance(value, list):
        for held in value:
            yield from leaves(held, path)
    else:
        yield path, value


def compact(value: bytes) -> bytes:
    assert len(value) < 127
    return bytes((len(value) + 1,)) + value


def number(value: int, size: int = 4) -> bytes:
    return value.to_bytes(size, "big", signed=True)


def request(api_key: int, version: int, body: bytes, *, flexible: bool = False) -> bytes:
    return number(api_key, 2) + number(version, 2) + number(7) + text("shop") + (b"\0" if flexible else b"") + body


def envelope(frame: bytes) -> bytes:
    # EnvelopeRequest v0: the request, no principal, the client's address, no tags
    return request(58, 0, compact(frame) + b"\0" + compact(bytes(4)) + b"\0", flexible=True)


def test_kafkas_frames_keep_all_but_the_secrets(vectors: Vectors) -> None:
    checked = changed = 0
    for vector in vectors("frames-sample"):
        frame = bytes.fromhex(vector["hex"])[4:]
        key, version, name = vector["api_key"], vector["version"], vector["message"]
        if vector["kind"] == "request":
            blanked = FrameBlanker().request(frame)
            before, after = decode_request(frame), decode_request(blanked)
            assert (after.header.client_id, after.header.correlation_id) == (before.header.client_id, before.header.correlation_id)
        else:
            blanked = FrameBlanker().response(frame, key, version)
            before, after = decode_response(frame, key, version), decode_response(blanked, key, version)
            assert after.header.correlation_id == before.header.correlation_id
            version = after.api_version
        assert len(blanked) == len(frame)
        old, new = (list(leaves(to_json(each.body, version))) for each in (before, after))
        assert [path for path, _ in old] == [path for path, _ in new], name
        for (path, was), (_, now) in zip(old, new, strict=True):
            checked += 1
            if (name, path) in SECRET_TEXTS:
                assert now == (None if was is None else "x" * len(was.encode())), (name, path)
                changed += bool(was)
            elif (rule := RULES.get((name, path))) is not None and rule.kind != "nested":
                assert was is None or set(base64.b64decode(now)) <= {0x78}, (name, path)
                changed += bool(was)
            elif rule is None or rule.holds in KEPT:
                assert now == was, (name, path)
    assert checked > 5000
    assert changed > 50


def test_every_string_that_may_hold_a_value_was_looked_at() -> None:
    found = set()

    def walk(name: str, struct: str, path: str) -> None:
        message = catalog()[name]
        for field in message.structs[struct].fields:
            here = f"{path}.{field.attribute}" if path else field.attribute
            if field.type == "string" and field.attribute in ("value", "metadata", "committed_metadata", "password", "secret", "token"):
                found.add((name, here))
            if field.is_struct:
                walk(name, field.element_type, here)

    for name in catalog():
        walk(name, name, "")
    assert found <= SECRET_TEXTS.keys() | HARMLESS_TEXTS
    for name, path in SECRET_TEXTS.keys() | HARMLESS_TEXTS:
        struct = name
        for step in path.split("."):
            field = next(each for each in catalog()[name].structs[struct].fields if each.attribute == step)
            struct = field.element_type
        assert field.type == "string"


def test_an_envelope_is_looked_into() -> None:
    # IncrementalAlterConfigs v0: one broker, one configuration that is set (operation 0)
    config = text("ssl.key.password") + b"\0" + text("hunter2hunter2")
    frame = request(44, 0, number(1) + b"\4" + text("1") + number(1) + config + b"\0")
    blanked = FrameBlanker().request(envelope(frame))
    assert blanked == envelope(frame.replace(b"hunter2hunter2", b"x" * 14))


def test_the_answer_in_an_envelope_is_read_as_its_request_was() -> None:
    blanker = FrameBlanker()
    blanker.request(envelope(request(32, 1, number(0) + b"\0")), index=3)
    # DescribeConfigsResponse v1: no throttling, one resource without error: name, value, not read-only, source, not sensitive, no synonyms
    config = text("a") + text("sesame") + b"\0\5\0" + number(0)
    inner = number(7) + number(0) + number(1) + number(0, 2) + number(-1, 2) + b"\4" + text("1") + number(1) + config
    response = number(1) + b"\0" + compact(inner) + number(0, 2) + b"\0"
    assert blanker.response(response, 58, 0, index=3) == response.replace(b"sesame", b"xxxxxx")
    assert b"sesame" not in FrameBlanker().response(response, 58, 0), "of an unknown answer nothing stays"


def join(protocol_type: str, metadata: bytes) -> bytes:
    return request(
        11, 2, text("g") + number(9) + number(9) + text("") + text(protocol_type) + number(1) + text("range") + framed(metadata)
    )  # fmt: skip


def test_a_subscription_keeps_its_topics_and_loses_its_user_data() -> None:
    told = number(1, 2) + number(1) + text("orders") + framed(b"private") + number(0)
    assert FrameBlanker().request(join("consumer", told)) == join("consumer", told.replace(b"private", b"xxxxxxx"))
    assert FrameBlanker().request(join("sr", b'{"host":"a"}')) == join("sr", b"x" * 12)


def test_what_a_member_is_assigned_is_read_by_the_type_that_its_group_has() -> None:
    given = number(0, 2) + number(1) + text("orders") + number(1) + number(0) + framed(b"private")
    response = number(7) + number(0) + number(0, 2) + framed(given)
    sync = request(14, 1, text("g") + number(1) + text("m") + number(0))
    for types in ({"g": "consumer"}, {}):
        blanker = FrameBlanker(dict(types))
        blanker.request(sync, index=0)
        assert blanker.response(response, 14, 1, index=0) == response.replace(b"private", b"xxxxxxx")
    blanker = FrameBlanker({"g": "sr"})
    blanker.request(sync, index=0)
    assert blanker.response(response, 14, 1, index=0) == response[: -len(given)] + b"x" * len(given)


def test_groups_and_requests_are_remembered_up_to_a_number() -> None:
    types: dict[str, str] = {}
    blanker = FrameBlanker(types)
    for group in range(MOST_REMEMBERED + 3):
        frame = request(11, 2, text(f"g{group}") + number(9) + number(9) + text("") + text("connect") + number(0))
        blanker.request(frame, index=group)
    assert len(types) == len(blanker._groups) == MOST_REMEMBERED
    assert "g2" not in types
    assert "g3" in types


def test_a_group_tells_its_type_in_its_first_request() -> None:
    types: dict[str, str] = {}
    FrameBlanker(types).request(join("connect", b""))
    assert types == {"g": "connect"}


@pytest.mark.parametrize("cut", range(10, 60, 3))
def test_a_frame_that_is_cut_keeps_what_is_whole_and_no_part_of_a_secret(cut: int) -> None:
    frame = request(36, 1, framed(b"\0alice\0open sesame open sesame"))
    blanked = FrameBlanker().request(frame[:cut], mechanism="PLAIN", whole=False)
    assert len(blanked) == len(frame[:cut])
    kept = 14 if cut >= 14 else 10  # a client id that is cut may be part of anything
    assert blanked[:kept] == frame[:kept]
    assert b"sesame" not in blanked
    if cut < len(frame):
        assert b"alice" not in blanked, "a token that is cut is not looked into"


def test_bytes_that_nothing_claims_go() -> None:
    frame = request(3, 1, number(0))
    assert FrameBlanker().request(frame) == frame
    assert FrameBlanker().request(frame + b"secret") == frame + b"xxxxxx"
    unknown = bytes.fromhex("7fff0000") + frame[4:14] + b"secret"
    assert FrameBlanker().request(unknown) == unknown[:14] + b"xxxxxx"
    assert FrameBlanker().response(b"\0\0\0\1secret", None, None) == b"\0\0\0\1xxxxxx"
    assert FrameBlanker().request(b"short") == b"shorx"
    # Metadata v12, no topics, and a tagged field 42 that no version defines
    tagged = request(3, 12, b"\1\0\0" + bytes.fromhex("01 2a 06") + b"secret", flexible=True)
    assert decode_request(tagged).body.unknown_tagged_fields == ((42, b"secret"),)
    assert FrameBlanker().request(tagged) == tagged.replace(b"secret", b"xxxxxx")


def test_a_count_that_cannot_be_stays_and_nothing_behind_it() -> None:
    frame = request(3, 1, number(1 << 20) + b"secret secret")
    assert FrameBlanker().request(frame) == frame.replace(b"secret secret", b"x" * 13)


@pytest.mark.parametrize(
    ("mechanism", "token", "expected"),
    [
        ("PLAIN", b"\0alice\0pw", b"\0alice\0xx"),
        ("PLAIN", b"admin\0alice\0pw", b"admin\0alice\0xx"),
        ("PLAIN", b"alice pw", b"xxxxxxxx"),
        ("SCRAM-SHA-256", b"n,,n=alice,r=rOprNG", b"n,,n=alice,r=xxxxxx"),
        ("SCRAM-SHA-512", b"n,a=bob,n=alice,r=abc,tokenauth=true", b"n,a=bob,n=alice,r=xxx,tokenauth=true"),
        ("SCRAM-SHA-256", b"c=biws,r=abc,p=dHzbZapWIk4=", b"c=xxxx,r=xxx,p=xxxxxxxxxxxx"),
        ("SCRAM-SHA-256", b"n=alice", b"n=xxxxx"),
        ("GSSAPI", b"\x60\x48" + bytes.fromhex("06092a864886f712010202") + b"ticket ticket ticket", None),
        (None, b"\0alice\0pw", b"xxxxxxxxx"),
        ("OAUTHBEARER", b"no bearer token", b"x" * 15),
    ],
)
def test_tokens_of_clients_keep_names_alone(mechanism: str | None, token: bytes, expected: bytes | None) -> None:
    blanked = blank_client_token(mechanism, token)
    if expected is None:
        assert blanked == token[:24] + b"x" * (len(token) - 24)
    else:
        assert blanked == expected
    assert attempted_name(mechanism, blanked) == attempted_name(mechanism, token)


def test_a_bearer_token_keeps_its_subject_alone() -> None:
    claims = base64.urlsafe_b64encode(b'{"sub":"svc-orders","scope":"all","email":"a@b.example"}').rstrip(b"=")
    token = b"n,,\x01auth=Bearer aGVhZA." + claims + b".c2lnbmF0dXJl\x01\x01"
    blanked = blank_client_token("OAUTHBEARER", token)
    assert len(blanked) == len(token)
    assert attempted_name("OAUTHBEARER", blanked) == "svc-orders"
    segments = blanked.split(b"Bearer ")[1].split(b"\x01")[0].split(b".")
    assert base64.urlsafe_b64decode(segments[1] + b"==").strip() == b'{"sub":"svc-orders"}'
    assert set(segments[0] + segments[2]) == {0x78}


def test_tokens_of_servers_keep_only_an_error() -> None:
    assert blank_server_token("SCRAM-SHA-256", b"r=abcd,s=QSXCR+Q6,i=4096") == b"r=xxxx,s=xxxxxxxx,i=xxxx"
    assert blank_server_token("SCRAM-SHA-256", b"v=rmF9pqV8") == b"v=xxxxxxxx"
    assert blank_server_token("SCRAM-SHA-256", b"e=invalid-proof") == b"e=invalid-proof"
    assert blank_server_token("OAUTHBEARER", b'{"status":"invalid_token"}') == b"x" * 26
    assert blank_server_token("PLAIN", b"") == b""
