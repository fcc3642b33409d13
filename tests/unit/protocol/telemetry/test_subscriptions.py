"""Subscriptions: prefixes, matching, configs that Kafka refuses, what several make together, ids that Kafka itself worked out."""

from __future__ import annotations

import pytest

from kwire.codec.uuids import Uuid
from kwire.errors import InputError
from kwire.protocol.telemetry import MetricSelector, Subscription, SubscriptionTable
from kwire.protocol.telemetry.subscriptions import (
    CLIENT_METRICS,
    ENTITY_TYPE,
    ClientIdentity,
    Wanted,
    draft_interval_ms,
    subscription_id_of,
)

ID = Uuid.parse("SqxhZUVdTqSO1rz6EUOYhQ")
NAMES = [
    "org.apache.kafka.producer.connection.creation.rate", "org.apache.kafka.producer.connection.creation.total",
    "org.apache.kafka.producer.record.queue.time.avg", "org.apache.kafka.consumer.poll.idle.ratio.avg",
    "org.apache.kafka.consumer.fetch.manager.fetch.latency.avg", "client.producer.partition.queue.bytes", "client.producer.partitions",
    "client.producer.partition", "librdkafka.client.memory.rss", "*", "", "Org.apache.kafka.producer.x",
]  # fmt: skip


@pytest.mark.parametrize(
    ("requested", "wanted"),
    [
        ([], []),
        (["*"], NAMES),
        ([""], NAMES),
        (["*", "librdkafka."], [NAMES[8], NAMES[9]]),  # Java: `*` among others is a prefix
        (["org.apache.kafka.producer."], NAMES[:3]),
        (["org.apache.kafka.producer.connection.creation.rate", "client."], [NAMES[0], *NAMES[5:8]]),
        (["nothing"], []),
    ],
)
def test_K714_10_which_metrics_are_requested(requested: list[str], wanted: list[str]) -> None:
    assert list(filter(MetricSelector(requested), NAMES)) == wanted


@pytest.mark.parametrize(
    ("prefix", "wanted"),
    [
        ("client.producer.partition.", NAMES[5:6]),
        ("client.producer.partition", NAMES[5:8]),
        ("client.*.partition", []),
        ("client.p", NAMES[5:8]),
    ],
)
def test_K714_65_a_prefix_is_text(prefix: str, wanted: list[str]) -> None:
    assert list(filter(MetricSelector([prefix]), NAMES)) == wanted


def test_K714_59_the_resource_type_has_kafkas_code() -> None:
    assert (CLIENT_METRICS, ENTITY_TYPE) == (16, "client-metrics")


JAVA = ClientIdentity("SqxhZUVdTqSO1rz6EUOYhQ", "app-7", "apache-kafka-java", "3.9.2", "10.0.0.7", "40112")


