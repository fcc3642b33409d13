"""JSON is JSON: one writer, which has no NaN and no infinities (RFC 8259)."""

from __future__ import annotations

import ast
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import kwire
from kwire import messages
from kwire.cli.entry import commands
from kwire.json_encoding import encode_json

ROOT = Path(__file__).resolve().parents[3]
WRITER = ROOT / "src" / "kwire" / "json_encoding.py"
TELEMETRY = ROOT / "tests" / "captures" / "data" / "telemetry.pcapng.gz"
INFINITE = {"a": math.nan, "b": [math.inf, (-math.inf, 1.5)], "c": "NaN"}


def strict(text: str) -> Any:
    """Read JSON as other readers do, which have no NaN and no infinities."""

    def refuse(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_numbers_that_json_lacks_are_texts() -> None:
    """The words are those of Jackson's QUOTE_NON_NUMERIC_NUMBERS, which Kafka's JsonConverter leaves on."""
    assert encode_json(INFINITE) == '{"a":"NaN","b":["Infinity",["-Infinity",1.5]],"c":"NaN"}'
    assert strict(encode_json(INFINITE, indent=1)) == strict(encode_json(INFINITE))
    assert encode_json(["é\x1b", b"\xff"], default=bytes.hex) == '["\\u00e9\\u001b","ff"]'
    assert encode_json("é", ascii_only=False) == '"é"'
    assert encode_json({"b": b"\1", "n": math.nan}, default=bytes.hex) == '{"b":"01","n":"NaN"}'
    with pytest.raises(TypeError, match="bytes"):
        encode_json({"n": math.nan, "b": b"x"})


def test_pushed_metrics_are_json(tmp_path: Path) -> None:
    """Clients push NaN for an average of nothing, and the last bucket of a histogram ends at infinity."""
    result = CliRunner().invoke(commands, ["inspect", str(TELEMETRY), "--json", "--table", "telemetry"])
    assert result.exit_code == 0, result.stderr
    rows = [strict(line) for line in result.stdout.splitlines()]
    assert "NaN" in {row["value"] for row in rows}
    assert all(row["buckets"] is None or strict(row["buckets"]) for row in rows)


@pytest.mark.parametrize(("value", "text"), [(math.inf, "Infinity"), (-math.inf, "-Infinity"), (math.nan, "NaN"), (0.5, 0.5)])
def test_decoded_frames_are_json(value: float, text: object, tmp_path: Path) -> None:
    """AlterClientQuotas v0: one entry without an entity, one operation with the number."""
    operation = messages.AlterClientQuotasRequest.OpData(key="k", value=value, remove=False)
    entry = messages.AlterClientQuotasRequest.EntryData(entity=[], ops=[operation])
    body = messages.AlterClientQuotasRequest(entries=[entry], validate_only=True)
    frame = kwire.encode_request(messages.RequestHeader(api_key=49, api_version=0, correlation_id=1, client_id="c"), body)
    path = tmp_path / "frame.hex"
    path.write_text(frame.hex())
    result = CliRunner().invoke(commands, ["decode", str(path)])
    assert result.exit_code == 0, result.stderr
    request = strict(result.stdout)["request"]
    assert request["entries"][0]["ops"][0]["value"] == text


MODULES = {"json", "json.encoder", "msgspec.json", "orjson", "simplejson", "ujson"}
ALLOWED = {"loads", "load", "JSONDecodeError", "JSONDecoder", "Decoder", "decode", "encode_basestring_ascii"}


def writers_in(path: Path) -> list[str]:
    """Names in modules of JSON that write it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in MODULES:
            found.append(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found += [name.name for name in node.names]
    return [name for name in found if name not in ALLOWED]


def test_there_is_one_writer() -> None:
    others = {
        str(path.relative_to(ROOT)): found
        for path in sorted((ROOT / "src").rglob("*.py"))
        if path != WRITER and (found := writers_in(path))
    }
    assert others == {}
    assert writers_in(WRITER)
    native = [path.name for path in sorted((ROOT / "pyx").rglob("*.p*")) if re.search(r"json\.dumps?\b|JSONEncoder", path.read_text())]
    assert native == []
