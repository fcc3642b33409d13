"""The JSON of many messages: what Kafka's own converters write, and both twins alike on messages that are cut, changed or unusual."""

from __future__ import annotations

import array
import json
import random
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from kwire.codec import to_json
from kwire.codec.binary_chunks import chunks_of
from kwire.codec.json_columns import JsonColumns
from kwire.codec.json_text import json_text

Message = tuple[int, int, bytes | None]  # api key, version, bytes


def int16s(values: Iterable[int]) -> array.array[int]:
    return array.array("h", values)


def written(codec: Any, kind: Any, messages: list[Message]) -> tuple[list[str | None], list[int]]:
    [chunk] = chunks_of(pa.array([data for _, _, data in messages], pa.binary()))
    texts, left = JsonColumns(codec.compiled, kind).texts(chunk, *(int16s(each[place] for each in messages) for place in (0, 1)))
    texts.validate(full=True)
    return texts.to_pylist(), left


def of_kafka(codec: Any, vectors: Any, kind: str) -> list[tuple[int, dict[str, Any]]]:
    """Cases of the messages that an api key leads to, with the key; some names are of messages that were renamed."""
    known = codec.compiled.catalog
    of_key = known.request if kind == "request" else known.response
    names = {found.name: key for key in known.api_keys if (found := of_key(key)) is not None}
    return [(names[case["message"]], case) for case in vectors("messages-sample") if case["message"] in names]


def heartbeat(*parts: str) -> bytes:
    return bytes.fromhex("".join(parts))


# HeartbeatRequest v4: group "g", generation 7, member "m", no instance, no tags
PLAIN = "0267 00000007 026d 00"
JSON = '{"groupId":"g","generationId":7,"memberId":"m","groupInstanceId":null}'


def test_messages_of_kafka(codec, vectors, share):
    """The text of what Kafka's converters wrote, in the order of their fields."""
    for kind in ("request", "response"):
        taken = share(of_kafka(codec, vectors, kind), 1 if codec.compiled.twin == "native" else 5)
        texts, left = written(codec, kind, [(key, case["version"], bytes.fromhex(case["hex"])) for key, case in taken])
        assert left == []
        for text, (_, case) in zip(texts, taken, strict=True):
            message = codec.compiled.decoder(case["message"], case["version"]).decode_whole(bytes.fromhex(case["hex"]))
            assert text == json_text(message, case["version"])
            if "json" in case:
                assert json.loads(text) == case["json"]
        assert len(taken) > 100


def test_a_message_by_hand(codec):
    messages: list[Message] = [(12, 4, heartbeat(PLAIN, "00")), (12, 4, None), (12, 0, bytes.fromhex("000167 00000007 00016d"))]
    texts, left = written(codec, "request", messages)
    assert texts == [JSON, None, '{"groupId":"g","generationId":7,"memberId":"m"}']
    assert left == []


@pytest.mark.parametrize(
    ("text", "in_json"),
    [
        ('a"b\\c/d', '"a\\"b\\\\c/d"'),
        ("\x00\x1f\b\t\n\f\r", '"\\u0000\\u001f\\b\\t\\n\\f\\r"'),
        ("\x7f", '"\x7f"'),
        ("äé日😀", '"äé日😀"'),
        ("seven b\n", '"seven b\\n"'),
        ("a text of more than eight bytes\x01", '"a text of more than eight bytes\\u0001"'),
        ("x" * 300, f'"{"x" * 300}"'),
    ],
)
def test_texts_as_jackson_escapes_them(codec, text, in_json):
    """JsonWriteFeature.ESCAPE_NON_ASCII is off by default; RFC 8259 names what is escaped."""
    content = text.encode()
    data = len(content).to_bytes(2, "big") + content + bytes.fromhex("80000000 00016d")
    texts, left = written(codec, "request", [(12, 0, data)])
    assert (texts, left) == ([f'{{"groupId":{in_json},"generationId":-2147483648,"memberId":"m"}}'], [])


@pytest.mark.parametrize(("content", "in_json"), [("", ""), ("ff", "/w=="), ("00ff", "AP8="), ("fbefff", "++//"), ("00" * 4, "AAAAAA==")])
def test_bytes_are_base64(codec, content, in_json):
    data = bytes.fromhex(content)
    texts, _ = written(codec, "request", [(36, 0, len(data).to_bytes(4, "big") + data)])  # SaslAuthenticate
    assert texts == [f'{{"authBytes":"{in_json}"}}']


@pytest.mark.parametrize(
    ("bits", "in_json"),
    [
        ("3ff8000000000000", "1.5"), ("8000000000000000", "-0.0"), ("7ff0000000000000", '"Infinity"'), ("fff0000000000000", '"-Infinity"'),
        ("7ff8000000000000", '"NaN"'), ("4341c37937e08000", "1e+16"),
    ],
)  # fmt: skip
def test_floats(codec, bits, in_json):
    # AlterClientQuotas v0: one entry without entity, one op "k" with the float, not removed; validate only
    data = bytes.fromhex(f"00000001 00000000 00000001 00016b {bits} 00 01")
    texts, left = written(codec, "request", [(49, 0, data)])
    ops = f'[{{"key":"k","value":{in_json},"remove":false}}]'
    assert (texts, left) == ([f'{{"entries":[{{"entity":[],"ops":{ops}}}],"validateOnly":true}}'], [])


