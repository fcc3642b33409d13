"""Client keys: what is folded, which ids are a library's own, and what makes two clients one."""

from __future__ import annotations

import hashlib

import pytest

from kwire.tables.client_keys import client_key, fold_client_id, is_default_client_id


@pytest.mark.parametrize(
    ("client_id", "folded"),
    [
        ("payments-service", "payments-service"),
        ("gateway-17", "gateway-#"),
        ("app-2026-11-21-0003", "app-#-#-#-#"),
        ("worker-4f9c2a1e-77d3-4b52-9c1e-0a1b2c3d4e5f", "worker-#"),
        ("pod-7d9f8b6c5d-x", "pod-#-x"),
        ("facade", "facade"),  # hexadecimal letters alone are a word
        ("run-aZ3kQ9xW2vB7nM4p", "run-#"),
        ("billing2", "billing#"),
    ],
)
def test_what_changes_from_run_to_run_is_folded(client_id: str, folded: str) -> None:
    assert fold_client_id(client_id) == folded


@pytest.mark.parametrize(
    "client_id",
    [None, "", "rdkafka", "sarama", "kgo", "producer-1", "consumer-12", "kafka-python-2.0.2", "kafka-python-producer-1", "aiokafka-0.14.0",
     "console-consumer", "consumer-console-consumer-81341-1", "pykafka", "kafkajs", "app@host-1 (github.com/segmentio/kafka-go)"],
)  # fmt: skip
def test_ids_that_libraries_make_up_are_defaults(client_id: str | None) -> None:
    assert is_default_client_id(client_id)


@pytest.mark.parametrize("client_id", ["payments", "consumer-orders-1", "my-producer-1", "rdkafka-billing"])
def test_ids_that_programs_chose_are_not(client_id: str) -> None:
    assert not is_default_client_id(client_id)


def test_one_program_on_two_machines_is_one_client_unless_its_id_says_nothing() -> None:
    named = {client_key("kgo", "v1.22.2", "orders-1", None, address) for address in ("10.0.0.1", "10.0.0.2")}
    default = {client_key("kgo", "v1.22.2", "kgo", None, address) for address in ("10.0.0.1", "10.0.0.2")}
    assert len(named) == 1
    assert len(default) == 2


def test_every_part_of_an_identity_counts_and_none_runs_into_the_next() -> None:
    identities = [
        ("a", "b", "c-x", None), ("ab", "", "c-x", None), ("a", "b", "c-y", None), ("a", "b", "c-x", "User:u"), (None, "b", "c-x", None),
        ("a", None, "c-x", None), ("", "b", "c-x", None),
    ]  # fmt: skip
    keys = {client_key(*identity, "10.0.0.1") for identity in identities}
    assert len(keys) == len(identities)
    assert all(len(key) == 16 and int(key, 16) >= 0 for key in keys)


def test_the_key_is_stable() -> None:
    """It joins the tables of one analysis with those of the next, so it may never change: blake2b-8 of the parts with their lengths."""
    plain = b"17:apache-kafka-java" + b"5:4.3.1" + b"8:orders-#" + b"-" + b"-"
    assert client_key("apache-kafka-java", "4.3.1", "orders-7", None, "10.0.0.1") == hashlib.blake2b(plain, digest_size=8).hexdigest()


@pytest.mark.parametrize("letter", ["@", "a", "0", "-", "a-", "A1", "aB1-", "consumer-", " (", "#."])
def test_hostile_ids_of_the_greatest_length_are_folded_at_once(letter: str) -> None:
    """32,767 bytes is the longest a header can carry; a pattern that goes back over it for each letter would take minutes."""
    client_id = (letter * 32767)[:32767]
    assert fold_client_id(client_id)
    assert not is_default_client_id(client_id)