@pytest.mark.parametrize(
    ("match", "client", "matches"),
    [
        ("", JAVA, True),
        ("", ClientIdentity(), True),
        ("client_id=app-7", JAVA, True),
        ("client_id=app", JAVA, False),  # the whole text
        ("client_id=app.*", JAVA, True),
        ("client_software_name=apache-kafka-java, client_software_version=3\\.9\\..*", JAVA, True),
        ("client_software_name=apache-kafka-java,client_software_version=4.*", JAVA, False),
        ("client_source_address=10\\.0\\.0\\.\\d+", JAVA, True),
        ("client_source_port=40112", JAVA, True),
        ("client_instance_id=SqxhZUVdTqSO1rz6EUOYhQ", JAVA, True),
        ("client_software_name=.*", ClientIdentity(client_id="x"), False),  # not known
        ("client_id=APP-7", JAVA, False),
    ],
)
def test_K714_62_what_matches_a_client(match: str, client: ClientIdentity, matches: bool) -> None:
    assert Subscription.from_config("s", {"match": match}).matches(client) is matches


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("client_id", "'client_id' is not KEY=REGEX"),
        ("client_id=a=b", "'client_id=a=b' is not KEY=REGEX"),
        ("client_host=a", "'client_host' cannot be matched"),
        ("client_id=[", r"'\[' is not a regular expression"),
    ],
)
def test_K714_63_bad_match_entries_are_refused(match: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^Subscription 's': .*{said}"):
        Subscription.from_config("s", {"match": match})


@pytest.mark.parametrize(
    ("name", "properties", "said"),
    [
        ("s", {"interval.ms": "99"}, "not between 100 and 3600000"),
        ("s", {"interval.ms": "3600001"}, "not between 100 and 3600000"),
        ("s", {"interval.ms": "soon"}, "not a number"),
        ("s", {"interval": "100"}, "there is no key 'interval'"),
        ("", {"metrics": "*"}, "needs a name"),
        ("", {}, "needs a name"),
    ],
)
def test_K714_64_configs_that_kafka_refuses(name: str, properties: dict[str, str], said: str) -> None:
    table = SubscriptionTable()
    with pytest.raises(InputError, match=said):
        table.set(name, properties)
    assert (len(table), table.version) == (0, 0)


@pytest.mark.parametrize("interval", ["100", "3600000"])
def test_K714_64_the_ends_of_the_range_are_allowed_and_empty_properties_delete(interval: str) -> None:
    table = SubscriptionTable()
    table.set("s", {"interval.ms": interval})
    assert [each.interval_ms for each in table] == [int(interval)]
    table.set("s", {})
    assert (list(table), table.version) == ([], 2)
    table.set("s", {})
    assert table.version == 2


@pytest.mark.parametrize(
    ("configs", "metrics", "interval"),
    [
        ([], (), 300_000),
        ([{"match": "client_id=other", "metrics": "*", "interval.ms": "100"}], (), 300_000),
        ([{"metrics": "b.,a."}], ("a.", "b."), 300_000),
        ([{"metrics": "a.", "interval.ms": "5000"}, {"metrics": "b.", "interval.ms": "1000"}], ("a.", "b."), 1000),
        ([{"metrics": "a."}, {"metrics": "*", "interval.ms": "3600000"}], ("*",), 300_000),
        ([{"interval.ms": "3600000"}], (), 3_600_000),
    ],
)
def test_K714_48_what_several_subscriptions_make_together(configs: list[dict[str, str]], metrics: tuple[str, ...], interval: int) -> None:
    table = SubscriptionTable()
    for number, properties in enumerate(configs):
        table.set(f"s{number}", properties)
    assert table.wanted_of(JAVA) == Wanted(metrics, interval)


@pytest.mark.parametrize(
    ("wanted", "made"),
    # Java: (int) Crc32C.compute("[a, b]100") ^ Uuid.hashCode(), with kafka-clients 4.4.0
    [(Wanted(("*",), 300_000), -1406073699), (Wanted(("a", "b"), 100), 704254155), (Wanted((), 300_000), 1151553632)],
)
def test_K714_46_subscription_ids_are_kafkas(wanted: Wanted, made: int) -> None:
    assert subscription_id_of(wanted, ID) == made


def test_K714_46_the_same_set_has_the_same_id_and_any_change_another() -> None:
    one = subscription_id_of(Wanted(("b", "a"), 100), ID)
    assert one == subscription_id_of(Wanted(("a", "b"), 100), ID)
    others = [
        subscription_id_of(Wanted(("a",), 100), ID), subscription_id_of(Wanted(("a", "b"), 101), ID),
        subscription_id_of(Wanted(("a", "b"), 100), Uuid(bytes(range(16)))),
    ]  # fmt: skip
    assert len({one, *others}) == 4


@pytest.mark.parametrize(
    ("instance", "name", "interval"),
    [
        ("rdkafka-B64CD139", "client.producer.partition.queue.bytes", 1000),
        ("rdkafka-B64CD139", "client.producer.queue.bytes", 60_000),
        ("java-1", "client.producer.partition.queue.bytes", 60_000),
        ("java-1", "librdkafka.x", None),
    ],
)
@pytest.mark.requirement("K714-60", "K714-61")
def test_the_draft_matches_the_beginning_of_the_instance_id_and_takes_the_lowest_interval(
    instance: str, name: str, interval: int | None
) -> None:
    configs = {"rdkafka": {"client.producer.partition.": 1000}, "": {"client.": 60_000}}
    assert draft_interval_ms(instance, name, configs) == interval