def test_tagged_fields_at_their_default_are_left_out(codec):
    """ApiVersionsResponse v3: tag 0 supportedFeatures ([]), tag 1 finalizedFeaturesEpoch (-1), tag 3 zkMigrationReady (false)."""
    beginning = "0000 01 00000000"
    for tags, shown in (
        ("00", ""),
        ("03 0001 01 01 08 ffffffffffffffff 03 01 00".replace("0001 01", "00 01 01"), ""),
        ("02 01 08 0000000000000005 03 01 01", ',"finalizedFeaturesEpoch":5,"zkMigrationReady":true'),
        ("01 7b 02 abcd", ""),  # a tag that no version has
    ):
        texts, left = written(codec, "response", [(18, 3, bytes.fromhex(beginning + tags))])
        assert left == []
        assert texts == [f'{{"errorCode":0,"apiKeys":[],"throttleTimeMs":0{shown}}}']


def test_a_tagged_struct_is_left_out_only_where_all_of_it_is_default(codec):
    """FetchResponse v12: a partition's tag 1 is currentLeader {leaderId -1, leaderEpoch -1}; a tag inside that no version has counts."""
    head = "00000000 0000 00000000 02 0274 02 00000000 0000 0000000000000001 ffffffffffffffff ffffffffffffffff 00 ffffffff 00"
    for leader, shown in (
        ("ffffffff ffffffff 00", ""),
        ("00000005 ffffffff 00", ',"currentLeader":{"leaderId":5,"leaderEpoch":-1}'),
        ("ffffffff ffffffff 01 63 00", ',"currentLeader":{"leaderId":-1,"leaderEpoch":-1}'),
    ):
        size = len(bytes.fromhex(leader))
        texts, left = written(codec, "response", [(1, 12, bytes.fromhex(f"{head} 01 01 {size:02x} {leader} 00 00"))])
        assert left == []
        assert texts[0] is not None
        assert f'"records":null{shown}}}' in texts[0]
        message = codec.compiled.decoder("FetchResponse", 12).decode_whole(bytes.fromhex(f"{head} 01 01 {size:02x} {leader} 00 00"))
        assert json.loads(texts[0]) == to_json(message, 12)


def test_tags_in_an_order_that_no_writer_has_are_left_or_written_alike(codec, reference_codec):
    beginning = "0000 01 00000000"
    for tags in ("02 03 01 01 01 08 0000000000000005", "02 03 01 01 03 01 00"):
        message = (18, 3, bytes.fromhex(beginning + tags))
        [text], left = written(codec, "response", [message])
        [expected], _ = written(reference_codec, "response", [message])
        assert (text, left) in ((expected, []), (None, [0]))


def test_what_is_at_fault_is_left(codec):
    whole = heartbeat(PLAIN, "00")
    cases: list[Message] = [(12, 4, whole[:cut]) for cut in range(len(whole))]
    cases += [
        (12, 4, whole + b"\0"),
        (12, 4, whole.replace(b"g", b"\xff")),
        (12, 99, whole),
        (12, -1, whole),
        (-1, 0, whole),
        (999, 0, b""),
    ]
    cases.append((12, 4, whole))
    texts, left = written(codec, "request", cases)
    assert left == list(range(len(cases) - 1))
    assert texts == [None] * len(left) + [JSON]


def test_changed_messages(codec, reference_codec, vectors):
    """What the native twin writes is what the pure one does; what it leaves, the caller reads again."""
    chance = random.Random(559)
    messages: list[Message] = []
    for key, case in of_kafka(codec, vectors, "response"):
        data = bytearray.fromhex(case["hex"])
        for _ in range(chance.choice((1, 1, 3))):
            if data:
                data[chance.randrange(len(data))] = chance.choice((0, 1, 2, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        messages.append((key, case["version"], bytes(data)))
    messages = messages[:: max(1, len(messages) // 600)]
    ours, left = written(codec, "response", messages)
    theirs, refused = written(reference_codec, "response", messages)
    assert set(left) >= set(refused)
    for row, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert one == other or row in left
    unusual = set(left) - set(refused)
    assert len(unusual) * 10 < len(messages)
    assert any(text is not None for text in ours)


def test_buffers_that_do_not_fit(codec):
    columns = JsonColumns(codec.compiled, "request")
    [chunk] = chunks_of(pa.array([b"", b""], pa.binary()))
    with pytest.raises(ValueError, match="fewer api keys or versions"):
        columns.texts(chunk, int16s([12]), int16s([4, 4]))
    with pytest.raises(ValueError, match="leave its bytes at element 1"):
        columns.texts(chunk._replace(offsets=b"".join(each.to_bytes(4, "little") for each in (0, 0, 9))), int16s([12, 12]), int16s([4, 4]))
    texts, left = columns.texts(chunk._replace(length=0), int16s([]), int16s([]))
    assert (len(texts), left) == (0, [])


def test_long_texts_of_many_messages(codec):
    """The column grows on the way: names and values at any place of it."""
    data = [len(name).to_bytes(2, "big") + name + bytes(4) + b"\0\1m" for name in (b"x" * (size * 37 % 5000) for size in range(300))]
    texts, left = written(codec, "request", [(12, 0, each) for each in data])
    assert left == []
    assert [json.loads(text)["groupId"] for text in texts if text] == ["x" * (size * 37 % 5000) for size in range(300)]
