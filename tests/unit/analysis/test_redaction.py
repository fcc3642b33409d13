"""`--redact`: tokens that are the same everywhere with one key, and nothing that names somebody."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from kwire.analysis import run
from kwire.analysis.redaction import Redaction, Redactor, read_key
from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.tables.column_classes import class_of
from kwire.tables.schemas import GROUP_EVENTS, REQUESTS, SCHEMAS, TELEMETRY, VIOLATIONS

KEY = b"0123456789abcdef-key"
DATA = Path(__file__).parents[2] / "captures" / "data"
REDACTOR = Redactor(Redaction(KEY))


def one(table: str, row: dict[str, Any], redactor: Redactor = REDACTOR) -> dict[str, Any]:
    rows = pa.Table.from_pylist([row], schema=SCHEMAS[table])
    (found,) = redactor.table(table, rows).to_pylist()
    return {name: found[name] for name in row}


def test_every_column_of_every_table_has_a_class() -> None:
    assert [(table, name) for table, schema in SCHEMAS.items() for name in schema.names if class_of(table, name) is None] == []


LIBRARY = "the library of a client, which the analysis is about"
WORD = "one of a few words of kwire"
KAFKAS = "a name of Kafka, which kwire writes for a number"
# Text columns in which any text would stay, and why none of them holds a text that somebody chose.
STAY = {
    "source": WORD, "state": WORD, "closed_by": WORD, "protocol": WORD, "tls_decrypted": WORD, "identity_source": WORD, "role": WORD,
    "body": WORD, "rule": WORD, "severity": WORD, "type": WORD, "temporality": WORD, "event": WORD, "direction": WORD, "compression": WORD,
    "confidence": WORD, "verdict": WORD, "verdict_basis": WORD, "refused_by": WORD, "cure_kind": WORD,
    "api_name": KAFKAS, "last_api_name": KAFKAS, "error_name": KAFKAS, "error_names": KAFKAS,
    "software_name": LIBRARY, "software_version": LIBRARY, "library_guess": LIBRARY, "library_guess_after": LIBRARY,
    "library_guess_before": LIBRARY, "library_guess_tried": LIBRARY,
    "remedy": "a sentence of kwire about a library", "reason": "of upgrade_impact: of a version and a release alone",
    "cure_version": "of a library that kwire knows", "target_release": "a release of Kafka", "release_guess": "a release of Kafka",
    "tls_version": "of a number", "tls_cipher": "of a number", "tls_ja3": "a hash", "tls_ja4": "counts and hashes", "sha256": "a hash",
    "buckets": "numbers as JSON", "link_types_unread": "numbers and counts",
    "owner": "from --owners, which the user gives for this output", "contact": "from --owners, which the user gives for this output",
}  # fmt: skip


def test_every_column_of_text_is_redacted_or_has_a_reason_not_to_be() -> None:
    """The text is one that somebody could have chosen, quoted as sentences of kwire quote it."""
    stayed = set()
    for table, schema in SCHEMAS.items():
        for field in schema:
            values: Any = "'acme'"
            if pa.types.is_map(field.type):
                values = [("zone", "acme")]
            elif pa.types.is_list(field.type):
                if not pa.types.is_string(field.type.value_type):
                    continue
                values = ["'acme'"]
            elif not pa.types.is_string(field.type):
                continue
            if "acme" in str(one(table, {field.name: values})):
                stayed.add(field.name)
                assert field.name in STAY, (table, field.name)
                assert field.name != "reason" or table == "upgrade_impact"
    assert stayed == STAY.keys()


def test_protocols_of_groups_are_named_only_if_they_are_kafkas() -> None:
    step = one("group_events", {"protocol_type": "acme-workers", "protocol_name": "acme-rack-aware"})
    assert step["protocol_type"].startswith("protocol-")
    assert step["protocol_name"].startswith("protocol-")
    kafkas = {"protocol_type": "consumer", "protocol_name": "cooperative-sticky"}
    assert one("group_events", kafkas) == kafkas
    assert one("connections", {"sasl_mechanism": "ACME-SSO"})["sasl_mechanism"].startswith("protocol-")
    assert one("connections", {"sasl_mechanism": "SCRAM-SHA-512"}) == {"sasl_mechanism": "SCRAM-SHA-512"}
    assert one("telemetry", {"metric": "acme.orders.billed"})["metric"].startswith("metric-")
    assert one("telemetry", {"metric": "org.apache.kafka.producer.connection.creation.rate"})["metric"].startswith("org.apache")


def test_a_value_is_one_token_in_every_table() -> None:
    request = one("requests", {"client_id": "billing", "first_topic": "orders", "group_id": "g", "principal": "User:alice"})
    step = one("group_events", {"client_id": "billing", "group_id": "g", "subscription": ["orders"], "assignment": ["orders:0,1"]})
    assert request["client_id"] == step["client_id"]
    assert request["client_id"].startswith("client-")
    assert request["group_id"] == step["group_id"]
    assert request["principal"].startswith("User:principal-")
    assert step["subscription"] == [request["first_topic"]]
    assert step["assignment"] == [f"{request['first_topic']}:0,1"]


def test_another_key_gives_other_tokens_and_the_same_key_the_same() -> None:
    again, other = Redactor(Redaction(KEY)), Redactor(Redaction(KEY + b"!"))
    assert one("requests", {"client_id": "billing"}, again) == one("requests", {"client_id": "billing"})
    assert one("requests", {"client_id": "billing"}, other) != one("requests", {"client_id": "billing"})
    assert again.key_id == REDACTOR.key_id != other.key_id
    assert KEY.decode() not in repr(Redaction(KEY))
    assert Redactor(pickle.loads(pickle.dumps(Redaction(KEY)))).key_id == REDACTOR.key_id


def test_a_kind_is_part_of_a_token() -> None:
    row = one("requests", {"client_id": "same", "group_id": "same", "first_topic": "same", "transactional_id": "same"})
    assert len({value.rpartition("-")[2] for value in row.values()}) == 4


def test_addresses_hold_together_with_connections_and_may_keep_their_network() -> None:
    row = {"client_address": "10.1.2.3", "connection_id": "10.9.9.9:9092-10.1.2.3:51234-0", "proxied_address": "10.1.2.3:7"}
    plain = one("connections", row)
    assert plain["connection_id"].split("-")[1] == f"{plain['client_address']}:51234"
    assert plain["proxied_address"] == f"{plain['client_address']}:7"
    kept = one("connections", row, Redactor(Redaction(KEY, keep_prefix=16)))
    assert kept["client_address"].startswith("10.1.")
    assert kept["connection_id"].startswith("10.9.")
    assert "10.1.2.3" not in json.dumps([plain, kept])
    six = one("connections", {"client_address": "2001:db8:1:2::3"}, Redactor(Redaction(KEY, keep_prefix=16)))
    assert six["client_address"].startswith("2001:db8:")


def test_an_address_without_a_port_is_redacted_as_one() -> None:
    row = one("connections", {"client_address": "2001:db8::a", "proxied_address": "2001:db8::a"})
    assert row["proxied_address"] == row["client_address"] != "2001:db8::a"


def test_a_connection_id_of_another_form_is_a_token() -> None:
    row = one("connections", {"connection_id": "acme laptop 7"})
    assert row["connection_id"] == REDACTOR.token("connection", "acme laptop 7")
    assert "acme" not in row["connection_id"]


def test_kafkas_own_names_stay() -> None:
    row = {"first_topic": "__consumer_offsets", "principal": "User:ANONYMOUS", "client_id": "", "group_id": None, "api_name": "Fetch"}
    assert one("requests", row) == row


def test_sentences_lose_what_they_quote_and_the_names_of_files() -> None:
    redactor = Redactor(Redaction(KEY, files=("/data/acme/eth0.pcap",)))

    def said(text: str) -> str:
        return str(one("violations", {"explanation": text}, redactor)["explanation"])

    quoted = said("Kafka refuses client software 'acme shop' 'v\\'1'... with error 42 for its name.")
    assert "acme" not in quoted
    assert quoted.startswith("Kafka refuses client software text-")
    assert quoted.endswith("with error 42 for its name.")
    assert said("The broker's frame isn't the client's.") == "The broker's frame isn't the client's."
    assert said("/data/acme/eth0.pcap is not a capture.").startswith("file-")
    assert "eth0" not in said("Files eth0.pcap and 10.0.0.7 disagree at 12:34:56.")
    assert "10.0.0.7" not in said("Files eth0.pcap and 10.0.0.7 disagree at 12:34:56.")
    assert said("It came at 12:34:56.").endswith("12:34:56.")


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("the consumer is being closed", "the consumer is being closed"),
        ("a member left", "a member left"),
        ("need to re-join with the given member-id: shop-1-0f", "need to re-join with the given member-id: member-"),
        ("cached metadata has changed from {acme} to {acme2}", "cached metadata has changed ..."),
        ("acme maintenance", "text-"),
    ],
)
def test_reasons_of_clients_are_hashed_but_for_those_of_kafkas_own(reason: str, kept: str) -> None:
    found = one("group_events", {"reason": reason})["reason"]
    assert found.startswith(kept)
    assert "acme" not in found
    assert "shop" not in found


@pytest.mark.parametrize(
    ("diff", "shape"),
    [
        ("same members", "same members"),
        ("first generation captured, 3 members", "first generation captured, 3 members"),
        ("+shop-1 joined; -shop-2 left; 9 expired", "+M joined; -M left; 9 expired"),
        ("shop-1 came back as shop-2", "M came back as M"),
        ("shop-1 wants orders, regex:or.* instead of nothing", "M wants T, regex:P instead of nothing"),
        ("something else of shop-1", "X"),
    ],
)
def test_differences_of_groups_keep_their_words(diff: str, shape: str) -> None:
    import re

    found = one("group_events", {"diff": diff})["diff"]
    for kind, letter in (("member", "M"), ("topic", "T"), ("pattern", "P"), ("text", "X")):
        found = re.sub(rf"{kind}-[0-9a-f]{{10}}", letter, found)
    assert found == shape


def test_attributes_of_metrics_keep_numbers_and_hash_words() -> None:
    client = one("requests", {"client_id": "shop"})["client_id"]
    found = one("telemetry", {"attributes": [("client_id", "shop"), ("node_id", "3"), ("zone", "acme")], "resource": None})
    assert dict(found["attributes"])["client_id"] == client
    assert dict(found["attributes"])["node_id"] == "3"
    assert dict(found["attributes"])["zone"].startswith("value-")
    assert found["resource"] is None


def test_a_column_without_a_class_is_emptied() -> None:
    schema = pa.schema([*REQUESTS, pa.field("brand_new", pa.string())])
    rows = pa.Table.from_pylist([{"client_id": "shop", "brand_new": "secret"}], schema=schema)
    assert REDACTOR.table("requests", rows)["brand_new"].to_pylist() == [None]


def test_schemas_do_not_change() -> None:
    for table, schema in (("violations", VIOLATIONS), ("group_events", GROUP_EVENTS), ("telemetry", TELEMETRY)):
        assert REDACTOR.table(table, schema.empty_table()).schema == schema
        assert REDACTOR.batch(table, pa.RecordBatch.from_pylist([{}], schema=schema)).schema == schema


def names_in(tables: dict[str, pa.Table]) -> set[str]:
    """Whatever names somebody in the tables, as a person would look for it."""
    import re

    names: set[str] = set()
    for table, rows in tables.items():
        for name in rows.column_names:
            kind = class_of(table, name)
            if kind in ("plain", "sentence", "wire_text", "difference", "attributes", "protocol", "metric"):
                continue
            for value in rows[name].to_pylist():
                for each in value if isinstance(value, list) else [value]:
                    found = re.fullmatch(r"(.+):(\d+)-(.+):(\d+)-\d+", each or "")
                    names |= {found.group(1), found.group(3)} if found else {each.rpartition(":")[0] or each} if each else set()
    return {name for name in names if len(name) > 3 and not name.startswith("__") and name != "User"}


@pytest.mark.parametrize("capture", ["seed", "sasl", "foreign", "hostile-requests"])
def test_no_name_of_a_real_capture_is_left(capture: str) -> None:
    source = str(DATA / f"{capture}.pcap.gz")
    tables = run([source])
    names = names_in(tables)
    assert len(names) > 6
    redactor = Redactor(Redaction(KEY, files=(source,)))
    redacted = redactor.tables(tables)
    text = json.dumps({name: rows.to_pylist() for name, rows in redacted.items()}, default=str, ensure_ascii=False)
    assert sorted(name for name in names if name in text) == []
    for name, rows in tables.items():
        assert redacted[name].num_rows == rows.num_rows
    keys = set(redacted["clients"]["client_key"].to_pylist())
    assert len(keys) == tables["clients"].num_rows
    assert keys.isdisjoint(tables["clients"]["client_key"].to_pylist())
    assert keys >= set(redacted["api_usage"]["client_key"].to_pylist())


def test_a_manifest_says_by_which_key() -> None:
    manifest = {"inputs": ["/data/acme/"], "captures": [{"capture": "/data/acme/a.pcap", "series": "acme", "sha256": "f0"}], "ports": [1]}
    found = REDACTOR.manifest(manifest)
    assert "acme" not in json.dumps(found)
    assert found["redacted"] == REDACTOR.key_id
    assert found["ports"] == [1]


def test_keys_come_from_files_and_must_be_long(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY + b"\n")
    assert read_key(str(tmp_path / "key")) == KEY
    (tmp_path / "least").write_bytes(b"0123456789abcdef\n")
    assert read_key(str(tmp_path / "least")) == b"0123456789abcdef"
    (tmp_path / "short").write_bytes(b"short")
    with pytest.raises(InputError, match="5 bytes; 16 are the least"):
        read_key(str(tmp_path / "short"))
    with pytest.raises(InputError, match="No such file"):
        read_key(str(tmp_path / "none"))


def test_inspect_redacts_what_it_prints(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    source = str(DATA / "sasl.pcap.gz")
    result = CliRunner().invoke(
        commands, ["inspect", source, "--json", "--client-id", "payments-service", "--redact", "--redact-key", str(tmp_path / "key")]
    )
    assert result.exit_code == 0
    assert result.stdout.count("\n") > 10
    assert "payments" not in result.stdout
    assert "127.0.0.1" not in result.stdout
    alone = CliRunner().invoke(commands, ["inspect", source, "--redact"])
    assert alone.exit_code == 2
    assert "--redact needs a key" in alone.stderr
